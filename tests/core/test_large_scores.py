"""Scores near the largest double: sums would overflow, so the core scales them."""

import numpy as np
import pytest

from spacy_mindroot.core import _core
from spacy_mindroot.core.fault import FaultKind

LAYOUTS = {
    "contiguous": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "reversed": lambda s: s[::-1].copy()[::-1],
}


@pytest.fixture
def rng():
    return np.random.default_rng(20201116)


def decode(scores, single_root, projective=False):
    heads = np.zeros(len(scores), np.int32)
    assert _core.decode(scores, heads, single_root, projective) is None
    return heads.tolist()


@pytest.mark.parametrize("projective", [False, True], ids=["any tree", "projective"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("factor", [2.0**1004, 2.0**1016, 2.0**1018, 2.0**1019])
@pytest.mark.parametrize("greatest", [15, 0])
def test_the_same_tree_as_of_small_scores(greatest, factor, layout, projective, rng):
    for _ in range(30):
        scores = rng.integers(-15, greatest + 1, (12, 13)).astype(float)  # sums of twelve overflow
        scores[rng.random(scores.shape) < 0.2] = -15
        for single_root in (True, False):
            assert decode(layout(scores * factor), single_root, projective) == decode(scores, single_root, projective)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_negative_scores_are_as_large_as_positive_ones(layout):
    """Each row's best is 0 or the lowest double; differences to other rows' scores overflow."""
    scores = np.full((4, 5), -1.35e308)
    scores[0, 2] = scores[1, 1] = scores[2, 4] = scores[3, 3] = 1.35e308  # two cycles
    assert decode(layout(scores), True) == decode(scores * 2.0**-100, True)
    assert decode(layout(-scores), True) == decode(-scores * 2.0**-100, True)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("greatest", [15, 0])
def test_k_best(greatest, single_root, layout, rng):
    for _ in range(40):
        scores = rng.integers(-15, greatest + 1, (6, 7)).astype(float)
        large = layout(scores * 2.0**1019)
        assert _core.k_best(large, 20, single_root) == _core.k_best(scores, 20, single_root)


@pytest.mark.parametrize("projective", [False, True], ids=["any tree", "projective"])
@pytest.mark.parametrize("self_arc", [1e308, -1e308, np.inf, np.nan])
def test_a_large_self_arc_changes_nothing(self_arc, projective, rng):
    """Least of all does it scale the tiny scores of other arcs to 0."""
    for _ in range(60):
        scores = rng.integers(-9, 10, (5, 6)) * 2.0**-1070
        expected = decode(scores, True, projective), _core.k_best(scores, 5)
        scores[np.arange(5), np.arange(5) + 1] = self_arc
        for layout in LAYOUTS.values():
            assert (decode(layout(scores), True, projective), _core.k_best(layout(scores), 5)) == expected


def test_forbidden_arcs_are_no_large_scores(rng):
    """Tiny scores are not scaled because other arcs are -inf."""
    for _ in range(60):
        scores = rng.integers(-9, 10, (5, 6)) * 2.0**-1070
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        scores[:, 0] = -(2.0**-1070)
        for layout in LAYOUTS.values():
            assert decode(layout(scores), True) == decode(scores * 2.0**1000, True)


def test_infinity_is_still_a_fault():
    scores = np.full((3, 4), 1e308)
    scores[1, 3] = np.inf
    fault = _core.decode(scores, np.zeros(3, np.int32))
    assert fault == (FaultKind.NOT_FINITE, 0, 2, 3)
