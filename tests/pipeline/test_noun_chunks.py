"""Noun chunks of parses with the labels of Universal Dependencies."""

import pytest
import spacy
from spacy.tokens import Doc

WORDS = [
    "My",
    "old",
    "friend",
    "Anna",
    "Berg",
    "saw",
    "the",
    "two",
    "red",
    "boats",
    "of",
    "a",
    "man",
    "and",
    "them",
    ".",
]
HEADS = [2, 2, 5, 2, 3, 5, 9, 9, 9, 5, 12, 12, 9, 14, 9, 5]
DEPS = [
    "nmod:poss",
    "amod",
    "nsubj",
    "flat",
    "flat",
    "ROOT",
    "det",
    "nummod",
    "amod",
    "obj",
    "case",
    "det",
    "nmod",
    "cc",
    "conj",
    "punct",
]
POS = [
    "PRON",
    "ADJ",
    "NOUN",
    "PROPN",
    "PROPN",
    "VERB",
    "DET",
    "NUM",
    "ADJ",
    "NOUN",
    "ADP",
    "DET",
    "NOUN",
    "CCONJ",
    "PRON",
    "PUNCT",
]


def chunks(nlp):
    doc = Doc(nlp.vocab, words=WORDS, heads=HEADS, deps=DEPS, pos=POS)
    return [chunk.text for chunk in doc.noun_chunks]


def test_objects_are_lost_under_spacys_own_rules_and_found_under_these():
    nlp = spacy.blank("en")
    assert "the two red boats" not in chunks(nlp)
    nlp = spacy.blank(
        "en", config={"nlp": {"after_pipeline_creation": {"@callbacks": "spacy-mindroot.noun_chunks.v1"}}}
    )
    assert chunks(nlp) == ["My old friend Anna Berg", "the two red boats", "a man", "them"]


def test_they_come_back_with_the_pipeline(tmp_path):
    config = {"nlp": {"after_pipeline_creation": {"@callbacks": "spacy-mindroot.noun_chunks.v1"}}}
    spacy.blank("en", config=config).to_disk(tmp_path)
    assert "the two red boats" in chunks(spacy.load(tmp_path))


def test_an_unparsed_doc_is_an_error():
    nlp = spacy.blank(
        "en", config={"nlp": {"after_pipeline_creation": {"@callbacks": "spacy-mindroot.noun_chunks.v1"}}}
    )
    with pytest.raises(ValueError, match="E029"):
        list(Doc(nlp.vocab, words=["a", "b"]).noun_chunks)


def test_part_of_a_doc():
    nlp = spacy.blank("xx")
    from spacy_mindroot.pipeline.noun_chunks import noun_chunks

    doc = Doc(nlp.vocab, words=WORDS, heads=HEADS, deps=DEPS, pos=POS)
    assert [(start, end) for start, end, _ in noun_chunks(doc[5:10])] == [(6, 10)]
