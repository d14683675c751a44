"""Random arc scores of every kind the decoder has to handle, all trees of a short sentence, random trees."""

from __future__ import annotations

import datetime
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

MASKS = (-1e4, -1e9, -1e32)


def _normal(rng, n):
    return rng.normal(0, 3, (n, n + 1))


def _masked(rng, n):
    scores = _normal(rng, n)
    scores[rng.random(scores.shape) < 0.4] = -np.inf
    return scores


def _finitely_masked(rng, n):
    scores = _normal(rng, n)
    masked = rng.random(scores.shape) < rng.choice([0.3, 0.7])
    scores[masked] = rng.choice(MASKS, size=masked.sum())
    return scores


def _root_attractive(rng, n):
    scores = _normal(rng, n)
    scores[:, 0] += 10
    return scores


KINDS = {
    "normal": _normal,
    "positive": lambda rng, n: np.abs(_normal(rng, n)),
    "tied": lambda rng, n: rng.integers(0, 3, (n, n + 1)).astype(float),
    "all_equal": lambda rng, n: np.full((n, n + 1), float(rng.integers(-2, 3))),
    "root_attractive": _root_attractive,
    "masked": _masked,
    "finitely_masked": _finitely_masked,
    "huge": lambda rng, n: _normal(rng, n) * 1e30,
    "tiny": lambda rng, n: _normal(rng, n) * 1e-30,
}


def random_scores(kind, n, rng, dtype=np.float64):
    """Return arc scores (n, n+1) of a kind. The self arcs hold NaN, which must make no difference."""
    scores = KINDS[kind](rng, n).astype(dtype)
    scores[np.arange(n), np.arange(n) + 1] = np.nan
    return scores


@lru_cache
def all_trees(n):
    """Return the heads of all trees over n tokens, (trees, n), and whether each has a single root."""
    trees = [heads for heads in product(range(n + 1), repeat=n) if reaches_root(heads)]
    trees = np.array(trees)
    return trees, (trees == 0).sum(axis=1) == 1


def reaches_root(heads):
    """Whether each token depends on ROOT, directly or through others. Independent of how the package decides it."""
    for token in range(1, len(heads) + 1):
        at = token
        for _ in heads:
            at = heads[at - 1] if at else 0
        if at:
            return False
    return True


def weights_of_all_trees(scores, *, single_root, required=(), forbidden=(), projective=False):
    """Return all trees that meet the constraints and have no arc of score -inf, and their weights: heaviest first."""
    n = len(scores)
    trees, single = all_trees(n)
    meets = single.copy() if single_root else np.ones(len(trees), dtype=bool)
    for dependent, head in required:
        meets &= trees[:, dependent - 1] == head
    for dependent, head in forbidden:
        meets &= trees[:, dependent - 1] != head
    if projective:
        meets &= np.array([not has_crossing_arcs(heads) for heads in trees.tolist()])
    trees = trees[meets]
    weights = scores.astype(np.float64)[np.arange(n), trees].sum(axis=1)
    order = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights > -np.inf)]
    return trees[order], weights[order]


def exact_distribution(scores, *, single_root):
    """Return trees, probabilities, weight of the best, log-probabilities, by exact sums; None if there is no tree."""
    trees, weights = weights_of_all_trees(np.where(np.isneginf(scores), scores, 0), single_root=single_root)
    if len(trees) == 0:
        return None
    exact = [[Fraction(score) if np.isfinite(score) else None for score in row] for row in scores.tolist()]
    sums = [sum(exact[i][head] for i, head in enumerate(heads)) for heads in trees.tolist()]
    best = max(sums)
    relative = np.array([float(max(weight - best, Fraction(-(10**300)))) for weight in sums])
    log_z = np.log(np.exp(relative).sum())
    return trees, np.exp(relative - log_z), best, relative - log_z


def extreme_scores(n, rng):
    """Scores near the largest double: all, or some, or as a finite mask, or as a constant on some rows."""
    scores = rng.integers(-3, 4, (n, n + 1)).astype(float)
    kind = rng.integers(4)
    if kind == 0:
        return scores * 2.0**1021
    if kind == 1:
        return np.where(rng.random(scores.shape) < 0.5, scores * 2.0**1021, scores)
    if kind == 2:
        return np.where(rng.random(scores.shape) < 0.3, -np.finfo(float).max, scores)
    return scores + np.where(rng.random((n, 1)) < 0.5, 1.5e308, 0)


def has_crossing_arcs(heads):
    arcs = [sorted((dependent, head)) for dependent, head in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def random_arcs(n, count, rng):
    """Return arcs (dependent, head) as in CoNLL-U."""
    dependents = rng.integers(1, n + 1, size=count)
    heads = rng.integers(0, n, size=count)
    return [(int(d), int(h + (h >= d))) for d, h in zip(dependents, heads, strict=True)]


def best_by_exhaustion(scores, *, single_root):
    """Return the greatest total score of all trees, -inf if there is none."""
    trees, single = all_trees(len(scores))
    if single_root:
        trees = trees[single]
    weights = scores.astype(np.float64)[np.arange(len(scores)), trees].sum(axis=1)
    return weights.max()


def total(scores, heads):
    return scores.astype(np.float64)[np.arange(len(heads)), heads].sum()


def random_tree(n, rng):
    """Return the heads of a random single-rooted tree. Mostly non-projective."""
    order = rng.permutation(n)
    heads = np.zeros(n, dtype=np.int32)
    for position in range(1, n):
        heads[order[position]] = order[rng.integers(position)] + 1
    return heads


def scores_of_tree(heads, rng, dtype=np.float32):
    """Return arc scores under which `heads` is the best single-rooted tree."""
    n = len(heads)
    scores = rng.normal(0, 1, (n, n + 1))
    scores[np.arange(n), heads] = 100
    return scores.astype(dtype)


def zigzag(n):
    """Return the heads of a path that leaps from end to end: the hardest tree for spaCy."""
    path = [token for pair in zip(range(n // 2, 0, -1), range(n // 2 + 1, n + 1), strict=True) for token in pair]
    heads = np.zeros(n, dtype=np.int32)
    heads[np.array(path[1:]) - 1] = path[:-1]
    return heads


DATE = datetime.date(2020, 11, 16)

# Objects that nobody may take for arc scores, heads, lengths or counts.
NO_NUMBERS = [
    None,
    True,
    2.5,
    float("nan"),
    1j,
    "ab",
    b"ab",
    object(),
    int,
    {1: 2},
    DATE,
    [None, None],
    [[None, 1, 2], [1, 2, 3]],
    [[DATE] * 3] * 2,
    np.array([[1, None, 2]] * 2, dtype=object),
    np.datetime64("2020"),
    np.array(["2020", "2021"], dtype="M8[D]"),
    np.zeros((2, 3), dtype="M8[D]"),
    np.zeros((2, 3), dtype="m8[s]"),
    np.zeros((2, 3), dtype="V4"),
    np.ones((2, 3), dtype=bool),
    np.array(3.0),
    [[10**400, 0, 0], [0, 0, 0]],
]


def uas(heads, gold):
    """Return the share of tokens with the gold head over several sentences. A gold head of -1 is unknown."""
    heads, gold = np.concatenate(heads), np.concatenate(gold)
    return (heads == gold)[gold >= 0].mean()
