"""The tree that is returned is the best there is: against exhaustive search, the twin, and an independent decoder."""

import numpy as np
import pytest
import ufal.chu_liu_edmonds

from generators import KINDS, best_by_exhaustion, random_scores, total
from spacy_mindroot import count_roots, is_tree
from spacy_mindroot.core import _core, reference

DECODERS = {"core": _core.decode, "twin": reference.decode}


def agrees_with_exhaustion(decode, scores, single_root):
    best = best_by_exhaustion(scores, single_root=single_root)
    heads = np.full(len(scores), -7, dtype=np.int32)
    fault = decode(scores, heads, single_root)
    if best == -np.inf:
        return fault is not None
    if fault is not None or not is_tree(heads) or (single_root and count_roots(heads) != 1):
        return False
    return np.isclose(total(scores, heads), best, rtol=1e-12, atol=0)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
def test_best_of_all_trees(decode, kind, single_root, rng):
    for _ in range(400):
        dtype = rng.choice([np.float32, np.float64])
        scores = random_scores(kind, rng.integers(1, 7), rng, dtype)
        assert agrees_with_exhaustion(decode, scores, single_root), scores


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_best_of_all_trees_for_a_hundred_thousand_matrices(kind, rng):
    wrong = 0
    for index in range(100_000 // len(KINDS) + 1):
        dtype = (np.float32, np.float64)[index % 2]
        scores = random_scores(kind, rng.integers(1, 7), rng, dtype)
        wrong += not agrees_with_exhaustion(_core.decode, scores, True)
    assert wrong == 0


@pytest.mark.parametrize("kind", KINDS)
def test_same_faults_as_the_twin(kind, rng):
    for _ in range(200):
        scores = random_scores(kind, rng.integers(1, 6), rng)
        scores[rng.random(scores.shape) < 0.5] = -np.inf
        if rng.random() < 0.2:
            scores[rng.integers(len(scores)), 0] = rng.choice([np.nan, np.inf])
        for single_root in (True, False):
            ours, twins = (decode(scores, np.zeros(len(scores), np.int32), single_root) for decode in DECODERS.values())
            assert (ours and ours.kind) == (twins and twins.kind)
            if ours and ours.kind in ("not_finite", "no_head"):
                assert ours == twins


def best_weight_by_ufal(scores):
    """The best single-rooted tree as the best of one run for each possible root."""
    n = len(scores)
    square = np.full((n + 1, n + 1), np.nan)
    best = -np.inf
    for root in range(n):
        square[1:] = scores
        square[np.arange(n + 1), np.arange(n + 1)] = np.nan
        square[1:, 0] = np.nan
        square[1 + root, 0] = scores[root, 0]
        heads, weight = ufal.chu_liu_edmonds.chu_liu_edmonds(np.where(np.isneginf(square), np.nan, square))
        if not np.isnan(weight) and np.isfinite(weight) and sum(head == 0 for head in heads[1:]) == 1:
            best = max(best, total(scores, np.array(heads[1:])))
    return best


def large_disagreements(n, kind, rng):
    scores = random_scores(kind, n, rng, rng.choice([np.float32, np.float64]))
    heads, twins = np.zeros(n, np.int32), np.zeros(n, np.int32)
    assert _core.decode(scores, heads) is None and count_roots(heads) == 1 and is_tree(heads)
    assert reference.decode(scores, twins) is None
    weight = total(scores, heads)
    return [
        name
        for name, other in (("twin", total(scores, twins)), ("ufal", best_weight_by_ufal(scores)))
        if not np.isclose(weight, other, rtol=1e-9, atol=0)
    ]


LARGE_KINDS = ("normal", "positive", "tied", "all_equal", "root_attractive")


@pytest.mark.parametrize("kind", LARGE_KINDS)
@pytest.mark.parametrize("n", [10, 25, 60])
def test_agrees_with_twin_and_independent_decoder(n, kind, rng):
    for _ in range(3):
        assert large_disagreements(n, kind, rng) == []


@pytest.mark.sweep
@pytest.mark.parametrize("kind", LARGE_KINDS)
def test_agrees_with_twin_and_independent_decoder_up_to_300(kind, rng):
    for n in (10, 15, 25, 40, 60, 80, 120, 200, 300):
        for _ in range(max(1, 200 // n)):
            assert large_disagreements(n, kind, rng) == []
