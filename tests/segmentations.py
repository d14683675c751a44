"""Random texts to divide into sentences, and the best division of each by exhaustive search."""

from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from generators import total

KINDS = {
    "normal": lambda rng, shape: rng.normal(0, 3, shape),
    "tied": lambda rng, shape: rng.integers(0, 3, shape).astype(float),
    "equal": lambda rng, shape: np.zeros(shape),
    "forbidding": lambda rng, shape: np.where(rng.random(shape) < 0.3, -np.inf, rng.integers(-9, 9, shape)),
    "sparse": lambda rng, shape: np.where(rng.random(shape) < 0.6, -np.inf, rng.integers(0, 3, shape)),
    "log-probabilities": lambda rng, shape: np.log(rng.dirichlet(np.full(shape[1], 0.2), shape[0]) + 1e-9),
}
STARTS = {
    "normal": lambda rng, n: rng.normal(-1, 3, n),
    "tied": lambda rng, n: rng.integers(-2, 2, n).astype(float),
    "certain": lambda rng, n: rng.choice([-np.inf, np.inf, -1.0, 0.5], n),
}


def random_text(number, longest):
    """Return arc scores (n, n+1), the evidence for starts, and the greatest length of a sentence."""
    rng = np.random.default_rng(number)
    n = int(rng.integers(1, longest + 1))
    kind = list(KINDS)[number % len(KINDS)]
    window = KINDS[kind](rng, (n, n + 1))
    window[np.arange(n), np.arange(n) + 1] = rng.choice([np.nan, np.inf, -np.inf, 0])  # self arcs are never read
    if number % 4 == 0:
        window = window.astype(np.float32)
    starts = STARTS[list(STARTS)[number // len(KINDS) % len(STARTS)]](rng, n)
    return window, starts, int(rng.integers(1, n + 2)), rng


@lru_cache
def single_rooted_trees(n):
    """Return all single-rooted trees over at most eight tokens, (n ** (n - 1), n). Independent of the package."""
    trees = []
    for root in range(n):
        choices = [[0] if token == root else [1 + head for head in range(n) if head != token] for token in range(n)]
        heads = np.stack([grid.ravel() for grid in np.meshgrid(*choices)], axis=1).astype(np.int8)
        above = np.concatenate([np.zeros((len(heads), 1), dtype=np.int8), heads], axis=1)
        for _ in range(3):  # each round doubles the distance that every token looks up, to 8
            above = np.take_along_axis(above, above.astype(np.intp), axis=1)
        trees.append(heads[~above.any(axis=1)])
    return np.concatenate(trees).astype(np.intp)


def score_of_trees(window, first, end, by_partition):
    trees = single_rooted_trees(end - first)
    own = window[first:end, [0, *range(first + 1, end + 1)]].astype(np.float64)
    weights = own[np.arange(end - first), trees].sum(axis=1)
    best = weights.max()
    return best + np.log(np.exp(weights - best).sum()) if by_partition and best > -np.inf else best


def divisions(n):
    for choice in product((False, True), repeat=n - 1):
        bounds = [0, *(token for token, begins in enumerate(choice, 1) if begins), n]
        yield list(zip(bounds[:-1], bounds[1:], strict=True))


def best_by_exhaustion(window, starts, max_length, by_partition=False, least=-np.inf):
    """Return the score of the best of all divisions that are allowed; -inf if there is none."""
    of_sentence = {}
    best = -np.inf
    certain = {token for token in range(1, len(window)) if starts[token] == np.inf}
    for bounds in divisions(len(window)):
        begins = {first for first, _ in bounds[1:]}
        if not certain <= begins or max(end - first for first, end in bounds) > max_length:
            continue
        if any(starts[token] < least for token in begins):
            continue
        value = sum(starts[token] for token in begins - certain)
        for bound in bounds:
            if bound not in of_sentence:
                of_sentence[bound] = score_of_trees(window, *bound, by_partition)
            value += of_sentence[bound]
        best = max(best, value)
    return best


def check(found, window, starts, max_length, by_partition=False):
    """Check that the result is what it says, and the best there is, up to its loss."""
    best = best_by_exhaustion(window, starts, max_length, by_partition)
    if found is None:
        assert best == -np.inf
        return
    assert found.lengths.sum() == len(window) and found.lengths.max() <= max_length
    value, first = 0.0, 0
    for length in found.lengths.tolist():
        own = window[first : first + length, [0, *range(first + 1, first + length + 1)]]
        heads = found.heads[first : first + length]
        assert (single_rooted_trees(length) == heads).all(axis=1).any()
        tree = total(own, heads)
        assert tree == pytest.approx(score_of_trees(window, first, first + length, False), abs=1e-9)
        value += score_of_trees(window, first, first + length, True) if by_partition else tree
        if first and starts[first] < np.inf:
            value += starts[first]
        first += length
    begins = np.cumsum(found.lengths)[:-1]
    assert set(np.flatnonzero(starts[1:] == np.inf) + 1) <= set(begins.tolist())
    assert not np.isneginf(starts[begins]).any()
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.value <= best + 1e-9 and best <= found.value + found.loss + 1e-9


def band_of(window, band):
    """Return a window (n, n+1) as a band (n, 2 * band + 2). What is beyond the window holds NaN."""
    n = len(window)
    result = np.full((n, 2 * band + 2), np.nan, dtype=window.dtype)
    result[:, 0] = window[:, 0]
    for i in range(n):
        for j in range(max(0, i - band), min(n, i + band + 1)):
            result[i, 1 + band + j - i] = window[i, j + 1]
    return result
