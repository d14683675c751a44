"""The k best trees: against all trees there are."""

from itertools import product

import numpy as np
import pytest

from generators import (
    DATE,
    KINDS,
    NO_NUMBERS,
    exact_distribution,
    extreme_scores,
    random_arcs,
    random_scores,
    total,
    weights_of_all_trees,
)
from spacy_mindroot import count_roots, decode, errors, is_projective, is_tree, tree_weight
from spacy_mindroot.inference import kbest, kbest_batch, tree_margin


def agrees_with_exhaustion(scores, **options):
    trees, weights = weights_of_all_trees(scores, **options)
    if len(trees) == 0:
        with pytest.raises(errors.DecodingError):
            kbest(scores, 3, **options)
        return
    found = kbest(scores, len(trees) + 5, **options)
    assert {tuple(heads.tolist()) for heads, _ in found} == {tuple(heads) for heads in trees.tolist()}
    assert len(found) == len(trees)
    np.testing.assert_allclose([weight for _, weight in found], weights, rtol=1e-12, atol=1e-12 * abs(weights).max())
    assert all(weight == tree_weight(scores, heads) for heads, weight in found)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_all_trees_in_order(kind, single_root, projective, rng):
    for n in (1, 2, 3, 3, 4, 4, 4, 5):
        dtype = rng.choice([np.float32, np.float64])
        agrees_with_exhaustion(random_scores(kind, n, rng, dtype), single_root=single_root, projective=projective)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("kind", ["normal", "tied", "masked"])
def test_all_trees_of_six_tokens(kind, projective, rng):
    agrees_with_exhaustion(random_scores(kind, 6, rng), single_root=True, projective=projective)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("kind", ["normal", "tied", "masked"])
def test_all_trees_that_meet_constraints(kind, single_root, projective, rng):
    for _ in range(30):
        n = rng.integers(2, 6)
        arcs = random_arcs(n, 4, rng)
        scores = random_scores(kind, n, rng)
        constraints = {"required": arcs[:2], "forbidden": arcs[2:]}
        agrees_with_exhaustion(scores, single_root=single_root, projective=projective, **constraints)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("kind", ["normal", "tied", "root_attractive", "finitely_masked"])
@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_the_first_k_of_all(kind, k, projective, rng):
    for _ in range(20):
        scores = random_scores(kind, 5, rng)
        weights = weights_of_all_trees(scores, single_root=True, projective=projective)[1]
        found = kbest(scores, k, projective=projective)
        assert found[0][0].tolist() == decode(scores, projective=projective).tolist()
        np.testing.assert_allclose(
            [weight for _, weight in found], weights[:k], rtol=1e-12, atol=1e-12 * abs(weights[0])
        )


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("kind", ["normal", "tied", "all_equal", "root_attractive", "huge", "tiny"])
@pytest.mark.parametrize("n", [12, 25, 60])
def test_longer_sentences(kind, n, projective, rng):
    """Distinct single-rooted trees, best first, the same on every run.

    The second is the best of those that lack an arc of the best one.
    """
    scores = random_scores(kind, n, rng, np.float32)
    found = kbest(scores, 20, projective=projective)
    weights = [weight for _, weight in found]
    assert weights == sorted(weights, reverse=True)
    assert len({tuple(heads.tolist()) for heads, _ in found}) == 20
    assert all(is_tree(heads) and count_roots(heads) == 1 for heads, _ in found)
    assert all(is_projective(heads) for heads, _ in found) or not projective
    for again in (scores, scores.astype(np.float64)):
        trees = [heads.tolist() for heads, _ in kbest(again, 20, projective=projective)]
        assert trees == [heads.tolist() for heads, _ in found]
    others = [
        total(scores, decode(scores, forbidden=[(i + 1, head)], projective=projective))
        for i, head in enumerate(found[0][0].tolist())
    ]
    np.testing.assert_allclose(max(others), weights[1], rtol=1e-12)
    assert tree_margin(scores, projective=projective) == pytest.approx(weights[0] - weights[1], rel=1e-9)


def test_a_batch_is_cut_and_a_fault_names_its_sentence(rng):
    lengths = [3, 0, 5]
    padded = rng.normal(size=(3, 7, 7))
    for projective in (True, False):
        found = kbest_batch(padded, 4, lengths, layout="square", projective=projective)
        for trees, matrix, n in zip(found, padded, lengths, strict=True):
            expected = kbest(matrix[1 : n + 1, : n + 1], 4, projective=projective)
            assert [(heads.tolist(), weight) for heads, weight in trees] == [
                (heads.tolist(), weight) for heads, weight in expected
            ]
    padded[2, 1:, 0] = -np.inf
    with pytest.raises(errors.NoRootError, match="sentence 3 of the batch") as caught:
        kbest_batch(padded, 4, lengths, layout="square")
    assert caught.value.sentence == 2


