"""Inside-outside over projective trees, and its twin in Python, against all projective trees there are."""

import numpy as np
import pytest

from generators import random_scores, weights_of_all_trees
from spacy_mindroot.core import _inference
from twins.inside_outside import inside_outside as twin


def of_core(scores, single_root):
    probabilities = np.full(scores.shape, np.nan)
    log_z = _inference.log_partition(scores, probabilities, single_root, True)
    return log_z, probabilities


def of_twin(scores, single_root):
    total, probabilities = twin(scores, single_root)
    return np.log(total) if total else -np.inf, probabilities


IMPLEMENTATIONS = {"core": of_core, "twin": of_twin}


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", ["normal", "tied", "masked", "root_attractive", "all_equal"])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS.values(), ids=IMPLEMENTATIONS)
def test_against_all_trees(implementation, kind, single_root, rng):
    for n in (1, 2, 3, 4, 5, 6):
        scores = random_scores(kind, n, rng)
        trees, weights = weights_of_all_trees(scores, single_root=single_root, projective=True)
        log_z, found = implementation(scores, single_root)
        if len(trees) == 0:
            assert log_z == -np.inf
            continue
        p = np.exp(weights - np.logaddexp.reduce(weights))
        expected = np.zeros((n, n + 1))
        for tree, probability in zip(trees, p, strict=True):
            expected[np.arange(n), tree] += probability
        assert log_z == pytest.approx(np.logaddexp.reduce(weights), abs=1e-10)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)


def test_core_and_twin_agree_on_longer_sentences(rng):
    for n in (10, 17):
        for single_root in (True, False):
            scores = random_scores("normal", n, rng)
            (log_z, found), (other_z, other) = of_core(scores, single_root), of_twin(scores, single_root)
            assert log_z == pytest.approx(other_z)
            np.testing.assert_allclose(found, other, atol=1e-12)


def test_scores_that_are_far_apart_and_long_sentences(rng):
    scores = rng.normal(0, 300, (30, 31))
    log_z, found = of_core(scores, True)
    assert np.isfinite(log_z)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found[:, 0].sum() == pytest.approx(1)
    log_z, found = of_core(np.zeros((150, 151), dtype=np.float32), True)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found[:, 0].sum() == pytest.approx(1)


@pytest.mark.parametrize(("n", "trees"), [(1, 1), (2, 2), (3, 7), (4, 30), (5, 143), (6, 728)])
def test_the_number_of_projective_trees(n, trees):
    """Sequence A006013 of the OEIS."""
    assert np.exp(of_core(np.zeros((n, n + 1)), True)[0]) == pytest.approx(trees)
