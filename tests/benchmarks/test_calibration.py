"""The benchmark of calibration at a small size: its figures are what they say."""

import numpy as np
import pytest

from benchmarks.calibration import coverage_with_few, cross_fit, spearman, threshold_by_sentence
from spacy_mindroot import write_score_file
from spacy_mindroot.inference import sample


def test_rank_correlation():
    assert spearman(np.array([1.0, 2, 3]), np.array([1.0, 4, 9])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2, 3]), np.array([9.0, 4, 1])) == pytest.approx(-1)
    # Ties get their mean rank: 1.5, 1.5, 3, 4 against 1, 2, 3.5, 3.5.
    expected = np.corrcoef([1.5, 1.5, 3, 4], [1, 2, 3.5, 3.5])[0, 1]
    assert spearman(np.array([5.0, 5, 6, 7]), np.array([1.0, 2, 8, 8])) == pytest.approx(expected)


@pytest.fixture
def sure_file(tmp_path, rng):
    """A scorer that is too sure: its scores are three times those that the gold trees were drawn from."""
    scores = [rng.normal(0, 2, (n, n + 1)) for n in rng.integers(3, 9, 80)]
    write_score_file(
        tmp_path / "sure.npz",
        scores=[(3 * own).astype(np.float32) for own in scores],
        words=[["w"] * len(own) for own in scores],
        labels=["dep"],
        best_labels=[np.zeros(own.shape, dtype=np.uint8) for own in scores],
        gold_heads=[sample(own, 1, rng)[0] for own in scores],
        gold_labels=[["dep"] * len(own) for own in scores],
    )
    return tmp_path / "sure.npz"


def test_halves_of_a_score_file(sure_file):
    found = cross_fit(sure_file, 1)
    assert found.treebank == "sure" and found.ece_after < 0.6 * found.ece_before
    assert 0 < found.ece_of_perfect < found.ece_before and 80 < found.coverage <= 100
    assert found.size >= 1 and found.spearman > 0


def test_thresholds_by_sentence():
    """A long sentence counts as much as a short one, and so does one more in which all right heads are improbable."""
    few, many = np.array([0.9]), np.full(9, 0.2)
    assert threshold_by_sentence([few, many], 0.3) == 0.9
    assert threshold_by_sentence([few, many], 0.35) == 0.2 == threshold_by_sentence([few, many], 0.66)
    assert threshold_by_sentence([few, many], 0.7) == 0


def test_head_sets_from_few_sentences(sure_file):
    found = coverage_with_few(sure_file, 20, 3)
    assert (found.treebank, found.sentences) == ("sure", 20)
    assert 80 < found.coverage <= 100 and 80 < found.by_sentence <= 100 and found.deviation > 0
    assert coverage_with_few(sure_file, 1000, 1).sentences == 40
