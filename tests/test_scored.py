"""ScoredSentence, and decode_sentences(): the best trees without and with the constraint."""

import numpy as np
import pytest

from generators import random_scores
from spacy_mindroot import decode, errors
from spacy_mindroot.scored import ScoredSentence, decode_sentences, raise_fault

NAMES = ["root", "root:sub", "", "nsubj", "dep"]


def sentence(scores, **options):
    n = len(scores)
    given = {"words": [f"w{i}" for i in range(1, n + 1)], "best_labels": None, "label_names": []} | options
    return ScoredSentence(scores, **given)


def test_labels_of_a_tree():
    """ROOT's label is on root arcs and nowhere else; `dep` stands for labels that are missing or make no sense."""
    best = np.array([[3, 0, 0], [3, 1, 1], [3, 2, 2], [3, 3, 3]])
    scored = sentence(np.zeros((4, 5)), best_labels=np.hstack([best, best[:, :2]]), label_names=NAMES)
    assert scored.labels(np.array([0, 1, 1, 1])) == ["root", "dep", "dep", "nsubj"]
    assert sentence(np.zeros((2, 3))).labels(np.array([2, 0])) == ["dep", "root"]
    assert sentence(np.zeros((0, 1))).labels(np.array([], dtype=int)) == []


def test_both_trees_of_every_sentence_over_several_batches(rng):
    matrices = [random_scores("root_attractive", int(n), rng) for n in rng.integers(1, 6, 2100)] + [np.zeros((0, 1))]
    found = list(decode_sentences(map(sentence, matrices), source="x.npz"))
    assert len(found) == 2101
    for scores, each in zip(matrices, found, strict=True):
        assert each.sentence.scores is scores
        assert np.array_equal(each.single_root, decode(scores))
        assert np.array_equal(each.unconstrained, decode(scores, single_root=False))
        assert each.multi_rooted == (np.count_nonzero(each.unconstrained == 0) > 1)
    assert any(each.multi_rooted for each in found) and sum(each.seconds for each in found) > 0
    assert list(decode_sentences([], source="x.npz")) == []


def test_the_next_batch_is_decoded_when_it_is_needed():
    def stream():
        yield from map(sentence, [np.zeros((1, 2))] * 1000)
        raise RuntimeError("read too far")

    decoded = decode_sentences(stream(), source="here")
    for _ in range(1000):
        next(decoded)
    with pytest.raises(RuntimeError, match="too far"):
        next(decoded)


@pytest.mark.parametrize(("name", "shown"), [("", "sentence 1012 of x.npz"), ("s-7", "sentence s-7 of x.npz")])
def test_the_first_sentence_at_fault_is_named(name, shown, rng):
    bad = np.full((2, 3), -np.inf)
    bad[:, 0] = 0
    good = [sentence(random_scores("normal", 3, rng))] * 1011  # more than a batch
    batch = [*good, sentence(bad, words=["Yes", "no"], name=name), sentence(bad)]
    with pytest.raises(errors.NoTreeError, match=f"^{shown}: .*1 \\('Yes'\\)") as caught:
        list(decode_sentences(batch, source="x.npz"))
    assert caught.value.sentence == 1011


def test_without_faults_nothing_is_raised():
    raise_fault([], [], source="x.npz")
