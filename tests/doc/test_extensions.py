"""Attributes that describe one tree: they are there while it stands, and None once it has changed."""

import math

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from generators import random_scores
from spacy_mindroot.doc.extensions import (
    DOC_EXTENSIONS,
    SPAN_ATTRIBUTES,
    TOKEN_ATTRIBUTES,
    WRITTEN_DEPS,
    WRITTEN_HEADS,
    describe,
)
from spacy_mindroot.inference import Calibration
from spacy_mindroot.pipeline.arc_labels import ArcLabels


class ScoredLabels(ArcLabels):
    """Labels with scores, the same for all heads of a token."""

    def __init__(self, n, rng):
        self.shape, self.dtype = (n, n + 1), np.dtype("uint8")
        self.scores = rng.normal(size=(n, 3))

    def scores_of_tree(self, heads):
        scores = np.where(heads[:, None] == 0, [0, -np.inf, -np.inf], self.scores)
        scores[heads > 0, 0] = -np.inf
        return scores

    def of_tree(self, heads):
        return self.scores_of_tree(heads).argmax(axis=1).astype(self.dtype)

    def of_all_arcs(self):
        return np.stack([self.of_tree(np.full(self.shape[0], head)) for head in range(self.shape[1])], axis=1)


@pytest.fixture
def doc(rng):
    nlp = spacy.blank("en")
    settings = {"kbest": 2, "confidence": True, "coverage": 0.9, "coverage_of": "sentence"}
    mind_root = nlp.add_pipe("mind_root", config=settings)
    mind_root.calibration = Calibration(tree_set_thresholds={"90": 0.8})
    doc = Doc(nlp.vocab, words=["in", "New", "York", "it", "rains"], spaces=[True, True, True, True, False])
    # One sentence of four tokens, "York" depends on "New"; and one of a single token, which has no other tree.
    scores = random_scores("normal", 4, rng)
    scores[2] = [0, 0, 9, 0, 0]
    doc._.arc_scores = [scores, np.zeros((1, 2))]
    doc._.arc_labels = [ScoredLabels(4, rng), ScoredLabels(1, rng)]
    doc._.arc_label_names = ["ROOT", "nsubj", "obl"]
    return mind_root(doc)


def values(doc):
    return (
        [[token._.get(name) for name in TOKEN_ATTRIBUTES] for token in doc],
        [[span._.get(name) for name in SPAN_ATTRIBUTES] for span in doc.sents],
    )


def test_all_are_registered():
    assert all(Doc.has_extension(name) for name in DOC_EXTENSIONS)


def test_mind_root_writes_all_that_is_not_computed(doc):
    kept = {name for _, name, start, _ in doc.user_data if start is not None}
    computed = {"head_dep_prob", "expected_uas", "expected_las"}
    assert kept - {WRITTEN_HEADS, WRITTEN_DEPS} == {*TOKEN_ATTRIBUTES, *SPAN_ATTRIBUTES} - computed


def test_docs_without_a_tree_have_no_values():
    doc = Doc(spacy.blank("xx").vocab, words=["a", "b"])  # nor sentences
    assert [token._.get(name) for token in doc for name in TOKEN_ATTRIBUTES] == [None] * 2 * len(TOKEN_ATTRIBUTES)
    assert [doc[:1]._.get(name) for name in SPAN_ATTRIBUTES] == [None] * len(SPAN_ATTRIBUTES)
    assert [doc[:0]._.get(name) for name in SPAN_ATTRIBUTES] == [None] * len(SPAN_ATTRIBUTES)


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
    assert tokens[:3] == [[None] * len(TOKEN_ATTRIBUTES)] * 3 and spans[0] == [None] * len(SPAN_ATTRIBUTES)
    assert None not in tokens[3] and None not in spans[1]  # the other sentence is as it was


def test_split_tokens_have_no_values_of_the_old_tree(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[2], ["Yo", "rk"], heads=[(doc[2], 1), doc[1]])
    tokens, spans = values(doc)
    assert tokens[:5] == [[None] * len(TOKEN_ATTRIBUTES)] * 5 and spans[0] == [None] * len(SPAN_ATTRIBUTES)


