"""Sampling: frequencies against probabilities, for both methods of drawing, with and without replacement."""

from collections import Counter

import numpy as np
import pytest

from generators import DATE, NO_NUMBERS, all_trees, exact_distribution, extreme_scores
from spacy_mindroot import count_roots, errors, is_tree
from spacy_mindroot.inference import marginals, sample

DRAWS = 20_000


def tree_probabilities(scores, *, single_root):
    """Return the probability of each tree that has any, by its heads."""
    n = len(scores)
    trees, single = all_trees(n)
    if single_root:
        trees = trees[single]
    weights = scores[np.arange(n), trees].sum(axis=1)
    p = np.exp(weights - weights.max())
    return {tuple(heads): value for heads, value in zip(trees.tolist(), p / p.sum(), strict=True) if value > 0}


def assert_frequencies(counts, probabilities):
    """Chi-square within five standard deviations. Outcomes expected less than ten times are pooled."""
    draws = sum(counts.values())
    assert counts.keys() <= probabilities.keys()
    cells = Counter(), Counter()
    for outcome, p in probabilities.items():
        cell = outcome if p * draws >= 10 else "rare"
        cells[0][cell] += counts[outcome]
        cells[1][cell] += p * draws
    if cells[1]["rare"] < 10:
        assert cells[0].pop("rare", 0) < 40
        del cells[1]["rare"]
    chi_square = sum((cells[0][cell] - expected) ** 2 / expected for cell, expected in cells[1].items())
    freedom = len(cells[1]) - 1
    assert chi_square < freedom + 5 * np.sqrt(2 * freedom) + 10, (chi_square, freedom)


def plain(rng, n):
    return rng.normal(0, 1, (n, n + 1))


def masked(rng, n):
    scores = plain(rng, n)
    scores[1:, 0] = -np.inf  # one possible root, and some other arcs are missing
    scores[-1, 2:4] = -np.inf
    return scores


def in_pairs(rng, n):
    """Tokens that nearly always have each other as head: a walk hardly ever ends, so the other method is used."""
    scores = plain(rng, n)
    partner = np.arange(n) ^ 1
    inside = partner < n
    scores[np.arange(n)[inside], partner[inside] + 1] += 50
    return scores


def in_far_pairs(rng, n):
    """The same, with weights too far apart for doubles."""
    scores = in_pairs(rng, n)
    scores[scores > 20] += 1000
    return scores


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("make", [plain, masked, in_pairs, in_far_pairs])
@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_trees_come_as_often_as_they_are_probable(make, n, single_root, rng):
    scores = make(rng, n)
    draws = sample(scores, DRAWS, rng, single_root=single_root)
    assert draws.shape == (DRAWS, n) and draws.dtype == np.int32
    counts = Counter(map(tuple, draws.tolist()))
    assert_frequencies(counts, tree_probabilities(scores, single_root=single_root))


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("spread", [1, 20])
@pytest.mark.parametrize("n", [10, 60])
def test_long_sentences(n, spread, single_root, rng):
    scores = rng.normal(0, spread, (n, n + 1)).astype(np.float32)
    size = 2000 if n * spread < 200 else 20
    draws = sample(scores, size, rng, single_root=single_root)
    assert all(is_tree(heads) and (not single_root or count_roots(heads) == 1) for heads in draws)
    found = (draws[:, :, np.newaxis] == np.arange(n + 1)).mean(axis=0)
    p = marginals(scores, single_root=single_root)
    assert (np.abs(found - p) <= 6 * np.sqrt(p * (1 - p) / size) + 6 / size).all()


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("make", [plain, masked, in_pairs])
def test_without_replacement_each_tree_comes_once(make, single_root, rng):
    scores = make(rng, 4)
    trees = tree_probabilities(scores, single_root=single_root)
    draws = sample(scores, 1000, rng, replace=False, single_root=single_root).tolist()
    assert sorted(map(tuple, draws)) == sorted(trees)
    assert sample(scores, 3, rng, replace=False, single_root=single_root).shape == (3, 4)


