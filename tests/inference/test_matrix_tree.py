"""Partition function, marginals and entropy: against the sum over all trees, and where determinants fail."""

from fractions import Fraction

import numpy as np
import pytest

from generators import (
    KINDS,
    NO_NUMBERS,
    all_trees,
    exact_distribution,
    extreme_scores,
    random_scores,
    random_tree,
    weights_of_all_trees,
)
from spacy_mindroot import decode, errors, tree_weight
from spacy_mindroot.inference import entropy, log_partition, marginals

BY_SUMMATION = [kind for kind in KINDS if kind not in ("finitely_masked", "huge")]  # differences are lost in rounding


def by_summation(scores, *, single_root):
    """Return log-partition, marginals and entropy from the list of all trees; None if there is no tree."""
    n = len(scores)
    trees, single = all_trees(n)
    if single_root:
        trees = trees[single]
    weights = scores.astype(np.float64)[np.arange(n), trees].sum(axis=1)
    best = weights.max()
    if best == -np.inf:
        return None
    log_p = weights - best - np.log(np.exp(weights - best).sum())
    p = np.exp(log_p)
    expected = np.zeros((n, n + 1))
    for i in range(n):
        np.add.at(expected[i], trees[:, i], p)
    return best + np.log(np.exp(weights - best).sum()), expected, -(p[p > 0] * log_p[p > 0]).sum()


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", BY_SUMMATION)
def test_agrees_with_the_sum_over_all_trees(kind, single_root, rng):
    for _ in range(150):
        scores = random_scores(kind, rng.integers(1, 7), rng, rng.choice([np.float32, np.float64]))
        if rng.random() < 0.3:
            scores[rng.random(scores.shape) < 0.3] = -np.inf
        expected = by_summation(scores, single_root=single_root)
        if expected is None:
            with pytest.raises((errors.NoHeadError, errors.NoRootError, errors.NoTreeError)):
                marginals(scores, single_root=single_root)
            continue
        assert log_partition(scores, single_root=single_root) == pytest.approx(expected[0], rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(marginals(scores, single_root=single_root), expected[1], rtol=1e-9, atol=1e-300)
        assert entropy(scores, single_root=single_root) == pytest.approx(expected[2], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("spread", [30, 400, 1e4])
def test_scores_far_apart(spread, single_root, rng):
    """Weights that underflow, and tokens connected only by arcs whose weights do."""
    for _ in range(150):
        n = rng.integers(2, 7)
        scores = rng.normal(0, spread, (n, n + 1))
        scores[:, 0] -= rng.choice([0, spread])
        log_z, expected, of_trees = by_summation(scores, single_root=single_root)
        assert log_partition(scores, single_root=single_root) == pytest.approx(log_z, rel=1e-12)
        np.testing.assert_allclose(marginals(scores, single_root=single_root), expected, rtol=1e-9, atol=1e-200)
        assert entropy(scores, single_root=single_root) == pytest.approx(of_trees, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("gap", [690, 715, 740, 760])
def test_weights_that_lose_digits_before_they_underflow(gap, single_root, rng):
    """Two pairs of tokens: all arcs that leave a pair have weights about as small as the smallest doubles."""
    for _ in range(20):
        scores = rng.normal(-gap, 1, (5, 6))
        scores[[1, 2, 3, 4], [3, 2, 5, 4]] = 0
        log_z, expected, _ = by_summation(scores, single_root=single_root)
        assert log_partition(scores, single_root=single_root) == pytest.approx(log_z, rel=1e-12)
        np.testing.assert_allclose(marginals(scores, single_root=single_root), expected, rtol=1e-9, atol=1e-200)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("gap", [715, 740, 760])
def test_root_arcs_that_lose_digits_before_they_underflow(gap, single_root, rng):
    for _ in range(20):
        scores = rng.normal(0, 1, (5, 6))
        scores[:, 0] -= gap
        log_z, expected, _ = by_summation(scores, single_root=single_root)
        assert log_partition(scores, single_root=single_root) == pytest.approx(log_z, rel=1e-12)
        np.testing.assert_allclose(marginals(scores, single_root=single_root), expected, rtol=1e-9, atol=1e-200)


@pytest.mark.parametrize("step", [20, 100, 200, 225, 300])
@pytest.mark.parametrize("up", [True, False])
def test_walks_too_long_for_doubles(up, step, rng):
    """A chain of tokens, each of which much prefers the next one as its head to the one before.

    A walk from one end of the chain to the other takes about exp(5 * step) steps. That overflows, although the weight
    of each step is well within the range of doubles.
    """
    scores = np.full((6, 7), -np.inf)
    scores[:, 0] = rng.normal(0, 1, 6)
    tokens = np.arange(5)
    scores[tokens, tokens + 2] = 0
    scores[tokens + 1, tokens + 1] = -step
    scores[-1, -2] = 0
    if not up:
        scores = np.concatenate([scores[::-1, :1], scores[::-1, :0:-1]], axis=1)
    log_z, expected, _ = by_summation(scores, single_root=True)
    assert log_partition(scores) == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(marginals(scores), expected, rtol=1e-9, atol=1e-300)


def exact_marginals(weights, single_root):
    """Return the exact share of each arc, from determinants of the Laplacian with and without it."""
    n = len(weights)

    def partition(weights):
        square = [[-weights[d][h + 1] for d in range(n)] for h in range(n)]
        for d in range(n):
            square[d][d] = sum(weights[d][h + 1] for h in range(n) if h != d) + (0 if single_root else weights[d][0])
        if single_root:
            square[0] = [weights[d][0] for d in range(n)]
        return determinant(square)

    whole = partition(weights)
    shares = np.zeros((n, n + 1))
    for d in range(n):
        for h in range(n + 1):
            if h != d + 1:
                only = [
                    [w if column == h else Fraction(0) for column, w in enumerate(weights[d])] if i == d else weights[i]
                    for i in range(n)
                ]
                shares[d, h] = partition(only) / whole
    return shares


def determinant(square):
    square, value = [list(row) for row in square], Fraction(1)
    for k in range(len(square)):
        pivot = next((i for i in range(k, len(square)) if square[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            square[k], square[pivot], value = square[pivot], square[k], -value
        value *= square[k][k]
        for i in range(k + 1, len(square)):
            factor = square[i][k] / square[k][k]
            square[i] = [a - factor * b for a, b in zip(square[i], square[k], strict=True)]
    return value


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("bits", [3, 40, 100])
def test_all_digits_are_right_where_tokens_prefer_each_other(bits, single_root, rng):
    """Pairs of tokens, and pairs of pairs, that nearly exclude the rest. Weights are powers of two.

    The determinant of the Laplacian is a difference of nearly equal numbers here.
    """
    for _ in range(2):
        n = 8
        powers = -bits * (1 + rng.integers(0, 2, (n, n + 1)))
        powers[:, 0] = -5 * bits - rng.integers(0, 3, n)
        partner, pair = np.arange(n) ^ 1, np.arange(n) ^ 2
        powers[np.arange(n), pair + 1] = -bits // 2
        powers[np.arange(n), partner + 1] = 0
        weights = [[Fraction(2) ** int(p) for p in row] for row in powers]
        found = marginals(powers * np.log(2), single_root=single_root)
        np.testing.assert_allclose(found, exact_marginals(weights, single_root), rtol=1e-10)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("gap", [0, 1, 30, 300, 1e5])
@pytest.mark.parametrize("n", [1, 2, 25, 150, 500])
def test_probabilities_are_probabilities(n, gap, single_root, rng):
    scores = rng.normal(0, 1, (n, n + 1)).astype(np.float32)
    scores[np.arange(n), random_tree(n, rng)] += gap
    p = marginals(scores, single_root=single_root)
    assert p.shape == (n, n + 1) and (p >= 0).all() and (p <= 1).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (np.diagonal(p, 1) == 0).all()
    if single_root:
        assert p[:, 0].sum() == pytest.approx(1, abs=1e-9)
    best = decode(scores, single_root=single_root)
    p_of_best = tree_weight(scores, best) - log_partition(scores, single_root=single_root)
    assert p_of_best < 1e-9
    if gap >= 30:
        assert p_of_best > -1e-6 and (p[np.arange(n), best] > 1 - 1e-6).all()
        assert 0 <= entropy(scores, single_root=single_root) < 1e-5


@pytest.mark.parametrize("n", [1, 2, 10, 100, 400])
def test_counts_trees(n):
    """Cayley's formula."""
    scores = np.zeros((n, n + 1))
    for single_root, log_trees in ((True, (n - 1) * np.log(n)), (False, (n - 1) * np.log(n + 1))):
        assert log_partition(scores, single_root=single_root) == pytest.approx(log_trees, rel=1e-12, abs=1e-12)
        assert entropy(scores, single_root=single_root) == pytest.approx(log_trees, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(marginals(scores)[:, 0], 1 / n, rtol=1e-10)


@pytest.mark.parametrize("mask", [-1e4, -1e9, -1e32])
def test_a_large_finite_mask_is_as_good_as_a_forbidden_arc(mask, rng):
    scores = rng.normal(0, 3, (12, 13))
    forbidden = rng.random(scores.shape) < 0.4
    forbidden[np.arange(12), decode(scores)] = False
    expected = marginals(np.where(forbidden, -np.inf, scores))
    np.testing.assert_allclose(marginals(np.where(forbidden, mask, scores)), expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("constant", [-1e6, 1e3, 1e6])
def test_a_constant_on_a_row_changes_no_probability(constant, rng):
    scores = rng.integers(-9, 9, (20, 21)) / 4
    shifted = scores + constant * rng.integers(0, 2, (20, 1))
    np.testing.assert_allclose(marginals(shifted), marginals(scores), rtol=1e-12)
    assert entropy(shifted) == pytest.approx(entropy(scores), rel=1e-9)


@pytest.mark.parametrize("single_root", [True, False])
def test_the_gradient_of_the_partition_function(single_root, rng):
    scores = rng.normal(0, 2, (9, 10))
    p = marginals(scores, single_root=single_root)
    for i, h in np.argwhere(p > 0):
        values = []
        for step in (1e-4, -1e-4):
            moved = scores.copy()
            moved[i, h] += step
            values.append(log_partition(moved, single_root=single_root))
        assert (values[0] - values[1]) / 2e-4 == pytest.approx(p[i, h], abs=1e-7)


def test_relabelling_tokens_relabels_the_probabilities(rng):
    n = 30
    scores, order = rng.normal(0, 3, (n, n + 1)), rng.permutation(n)
    columns = np.concatenate([[0], order + 1])
    np.testing.assert_allclose(
        marginals(scores[np.ix_(order, columns)]), marginals(scores)[np.ix_(order, columns)], rtol=1e-9
    )


def test_only_some_tokens_can_be_the_root(rng):
    """Tokens 0 to 2 have heads only among themselves, so one of them is the root."""
    scores = rng.normal(0, 2, (6, 7))
    scores[:3, 4:] = -np.inf
    _, expected, _ = by_summation(scores, single_root=True)
    found = marginals(scores)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    assert (found[3:, 0] == 0).all() and found[:3, 0].sum() == pytest.approx(1)


def test_no_tokens():
    assert log_partition([]) == entropy([]) == 0
    assert marginals([]).shape == (0, 1)


def test_any_memory_layout_and_nothing_is_changed(rng):
    scores = rng.normal(0, 2, (7, 8))
    expected = marginals(scores)
    square = np.full((8, 8), np.nan)
    square[1:] = scores
    for other, layout in (
        (np.asfortranarray(scores), "root_column"),
        (np.repeat(scores, 2, axis=1)[:, ::2], "root_column"),
        (square, "square"),
        (square.T, "square_transposed"),
    ):
        other.flags.writeable = False
        assert np.array_equal(marginals(other, layout=layout), expected)
    np.testing.assert_allclose(marginals(scores.astype(np.float32)), expected, rtol=1e-4)


@pytest.mark.parametrize("single_root", [True, False])
def test_scores_near_the_largest_double(single_root, rng):
    """Right, or an error that says that they are too far apart."""
    right = 0
    for _ in range(300):
        n = rng.integers(1, 6)
        scores = extreme_scores(n, rng)
        trees, probabilities, best, _ = exact_distribution(scores, single_root=single_root)
        try:
            found = marginals(scores, single_root=single_root)
        except errors.ScoreRangeError as error:
            assert "beyond 1e301" in str(error) and 1 <= error.dependent <= n
            for function in (log_partition, entropy):
                with pytest.raises(errors.ScoreRangeError):
                    function(scores, single_root=single_root)
            continue
        right += 1
        expected = np.zeros((n, n + 1))
        for heads, p in zip(trees, probabilities, strict=True):
            expected[np.arange(n), heads] += p
        np.testing.assert_allclose(found, expected, atol=1e-12)
        in_use = probabilities[probabilities > 0]
        assert entropy(scores, single_root=single_root) == pytest.approx(-(in_use * np.log(in_use)).sum(), abs=1e-9)
        log_z = log_partition(scores, single_root=single_root)
        if abs(best) < 10**308:
            assert log_z == pytest.approx(float(best) - np.log(probabilities.max()), rel=1e-12)
        else:
            assert abs(log_z) > 1e307 and (log_z > 0) == (best > 0)
    assert right > 150


def test_all_scores_alike_and_as_large_as_can_be():
    """Nothing is lost: the distribution is uniform."""
    for score in (1.5e308, -1.5e308):
        scores = np.full((4, 5), score)
        np.testing.assert_allclose(marginals(scores), marginals(np.zeros((4, 5))), rtol=1e-12)
        assert entropy(scores) == pytest.approx(np.log(64)) and log_partition(scores) == np.sign(score) * np.inf
    assert log_partition([[1.5e308, 0]]) == 1.5e308


@pytest.mark.parametrize("scale", [1e17, 1e30, 1e200])
def test_an_entropy_is_never_larger_than_those_of_the_heads(scale, rng):
    """Rounding errors are larger than any entropy here. Still, nothing is NaN, and probabilities are in [0, 1]."""
    for _ in range(200):
        scores = rng.integers(-3, 4, (5, 6)) * scale
        p = marginals(scores)
        assert (p >= 0).all() and (p <= 1).all()
        in_use = p[p > 0]
        assert 0 <= entropy(scores) <= -(in_use * np.log(in_use)).sum() + 1e-12


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_array_of_scores(value):
    for function in (log_partition, marginals, entropy):
        with pytest.raises(errors.MindRootError):
            function(value)
        with pytest.raises(errors.ScoresShapeError, match="no layout"):
            function([[0, 0]], layout=value)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("function", [log_partition, marginals, entropy])
def test_scores_too_far_apart(function, projective):
    scores = np.array([[-1.5e308, 0, 1.5e308], [-1.5e308, 1.5e308, 0]])
    with pytest.raises(errors.ScoreRangeError, match="^sentence of 2 tokens.*head 0 for dependent"):
        function(scores, projective=projective)
    assert decode(scores).tolist() in ([2, 0], [0, 1])  # decoding has no such limit


@pytest.mark.parametrize("single_root", [True, False])
def test_projective_trees(single_root, rng):
    for n in (1, 3, 5):
        scores = random_scores("masked" if n == 3 else "normal", n, rng)
        trees, weights = weights_of_all_trees(scores, single_root=single_root, projective=True)
        if len(trees) == 0:
            continue
        p = np.exp(weights - np.logaddexp.reduce(weights))
        settings = {"single_root": single_root, "projective": True}
        assert log_partition(scores, **settings) == pytest.approx(np.logaddexp.reduce(weights))
        assert entropy(scores, **settings) == pytest.approx(-(p * np.log(p)).sum(), abs=1e-9)
        expected = np.zeros((n, n + 1))
        for tree, own in zip(trees, p, strict=True):
            expected[np.arange(n), tree] += own
        np.testing.assert_allclose(marginals(scores, **settings), expected, atol=1e-12)


def test_no_projective_tree():
    crossing = np.full((4, 5), -np.inf)
    crossing[np.arange(4), [3, 4, 0, 3]] = 0  # 1 <- 3 and 2 <- 4 cross
    assert log_partition(crossing) == 0
    with pytest.raises(errors.NoTreeError, match="crossing"):
        marginals(crossing, projective=True)
