"""Confidence: probabilities of a tree and of its heads, against all trees there are."""

import math

import numpy as np
import pytest

from generators import KINDS, NO_NUMBERS, exact_distribution, extreme_scores, random_scores, weights_of_all_trees
from spacy_mindroot import decode, errors, tree_weight
from spacy_mindroot.inference import arc_confidence, confidence, kbest, log_partition, marginals, tree_margin
from spacy_mindroot.inference.arc_confidence import confidence_of, confidences_of, margin, margins_of


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "huge"])
def test_of_any_tree(kind, rng):
    for n in (1, 2, 3, 4, 5):
        scores = random_scores(kind, n, rng)
        trees, weights = weights_of_all_trees(scores, single_root=True)
        if len(trees) == 0:
            continue
        k = rng.integers(len(trees))
        found = confidence(scores, trees[k])
        assert found.tree_logprob == pytest.approx(weights[k] - np.logaddexp.reduce(weights), rel=1e-6, abs=1e-9)
        np.testing.assert_allclose(found.head_prob, marginals(scores)[np.arange(n), trees[k]], atol=1e-12)
        probabilities = marginals(scores)
        for row, entropy in zip(probabilities, found.head_entropy, strict=True):
            assert entropy == pytest.approx(-sum(p * np.log(p) for p in row if p > 0), abs=1e-9)


def test_of_a_tree_that_is_all_but_certain(rng):
    """Log-probabilities near zero keep their digits, whatever the weights."""
    scores = np.full((4, 5), 1e6)
    heads = [2, 0, 2, 3]
    scores[np.arange(4), heads] += 20
    logprob = confidence(scores, heads).tree_logprob
    trees, weights = weights_of_all_trees(scores - 1e6, single_root=True)
    others = np.exp(weights[1:] - weights[0]).sum()
    assert trees[0].tolist() == heads and logprob == pytest.approx(-np.log1p(others), rel=1e-4) and logprob < 0


def test_of_a_tree_with_a_forbidden_arc():
    scores = [[5, 0, -np.inf], [4, 3, 0]]
    found = confidence(scores, [2, 0])
    assert found.tree_logprob == -np.inf and found.head_prob.tolist() == [0, 0]


def test_long_sentences_and_other_layouts(rng):
    scores = rng.normal(0, 5, (60, 61)).astype(np.float32)
    heads = decode(scores)
    square = np.vstack([np.zeros(61), scores])
    found = confidence(square, heads, layout="square")
    assert found.tree_logprob == pytest.approx(tree_weight(scores, heads) - log_partition(scores), abs=1e-4)
    assert len(confidence([], []).head_prob) == 0 and confidence([], []).tree_logprob == 0


@pytest.mark.parametrize("heads", [[0, 0], [2, 1], [0], [0, 1, 1], [0, 3]])
def test_heads_that_are_no_tree_with_one_root(heads):
    with pytest.raises(errors.HeadsError, match="one root over 2 tokens"):
        confidence(np.zeros((2, 3)), heads)


def test_errors_are_those_of_the_marginals():
    with pytest.raises(errors.NoRootError):
        confidence([[-np.inf, 0]], [0])
    with pytest.raises(errors.InvalidScoreError):
        confidence([[np.nan, 0]], [0])
    with pytest.raises(errors.NoTreeError, match="single root"):
        confidence([[1, 0, -np.inf], [1, -np.inf, 0]], [2, 0])


def test_the_partition_function_is_computed_once(monkeypatch, rng):
    """The checks are those of decoding, in O(n^2)."""
    calls = []
    monkeypatch.setattr(arc_confidence._core, "confidence", lambda *given: calls.append(given))
    monkeypatch.setattr(
        "spacy_mindroot.inference.matrix_tree._inference.log_partition", lambda *_: calls.append(0) or 0.0
    )
    scores = rng.normal(size=(5, 6))
    confidence(scores, decode(scores))
    assert len(calls) == 1 and calls[0] != 0


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_are_no_scores_and_no_heads(value):
    with pytest.raises((errors.ScoresTypeError, errors.ScoresShapeError)):
        confidence(value, [0])
    with pytest.raises(errors.HeadsError):
        confidence([[0, 0]], value)


