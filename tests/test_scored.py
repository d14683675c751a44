"""ScoredSentence, and decode_both(): the best trees without and with the constraint."""

import numpy as np
import pytest

from generators import random_scores
from spacy_mindroot import count_roots, decode, errors
from spacy_mindroot.scored import ScoredSentence, decode_both, raise_fault

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


def test_both_trees_of_every_sentence(rng):
    batch = [sentence(random_scores("root_attractive", n, rng)) for n in (1, 4, 9, 25)]
    decoded = decode_both(batch, source="x.npz")
    for scored, free, single in zip(batch, decoded.unconstrained, decoded.single_root, strict=True):
        assert free.tolist() == decode(scored.scores, single_root=False).tolist()
        assert single.tolist() == decode(scored.scores).tolist()
    assert any(count_roots(heads) > 1 for heads in decoded.unconstrained) and decoded.seconds > 0
    assert decode_both([], source="x.npz")[:2] == ([], [])


@pytest.mark.parametrize(("name", "shown"), [("", "sentence 12 of x.npz"), ("s-7", "sentence s-7 of x.npz")])
def test_the_first_sentence_at_fault_is_named(name, shown, rng):
    bad = np.full((2, 3), -np.inf)
    bad[:, 0] = 0
    batch = [sentence(random_scores("normal", 3, rng)), sentence(bad, words=["Yes", "no"], name=name), sentence(bad)]
    with pytest.raises(errors.NoTreeError, match=f"^{shown}: .*1 \\('Yes'\\)") as caught:
        decode_both(batch, source="x.npz", first=10)
    assert caught.value.sentence == 11


def test_without_faults_nothing_is_raised():
    raise_fault([], [], source="x.npz")
