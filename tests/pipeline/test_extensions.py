"""Attributes that describe one tree: they are there while it stands, and None once it has changed."""

import math

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from generators import random_scores
from spacy_mindroot.pipeline.extensions import DOC_EXTENSIONS, SPAN_EXTENSIONS, TOKEN_EXTENSIONS, describe


@pytest.fixture
def doc(rng):
    nlp = spacy.blank("en")
    mind_root = nlp.add_pipe("mind_root", config={"kbest": 2, "confidence": True})
    doc = Doc(nlp.vocab, words=["in", "New", "York", "it", "rains"], spaces=[True, True, True, True, False])
    # One sentence of four tokens, "York" depends on "New"; and one of a single token, which has no other tree.
    scores = random_scores("normal", 4, rng)
    scores[2] = [0, 0, 9, 0, 0]
    doc._.arc_scores = [scores, np.zeros((1, 2))]
    return mind_root(doc)


def values(doc):
    return (
        [[token._.get(name) for name in TOKEN_EXTENSIONS] for token in doc],
        [[span._.get(name) for name in SPAN_EXTENSIONS] for span in doc.sents],
    )


def test_all_are_registered():
    assert all(Doc.has_extension(name) for name in DOC_EXTENSIONS)


def test_values_stand_with_the_tree(doc):
    tokens, spans = values(doc)
    assert None not in [value for row in tokens + spans for value in row]
    assert 0 < doc[2]._.head_prob <= 1
    first, second = doc.sents
    assert len(first._.trees) == 2 and [tree.dtype for tree, _ in first._.trees] == [np.int32] * 2
    assert second._.tree_margin == math.inf and second._.trees[0][0].tolist() == [0]


def test_merged_tokens_have_no_values_of_the_old_tree(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
    tokens, spans = values(doc)
    assert tokens[:3] == [[None, None]] * 3 and spans[0] == [None] * 3
    assert tokens[3] != [None, None] and None not in spans[1]  # the other sentence is as it was


def test_split_tokens_have_no_values_of_the_old_tree(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[2], ["Yo", "rk"], heads=[(doc[2], 1), doc[1]])
    tokens, spans = values(doc)
    assert tokens[:5] == [[None, None]] * 5 and spans[0] == [None] * 3


def test_another_head_has_no_probability(doc):
    other = next(token for token in doc[:4] if token != doc[2] and token != doc[2].head)
    doc[2].head = other
    assert doc[2]._.head_prob is None and doc[2]._.head_entropy is None
    sentence = next(iter(doc.sents))
    if len(sentence) == 4:  # spaCy may have split it
        assert sentence._.trees is None and sentence._.tree_logprob is None


def test_other_sentences_have_no_values(doc):
    before = values(doc)[0][0]
    doc[0].is_sent_start  # noqa: B018 - read only
    copied = Doc(doc.vocab, words=[t.text for t in doc], user_data=dict(doc.user_data))
    copied[2].is_sent_start = True
    assert copied[0]._.head_prob is None and before[0] is not None


def test_json_has_them_all_and_gives_them_back(doc):
    names = [*TOKEN_EXTENSIONS, *SPAN_EXTENSIONS]
    written = doc.to_json(underscore=names)
    restored = Doc(doc.vocab).from_json(written)
    for token, other in zip(doc, restored, strict=True):
        assert [token._.get(n) for n in TOKEN_EXTENSIONS] == [other._.get(n) for n in TOKEN_EXTENSIONS]
    for span, other in zip(doc.sents, restored.sents, strict=True):
        assert span._.tree_margin == other._.tree_margin and span._.tree_logprob == other._.tree_logprob
        for (tree, weight), (same, also) in zip(span._.trees, other._.trees, strict=True):
            assert tree.tolist() == same.tolist() and weight == also


def test_part_of_a_doc_keeps_its_values(doc):
    part = next(iter(doc.sents)).as_doc(copy_user_data=True)
    assert values(part)[0] == values(doc)[0][:4]


def test_values_can_be_set(doc):
    doc[0]._.head_prob = 0.25
    assert doc[0]._.head_prob == 0.25


def test_long_docs_are_cut_short_in_messages():
    doc = Doc(spacy.blank("xx").vocab, words=list("abcdefgh"))
    assert describe(doc, 1) == "sentence 2 of Doc 'a b c d e f ...'"