def test_another_label_has_no_probability(doc):
    before = doc[2]._.dep_prob
    doc[2].dep_ = "dislocated"
    assert before is not None and doc[2]._.dep_prob is None and doc[2]._.head_dep_prob is None
    assert doc[2]._.head_prob is not None
    sentence = next(iter(doc.sents))
    assert sentence._.expected_uas is not None and sentence._.expected_las is None


def test_sums_and_products(doc):
    for token in doc:
        assert token._.head_dep_prob == pytest.approx(token._.head_prob * token._.dep_prob)
        assert token._.head_set[0].doc is doc and token.head in token._.head_set
    for sentence in doc.sents:
        assert sentence._.expected_uas == pytest.approx(np.mean([t._.head_prob for t in sentence]))
        assert sentence._.expected_las == pytest.approx(np.mean([t._.head_dep_prob for t in sentence]))
        assert sentence.root._.dep_prob == 1 and sentence.root._.head_dep_prob == sentence.root._.head_prob
    assert doc[1:3]._.expected_uas is None  # not a sentence


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
    computed = {"head_dep_prob", "expected_uas", "expected_las"}  # from the others
    written = doc.to_json(underscore=sorted({*TOKEN_ATTRIBUTES, *SPAN_ATTRIBUTES} - computed))
    restored = Doc(doc.vocab).from_json(written)
    for token, other in zip(doc, restored, strict=True):
        for name in set(TOKEN_ATTRIBUTES) - {"head_set"}:
            assert token._.get(name) == other._.get(name)
        assert [head.i for head in token._.head_set] == [head.i for head in other._.head_set]
    for span, other in zip(doc.sents, restored.sents, strict=True):
        for mine, theirs in zip(span._.tree_set[1:], other._.tree_set[1:], strict=True):
            assert span._.tree_set.size == other._.tree_set.size and list(map(list, mine)) == list(map(list, theirs))
        assert span._.tree_margin == other._.tree_margin and span._.tree_logprob == other._.tree_logprob
        for (tree, weight), (same, also) in zip(span._.trees, other._.trees, strict=True):
            assert tree.tolist() == same.tolist() and weight == also


def test_values_from_json_go_when_the_tree_changes(doc):
    restored = Doc(doc.vocab).from_json(doc.to_json(underscore=["head_prob", "dep_prob", "tree_logprob"]))
    restored[2].dep_ = "dislocated"
    assert restored[2]._.head_prob is not None and restored[2]._.dep_prob is None
    restored[2].head = next(token for token in restored[:4] if token not in (restored[2], restored[2].head))
    assert restored[2]._.head_prob is None and next(iter(restored.sents))._.tree_logprob is None


def test_reading_a_value_does_not_search_the_doc(doc):
    """Of all that the package keeps on a Doc, the values of one sentence are looked up."""

    class Lookups(dict):
        def __iter__(self):
            raise AssertionError("all keys of the Doc are read")

        keys = items = values = __iter__

    for own in (doc, Doc(doc.vocab).from_json(doc.to_json(underscore=["head_prob", "tree_logprob"]))):
        own.user_data = Lookups(own.user_data)
        assert None not in [*(token._.head_prob for token in own), *(span._.tree_logprob for span in own.sents)]


def test_part_of_a_doc_keeps_its_values(doc):
    part = next(iter(doc.sents)).as_doc(copy_user_data=True)
    for row, other in zip(values(part)[0], values(doc)[0], strict=False):
        assert row[:-1] == other[:-1] and [t.i for t in row[-1]] == [t.i for t in other[-1]]


def test_values_can_be_set(doc):
    doc[0]._.head_prob = 0.25
    assert doc[0]._.head_prob == 0.25


def test_long_docs_are_cut_short_in_messages():
    doc = Doc(spacy.blank("xx").vocab, words=list("abcdefgh"))
    assert describe(doc, 1) == "sentence 2 of Doc 'a b c d e f ...'"
