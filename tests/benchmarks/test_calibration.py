"""The benchmark of calibration at a small size: its figures are what they say."""

import numpy as np
import pytest

from benchmarks.calibration import cross_fit, spearman


def test_rank_correlation():
    assert spearman(np.array([1.0, 2, 3]), np.array([1.0, 4, 9])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2, 3]), np.array([9.0, 4, 1])) == pytest.approx(-1)
    # Ties get their mean rank: 1.5, 1.5, 3, 4 against 1, 2, 3.5, 3.5.
    expected = np.corrcoef([1.5, 1.5, 3, 4], [1, 2, 3.5, 3.5])[0, 1]
    assert spearman(np.array([5.0, 5, 6, 7]), np.array([1.0, 2, 8, 8])) == pytest.approx(expected)


def test_halves_of_a_score_file(sure_file):
    found = cross_fit(sure_file, 1)
    assert found.treebank == "sure" and found.ece_after < 0.6 * found.ece_before
    assert 0 < found.ece_of_perfect < found.ece_before and 80 < found.coverage <= 100
    assert found.size >= 1 and found.spearman > 0
