"""The `mind_root` of a pipeline, and scores of annotated sentences as it reads them."""

import numpy as np
import pytest
import spacy

from scorer_helpers import gold_docs, make_examples
from spacy_mindroot.doc.reading import AnnotatedSentence, blank_doc
from spacy_mindroot.errors import CorpusError, SentenceMismatchError
from spacy_mindroot.pipeline.scoring import find_mind_root, mind_roots, scored

ONE, TWO = (AnnotatedSentence(["a"] * n, [True] * n, np.arange(n), ["x"] * n) for n in (1, 2))


@spacy.Language.component("scores_for_test_scoring")
def scores_for_test_scoring(doc):
    doc._.arc_scores = [np.zeros((len(sent), len(sent) + 1)) for sent in doc.sents]
    return doc


@spacy.Language.component("joins_tokens_for_test_scoring")
def joins_tokens_for_test_scoring(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    return doc


@spacy.Language.component("splits_for_test_scoring")
def splits_for_test_scoring(doc):
    for token in doc:
        token.is_sent_start = True
    return doc


def pipeline(*names):
    nlp = spacy.blank("en")
    for name in names:
        nlp.add_pipe(name)
    return nlp


def test_the_component_is_found():
    nlp = pipeline("sentencizer")
    with pytest.raises(CorpusError, match=r"does not have a mind_root component\. It has: sentencizer"):
        find_mind_root(nlp)
    nlp.add_pipe("mind_root", name="second")
    nlp.add_pipe("mind_root", name="first", first=True)
    assert [*mind_roots(nlp)] == ["first", "second"]
    assert find_mind_root(nlp) == ("first", nlp.get_pipe("first"))
    assert find_mind_root(nlp, "second") == ("second", nlp.get_pipe("second"))
    with pytest.raises(CorpusError, match="a mind_root component named 'other'"):
        find_mind_root(nlp, "other")


def test_a_component_that_repairs_heads_has_no_scores():
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.head_scores.v1"}})
    with pytest.raises(CorpusError, match="mind_root of the pipeline repairs the heads of another parser"):
        find_mind_root(nlp)
    with pytest.raises(CorpusError, match="no arc scores"):
        list(scored(nlp, [[ONE]]))


@pytest.mark.parametrize("names", [(), ("mind_root", "splits_for_test_scoring")])
def test_docs_of_several_sentences(names):
    """Up to mind_root and no further."""
    found = list(scored(pipeline("scores_for_test_scoring", *names), [[TWO, ONE], [TWO]]))
    assert [[len(own) for own in sourced.matrices] for _, sourced, _ in found] == [[2, 1], [2]]
    assert [sentences for _, _, sentences in found] == [[TWO, ONE], [TWO]]


@pytest.mark.parametrize("name", ["joins_tokens_for_test_scoring", "splits_for_test_scoring"])
def test_other_sentences_than_the_annotated_ones(name):
    nlp = pipeline(name, "scores_for_test_scoring")
    with pytest.raises(SentenceMismatchError, match="other sentences than the annotated ones of 2"):
        list(scored(nlp, [[TWO]]))


def test_blank_docs():
    doc = blank_doc(spacy.blank("en").vocab, [TWO, ONE])
    assert [token.is_sent_start for token in doc] == [True, False, True] and not doc.has_annotation("DEP")
    assert len(blank_doc(doc.vocab, [])) == 0


def test_what_can_be_done_with_a_parser_of_spacy_is_said(tmp_path):
    """Its Docs have heads, but no scores."""
    nlp = spacy.blank("en")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    nlp.to_disk(tmp_path / "their model")
    nlp = spacy.load(tmp_path / "their model")
    remedy = rf"`spacy mindroot evaluate` .*init-config new\.cfg --from '{tmp_path}/their model/config\.cfg'"
    with pytest.raises(CorpusError, match=r"does not have a mind_root component\. It has: parser\. .*" + remedy):
        find_mind_root(nlp)
    nlp.initialize(lambda: make_examples(nlp, gold_docs(4)))
    for name in (None, "mind_root"):
        if name:
            nlp.add_pipe(name)
        with pytest.raises(CorpusError, match="There are no arc scores. .*" + remedy):
            list(scored(nlp, [[ONE]]))