def test_scores_near_the_largest_double(rng):
    right = 0
    for _ in range(200):
        n = rng.integers(1, 6)
        scores = extreme_scores(n, rng)
        trees, probabilities, _, log_p = exact_distribution(scores, single_root=True)
        k = rng.integers(len(trees))
        try:
            found = confidence(scores, trees[k])
        except errors.ScoreRangeError:
            continue
        right += 1
        assert found.tree_logprob == pytest.approx(max(log_p[k], -1e299), abs=1e-9) or found.tree_logprob < -1e299
        expected = [probabilities[trees[:, i] == head].sum() for i, head in enumerate(trees[k])]
        np.testing.assert_allclose(found.head_prob, expected, atol=1e-12)
        assert (found.head_entropy >= 0).all() and (found.head_entropy <= np.log(n + 1)).all()
    assert right > 100


def test_the_confidence_of_any_tree_without_checks(rng):
    scores = rng.normal(0, 3, (6, 7))
    for heads, _ in kbest(scores, 10):
        with_checks, without = confidence(scores, heads), confidence_of(scores, heads)
        assert with_checks.tree_logprob == without.tree_logprob
        assert np.array_equal(with_checks.head_prob, without.head_prob)


def test_the_margin_of_any_tree(rng):
    scores = rng.integers(-9, 9, (5, 6)).astype(float)
    trees = kbest(scores, 4)
    best, weight = trees[0]
    assert margin(scores, best, trees) == weight - trees[1][1] == tree_margin(scores)
    for other, its_weight in trees[1:]:
        assert margin(scores, other, trees) == its_weight - weight <= 0
    assert margin(scores, best.copy(), trees[:1]) == np.inf
    assert margin(np.zeros((0, 1)), np.empty(0, np.int32), [(np.empty(0, np.int32), 0.0)]) == np.inf


def test_margins_of_a_batch_are_those_of_each(rng):
    matrices = [rng.normal(0, 3, (n, n + 1)).astype(dtype) for n in (1, 4, 1, 7) for dtype in (np.float32, np.float64)]
    best = [decode(matrix) for matrix in matrices]
    assert margins_of(matrices, best) == [tree_margin(matrix) for matrix in matrices]
    second = [kbest(matrix, 2)[-1][0] for matrix in matrices]  # the tree need not be the best one
    expected = [margin(*sentence, kbest(sentence[0], 2)) for sentence in zip(matrices, second, strict=True)]
    assert margins_of(matrices, second) == expected


def test_a_batch_is_as_its_sentences(rng):
    matrices = [rng.normal(0, 3, (n, n + 1)) for n in (3, 1, 6)]
    heads = [decode(matrix) for matrix in matrices]
    found, arcs = confidences_of(matrices, heads, marginals=True)
    for matrix, own, one, probabilities in zip(matrices, heads, found, arcs, strict=True):
        alone = confidence(matrix, own)
        assert np.array_equal(one.head_prob, alone.head_prob) and one.tree_logprob == alone.tree_logprob
        np.testing.assert_allclose(probabilities, marginals(matrix), rtol=1e-12)
    assert confidences_of(matrices, heads)[1] == []


def test_batches_of_nothing():
    nothing = np.empty((0, 1)), np.empty(0, dtype=np.int32)
    assert margins_of([], []) == [] and confidences_of([], []) == ([], [])
    assert margins_of(*([own] for own in nothing)) == [math.inf]
    (found,), _ = confidences_of(*([own] for own in nothing))
    assert len(found.head_prob) == 0 and found.tree_logprob == 0