def test_the_margin(rng):
    for n in (2, 3, 5):
        scores = random_scores("normal", n, rng)
        weights = weights_of_all_trees(scores, single_root=True)[1]
        assert tree_margin(scores) == pytest.approx(weights[0] - weights[1])
    assert tree_margin(np.zeros((4, 5))) == 0
    assert tree_margin([[1, 0]]) == np.inf
    assert tree_margin([[5, 0, 1], [4, 3, 0]], required=[(1, 0)], forbidden=[]) == np.inf
    assert tree_margin([[5, 0, 1], [4, 3, 0]], single_root=False) == 1


def test_other_layouts_and_no_tokens():
    square = [[0, 0, 0], [5, 0, 1], [4, 3, 0]]
    assert [heads.tolist() for heads, _ in kbest(square, 9, layout="square")] == [[0, 1], [2, 0]]
    ((heads, weight),) = kbest([], 3)
    assert heads.tolist() == [] and weight == 0


def test_scores_near_the_largest_double(rng):
    for _ in range(20):
        scores = rng.integers(-7, 8, (4, 5)).astype(float)
        found, expected = kbest(scores * 2.0**1021, 64), kbest(scores, 64)
        assert [heads.tolist() for heads, _ in found] == [heads.tolist() for heads, _ in expected]
        assert [weight * 0.5**64 for _, weight in found if abs(weight) < np.inf] == [
            weight * 2.0**957 for _, weight in expected if abs(weight) < 8
        ]


@pytest.mark.parametrize("single_root", [True, False])
def test_the_margin_of_scores_near_the_largest_double(single_root, rng):
    """The exact difference, though both weights may be infinite."""
    for _ in range(200):
        scores = extreme_scores(rng.integers(1, 5), rng)
        _, _, _, log_p = exact_distribution(scores, single_root=single_root)
        ahead = -np.diff(np.sort(log_p)[::-1][:2])
        found = tree_margin(scores, single_root=single_root)
        assert found >= 0
        if len(ahead) == 0:
            assert found == np.inf
        elif ahead[0] < 1e290:  # may be lost next to the largest scores, as it is in the weights
            assert found == pytest.approx(ahead[0], abs=1e-9) or (found < 10 and np.abs(scores).max() > 1e300)
        else:
            assert found > 1e299
    for _ in range(100):
        n = rng.integers(2, 5)
        scores = rng.integers(-7, 8, (n, n + 1)).astype(float)
        found, expected = (tree_margin(scores * scale, single_root=single_root) for scale in (2.0**1020, 1))
        assert found == expected * 2.0**1020
    assert tree_margin(np.full((4, 5), 1.5e308)) == tree_margin(np.full((4, 5), -1.5e308)) == 0
    assert tree_margin([[1.5e308, 0, -1.5e308], [1.5e308, 1.5e308, 0]]) == np.inf  # 3e308


def test_the_first_tree_is_the_one_of_decode(rng):
    """Also where rounding hides which of two trees is better."""
    examples = [np.array([[1e16, 1e15, 1e300], [-1e300, 0, 1e15]])]
    for _ in range(300):
        n = rng.integers(2, 5)
        examples.append(rng.normal(size=(n, n + 1)) * rng.choice([1, 1e16, 1e250, 1e300], (n, n + 1)))
    for scores, projective in product(examples, [True, False]):
        for k in (1, 2, 5):
            trees = kbest(scores, k, projective=projective)
            assert np.array_equal(trees[0][0], decode(scores, projective=projective))
            weights = [weight for _, weight in trees]
            assert weights[1:] == sorted(weights[1:], reverse=True)
            assert all(weight == tree_weight(scores, heads) for heads, weight in trees)
        assert tree_margin(scores, projective=projective) >= 0


def test_the_trees_are_ones_own(rng):
    found = kbest(rng.normal(size=(4, 5)), 2)
    found[0][0][:] = 0  # writable


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", None, True, DATE, int, 1 << 40])
def test_a_number_of_trees_that_is_none(k):
    with pytest.raises(errors.CountError, match="k is"):
        kbest([[1, 0]], k)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_are_no_scores_and_no_constraints(value):
    for function in (lambda scores, **options: kbest(scores, 2, **options), tree_margin):
        with pytest.raises((errors.ScoresTypeError, errors.ScoresShapeError)):
            function(value)
        with pytest.raises(errors.ConstraintsError):
            function(np.zeros((2, 3)), required=value)
        with pytest.raises(errors.ConstraintsError):
            function(np.zeros((2, 3)), forbidden=[(1, value)])


def test_errors_are_those_of_decode():
    for scores, options, error in (
        ([[np.nan, 0]], {}, errors.InvalidScoreError),
        ([[-np.inf, 0]], {}, errors.NoRootError),
        ([[0, 0, 0], [0, 0, 0]], {"required": [(1, 2), (2, 1)]}, errors.ConflictError),
        ([[0, 0, 0]], {}, errors.ScoresShapeError),
    ):
        with pytest.raises(error):
            kbest(scores, 2, **options)
