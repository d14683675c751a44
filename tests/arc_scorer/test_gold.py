"""The gold arcs of an Example."""

import numpy as np
import pytest
import spacy
from spacy.symbols import NOUN
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mindroot import errors
from spacy_mindroot.arc_scorer.gold import lengths_to_score, read_gold
from spacy_mindroot.doc.targets import Targets, to_table, write_targets
from spacy_mindroot.trees import MISSING


def gold(words, reference, numbers=(), **kwargs):
    example = Example(Doc(reference.vocab, words=words), reference)
    labels = {reference.vocab.strings.add(name): number for number, name in enumerate(numbers)}
    return read_gold(example, labels, {}, **kwargs)


def reference(words, heads, deps, starts):
    return Doc(spacy.blank("en").vocab, words=words, heads=heads, deps=deps, sent_starts=starts)


def test_heads_count_from_the_start_of_their_sentence():
    doc = reference(list("abcde"), [1, 1, 4, 4, 4], ["x", "ROOT", "y", "x", "ROOT"], None)
    arcs = gold(list("abcde"), doc, ["x", "y"])
    assert arcs.lengths == [2, 3]
    assert arcs.heads.tolist() == [2, 0, 3, 3, 0]
    assert arcs.labels.tolist() == [0, MISSING, 1, 0, MISSING]


def test_missing_heads_are_not_roots():
    """Partial annotation: a token without a label has no head, though spaCy says that it is its own."""
    doc = reference(list("abcd"), [1, 1, 2, 1], ["x", "ROOT", "", "x"], [True, False, False, False])
    assert gold(list("abcd"), doc, ["x"]).heads.tolist() == [2, 0, MISSING, 2]


def test_heads_in_other_sentences_and_unknown_labels_are_left_out():
    doc = reference(list("abcd"), [2, 3, 2, 3], ["x", "x", "ROOT", "ROOT"], None)
    arcs = gold(list("abcd"), doc, ["y"])
    starts = np.repeat(np.cumsum(arcs.lengths) - arcs.lengths, arcs.lengths)
    for i, head in enumerate(arcs.heads):
        assert head == MISSING or head == 0 or starts[i] + head - 1 == doc[i].head.i
    assert MISSING in arcs.heads and (arcs.labels == MISSING).all()


def test_sentences_are_those_of_the_reference_whatever_the_predicted_doc_has():
    """So no component needs to set boundaries in training (`annotating_components`)."""
    doc = reference(list("abcde"), [1, 1, 4, 4, 4], ["x", "ROOT", "y", "x", "ROOT"], None)
    predicted = Doc(doc.vocab, words=list("abcde"), sent_starts=[True, True, False, True, False])
    arcs = read_gold(Example(predicted, doc), {}, {})
    assert arcs.lengths == [2, 3] and arcs.heads.tolist() == [2, 0, 3, 3, 0]


def test_tokens_that_are_split_or_merged_are_left_out():
    doc = reference(
        ["I", "can", "not", "go"], [3, 3, 3, 3], ["nsubj", "aux", "advmod", "ROOT"], [True, False, False, False]
    )
    arcs = gold(["I", "cannot", "g", "o"], doc, ["nsubj", "aux", "advmod"])
    assert arcs.lengths == [4]
    assert arcs.heads.tolist() == [MISSING] * 4
    arcs = gold(["I", "cannot", "go"], doc, ["nsubj", "aux", "advmod"])
    assert arcs.heads.tolist() == [3, MISSING, 0]


def test_sentences_of_other_tokens_are_those_of_the_reference():
    doc = reference(["Go", "home", ".", "No", "."], [0, 0, 0, 3, 3], ["ROOT", "x", "x", "ROOT", "x"], None)
    arcs = gold(["Go", "home.", "No", "."], doc, ["x"])
    assert arcs.lengths == [2, 2]
    assert arcs.heads.tolist() == [0, MISSING, 0, 1]


@pytest.mark.parametrize(("words", "lengths"), [(["A", "b", "C", "d"], [2, 2]), (["Ab", "C", "d"], [1, 2])])
def test_a_sentence_that_begins_with_a_token_that_is_not_predicted(words, lengths):
    doc = reference(["A", "b", " ", "C", "d"], [0, 0, 3, 3, 3], ["ROOT", "x", "x", "ROOT", "x"], None)
    assert [len(s) for s in doc.sents] == [2, 3]
    assert gold(words, doc, ["x"]).lengths == lengths


def test_boundaries_that_roots_without_labels_have_lost():
    """spaCy drops them, and still says that there are some. The Doc then counts as one sentence."""
    doc = reference(
        list("abcdef"), [1, 1, 1, 4, 4, 4], ["nsubj", "", "obj", "nsubj", "", "obj"], [i in (0, 3) for i in range(6)]
    )
    arcs = gold(list("abcdef"), doc, ["nsubj", "obj"])
    assert arcs.lengths == [6] and arcs.heads.tolist() == [2, MISSING, 2, 5, MISSING, 5]