def test_without_replacement_in_proportion_to_what_is_left(rng):
    scores = plain(rng, 3)
    trees = tree_probabilities(scores, single_root=True)
    pairs = {(a, b): trees[a] * trees[b] / (1 - trees[a]) for a in trees for b in trees if a != b}
    draws = [sample(scores, 2, rng, replace=False).tolist() for _ in range(4000)]
    assert_frequencies(Counter((tuple(a), tuple(b)) for a, b in draws), pairs)


def test_without_replacement_after_a_tree_that_is_all_but_certain(rng):
    """The probability of the remaining trees is not computed by subtraction."""
    scores = plain(rng, 4)
    best = np.array([2, 0, 2, 3])
    scores[np.arange(4), best] += 60
    draws = sample(scores, 1000, rng, replace=False)
    assert draws[0].tolist() == best.tolist() and len(draws) == len(tree_probabilities(scores, single_root=True))
    distance = (draws != best).sum(axis=1)
    assert (np.diff(distance) >= 0).all(), "each further arc makes a tree 1e26 times less probable"


@pytest.mark.parametrize("replace", [True, False])
def test_the_same_seed_gives_the_same_trees(replace, rng):
    scores = plain(rng, 8)
    draws = [sample(scores, 20, seed, replace=replace).tolist() for seed in (7, np.random.default_rng(7), 8)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("replace", [True, False])
def test_no_trees_no_tokens_and_no_sense(replace, rng):
    assert sample(plain(rng, 3), 0, rng, replace=replace).shape == (0, 3)
    assert sample([], 2, rng, replace=replace).shape == ((2, 0) if replace else (1, 0))
    for size in (-1, 2.5, "3", None, True, DATE, [2], np.array([2, 2]), 1 << 40):
        with pytest.raises(errors.CountError, match="size is .*a number of trees"):
            sample(plain(rng, 3), size, rng, replace=replace)
    for seed in (-1, 2.5, "ab", True, DATE, object(), [None], {}, 1j, np.array(["2020"], dtype="M8[D]")):
        with pytest.raises(errors.SeedError, match="rng is"):
            sample(plain(rng, 3), 1, seed, replace=replace)
    for value in NO_NUMBERS:
        with pytest.raises((errors.ScoresTypeError, errors.ScoresShapeError)):
            sample(value, 1, rng, replace=replace)
    with pytest.raises(errors.NoRootError):
        sample([[-np.inf, 0, 0], [-np.inf, 0, 0]], 1, rng, replace=replace)


@pytest.mark.parametrize("rng", [None, 3, [1, 2], np.random.SeedSequence(3), np.random.PCG64(3), np.int64(3)])
def test_every_source_of_randomness_of_numpy(rng):
    assert is_tree(sample(np.zeros((3, 4)), 1, rng)[0])


@pytest.mark.parametrize("single_root", [True, False])
def test_scores_near_the_largest_double(single_root, rng):
    """Only trees of any probability come, and without replacement the most probable first."""
    drawn = 0
    for _ in range(100):
        scores = extreme_scores(rng.integers(1, 5), rng)
        trees, probabilities, _, _ = exact_distribution(scores, single_root=single_root)
        likely = {tuple(heads) for heads, p in zip(trees.tolist(), probabilities, strict=True) if p > 1e-30}
        try:
            assert set(map(tuple, sample(scores, 10, rng, single_root=single_root).tolist())) <= likely
            first = sample(scores, len(likely), rng, replace=False, single_root=single_root).tolist()
        except errors.ScoreRangeError:
            continue
        drawn += 1
        # Trees of vanishing probability come after all others.
        assert set(map(tuple, first)) == likely
    assert drawn > 30


def test_scores_that_are_too_far_apart():
    scores = [[1.5e308, 0, -1.5e308], [0, 0, 0]]
    assert sample(scores, 3, 1).tolist() == [[0, 1]] * 3
    assert sample(scores, 3, 1, replace=False).tolist() == [[0, 1]]  # the other tree needs a masked arc
    for replace in (True, False):
        with pytest.raises(errors.ScoreRangeError):
            sample([[-1.5e308, 0, 1.5e308], [-1.5e308, 1.5e308, 0]], 3, 1, replace=replace)
