"""The division of a text into sentences: exhaustive search, the Python twin and the compiled search."""

import numpy as np
import pytest
from segmentations import KINDS, band_of, best_by_exhaustion, check, random_text

from spacy_mindroot.core import _inference, segmentation_reference
from spacy_mindroot.core.fault import Fault, FaultKind


@pytest.mark.parametrize("by_partition", [False, True])
def test_the_twin_equals_exhaustive_search(by_partition):
    for number in range(150):
        window, starts, max_length, _ = random_text(number, 5)
        found = segmentation_reference.segment(window, starts, max_length, by_partition)
        check(found, window, starts, max_length, by_partition)
        assert found is None or found.loss == 0


@pytest.mark.parametrize("by_partition", [False, True])
def test_the_compiled_search_equals_exhaustive_search(by_partition):
    none = 0
    for number in range(1500):
        window, starts, max_length, _ = random_text(number, 5)
        found = _inference.segment(window, starts, max_length, by_partition)
        check(found, window, starts, max_length, by_partition)
        none += found is None
        assert found is None or found.loss == 0
    assert 0 < none < 750


def test_eight_tokens():
    for evidence in (-4, -1):
        rng = np.random.default_rng(0)
        window, starts = rng.normal(0, 2, (8, 9)), rng.normal(evidence, 1, 8)
        check(_inference.segment(window, starts, 8), window, starts, 8)


def test_the_twin_and_the_compiled_search_agree_on_longer_texts():
    for number in range(60):
        window, starts, max_length, rng = random_text(number, 14)
        least = float(rng.choice([-np.inf, -1, 0, 1]))
        twin = segmentation_reference.segment(window, starts, max_length, least=least)
        found = _inference.segment(window, starts, max_length, least=least)
        if twin is None:
            assert found is None
            continue
        assert found.value == pytest.approx(twin.value, abs=1e-9)
        assert -1e-9 <= twin.loss <= found.loss + 1e-9
        if number % len(KINDS) not in (0, 5):  # integers: ties are exact, and are broken alike
            assert found.lengths.tolist() == twin.lengths.tolist()


def test_a_band_and_all_heads_give_the_same():
    for number in range(200):
        window, starts, max_length, rng = random_text(number, 9)
        band = max_length - 1 + int(rng.integers(3))
        for segment in (_inference.segment, segmentation_reference.segment)[: 1 + (number % 10 == 0)]:
            whole = segment(window, starts, max_length)
            banded = segment(band_of(window, band), starts, max_length, band=band)
            if whole is None:
                assert banded is None
                continue
            assert (whole.lengths.tolist(), whole.heads.tolist(), whole.value) == (
                banded.lengths.tolist(),
                banded.heads.tolist(),
                banded.value,
            )


def test_places_are_skipped_at_a_known_cost():
    lossy = 0
    for number in range(300):
        window, starts, max_length, rng = random_text(number, 7)
        least = float(rng.normal(0, 1))
        found = _inference.segment(window, starts, max_length, least=least)
        check(found, window, starts, max_length)
        if found is None:
            continue
        best = best_by_exhaustion(window, starts, max_length, least=least)
        if best > -np.inf:  # the best of those that skip the places
            assert found.value >= best - 1e-9
        lossy += found.loss > 0
    assert lossy > 20


def test_arcs_across_a_certain_boundary_are_not_read():
    window = np.zeros((4, 5))
    window[:2, 3:] = window[2:, 1:3] = np.nan
    starts = np.array([0, -1, np.inf, -1])
    for segment in (_inference.segment, segmentation_reference.segment):
        found = segment(window, starts, 4)
        assert found.lengths.tolist() == [2, 2] and found.value == 0


@pytest.mark.parametrize("segment", [_inference.segment, segmentation_reference.segment])
def test_a_score_that_is_not_a_number_is_a_fault(segment):
    for broken in (np.nan, np.inf):
        window = np.zeros((4, 5))
        window[2, 2] = broken
        assert segment(window, np.full(4, -1.0), 4) == Fault(FaultKind.NOT_FINITE, 0, 3, 2)
        assert segment(window, np.full(4, -1.0), 1).lengths.tolist() == [1] * 4
        window[1, 0] = broken
        assert segment(window, np.full(4, -1.0), 1) == Fault(FaultKind.NOT_FINITE, 0, 2, 0)


def test_few_trees_are_computed():
    rng = np.random.default_rng(0)
    n = 300
    gold = np.repeat(np.arange(n // 20), 20)
    window = rng.normal(-6, 1, (n, n + 1))
    window[:, 0] = -4
    for token in range(n):
        if token % 20 == 0:
            window[token, 0] = 0
        else:
            window[token, token // 20 * 20 + 1 + rng.integers(token % 20)] = 0
    starts = np.where(np.arange(n) % 20 == 0, 1.0, -4.0)
    found = _inference.segment(window, starts, 60)
    assert found.lengths.tolist() == np.bincount(gold).tolist()
    assert found.trees < 10 * n
    pruned = _inference.segment(window, starts, 60, least=-2)
    assert pruned.lengths.tolist() == found.lengths.tolist() and pruned.trees < n