def test_a_reference_without_sentences_and_heads():
    """It may have other annotation, of which parts of speech are learnt."""
    doc = Doc(spacy.blank("en").vocab, words=list("abcd"), pos=["NOUN", "", "X", "NOUN"], ents=["B-X", "O", "O", "O"])
    arcs = read_gold(Example(Doc(doc.vocab, words=list("abcd")), doc), {}, {NOUN: 0}, max_length=2)
    assert arcs.lengths == [1] * 4 and not arcs.too_long
    assert arcs.heads.tolist() == arcs.labels.tolist() == [MISSING] * 4
    assert arcs.tags.tolist() == [0, MISSING, MISSING, 0]


def test_arcs_of_sentences_that_are_too_long_are_left_out():
    words = list("abcdefgh")
    doc = reference(words, [0, 0, 2, 2, 3, 4, 6, 6], ["ROOT", "x", "ROOT", "x", "x", "x", "ROOT", "x"], None)
    arcs = gold(words, doc, ["x"], max_length=3)
    assert arcs.lengths == [2, 3, 1, 2] and arcs.too_long == [4]
    assert arcs.heads.tolist() == [0, 1, *[MISSING] * 4, 0, 1]
    assert arcs.labels.tolist() == [MISSING, 0, *[MISSING] * 5, 0]
    arcs = gold(words, doc, ["x"], max_length=2)  # as long as the first and the last sentence
    assert arcs.lengths == [2, 2, 2, 2] and arcs.too_long == [4]
    assert arcs.heads.tolist() == [0, 1, *[MISSING] * 4, 0, 1]
    for limit in (0, 4):
        arcs = gold(words, doc, ["x"], max_length=limit)
        assert arcs.lengths == [2, 4, 2] and arcs.too_long == [] and MISSING not in arcs.heads


@pytest.mark.parametrize("length", [4, 5, 6, 7])
def test_pieces_of_a_sentence(length):
    doc = reference(["a"] * length, [0] * length, ["ROOT"] + ["x"] * (length - 1), None)
    arcs = gold(["a"] * length, doc, ["x"], max_length=3)
    assert sum(arcs.lengths) == length and max(arcs.lengths) == 3 and min(arcs.lengths) > 0


def test_the_longest_sentence_of_a_doc_is_named():
    doc = reference(list("abcdef"), [0, 0, 2, 2, 2, 2], ["ROOT", "x", "ROOT", "x", "x", "x"], None)
    assert lengths_to_score(doc, whole_doc=False, max_length=4) == [2, 4]
    with pytest.raises(
        errors.SentenceTooLongError, match="^Sentence 2 of Doc 'a b c d e f' has 4 tokens, but max_length is 3"
    ):
        lengths_to_score(doc, whole_doc=False, max_length=3)


def with_targets(doc, probabilities):
    """Set the distributions of teachers: columns are ROOT and the tokens of the Doc."""
    n = len(doc)
    places = np.arange(n, dtype=np.int32)
    heads = to_table(probabilities, np.concatenate([places[:, np.newaxis], np.tile(places, (n, 1))], axis=1))
    certain = np.ones((n, 1))
    labels = to_table(certain, np.array([doc.vocab.strings.add("x")], dtype=np.uint64))
    write_targets(doc, Targets(heads, labels, to_table(certain, np.array([NOUN], dtype=np.uint8))))
    return doc


def test_heads_that_teachers_saw_in_another_sentence_are_left_out():
    """The last token of the sentence before is not ROOT."""
    doc = reference(list("abcd"), [0, 0, 2, 2], ["ROOT", "x", "ROOT", "x"], [True, False, True, False])
    p = np.eye(4, 5)
    p[2] = [0.25, 0, 0.5, 0.25, 0]  # of "c": ROOT, "b", and itself, which is ROOT, too
    p[2, 3] = 0
    p[3] = [0, 0, 0.75, 0.25, 0]  # of "d": "b" and "c"
    arcs = gold(list("abcd"), with_targets(doc, p), ["x"])
    assert arcs.lengths == [2, 2]
    np.testing.assert_allclose(arcs.soft.heads[1], [[1, 0, 0], [0, 1, 0]])


def test_a_long_sentence_keeps_the_teachers_of_the_others():
    heads, deps = [0, 0, 2, 2, 2, 2, 2], ["ROOT", "x", "ROOT", "x", "x", "x", "x"]
    doc = reference(list("abcdefg"), heads, deps, [True, False, True, *[False] * 4])
    p = np.zeros((7, 8))
    p[0, 0], p[1, :2], p[2, 0], p[3:, 3] = 1, [0.25, 0.75], 1, 1
    arcs = gold(list("abcdefg"), with_targets(doc, p), ["x"], max_length=3)
    assert (arcs.lengths, arcs.too_long) == ([2, 3, 2], [5])
    first, *rest = arcs.soft.heads
    np.testing.assert_allclose(first, [[1, 0, 0], [0.25, 0.75, 0]])
    assert rest == [None, None]
    assert arcs.soft.labels[:, 0].tolist() == [1, 1, 0, 0, 0, 0, 0]
    assert arcs.heads.tolist() == [0, 1, *[MISSING] * 5]
    assert len(gold(list("abcdefg"), doc, ["x"], max_length=5).soft.heads) == 2
