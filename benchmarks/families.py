"""Input families for the benchmarks, seeded, so that figures compare. Matrices are float32 (n, n+1), self arcs -inf."""

from __future__ import annotations

import numpy as np


def nested(n: int, rng: np.random.Generator) -> np.ndarray:
    """n-1 nested cycles of two: the deepest contraction there is."""
    scores = rng.uniform(-20, -10, (n, n + 1))
    scores[:, 0] = -30 - rng.random(n)
    scores[np.arange(1, n), np.arange(1, n)] = 0  # every token's head is the one before it,
    scores[0, 2:] = -np.arange(2, n + 1) * (4 / n)  # and the first token's heads are ever further away
    order = rng.permutation(n)
    columns = np.concatenate([[0], order + 1])
    shuffled = np.empty_like(scores)
    shuffled[np.ix_(order, columns)] = scores
    return shuffled


def root_all(n: int, rng: np.random.Generator) -> np.ndarray:
    """All tokens prefer ROOT: the worst case of the root constraint."""
    scores = rng.normal(0, 1, (n, n + 1))
    scores[:, 0] += 10
    return scores


FAMILIES = {"nested": nested, "root_all": root_all}


def sentences(family: str, n: int, count: int, seed: int = 20201116) -> list[np.ndarray]:
    """`count` matrices of a family."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family), n])
    batch = []
    for _ in range(count):
        scores = FAMILIES[family](n, rng)
        scores[np.arange(n), np.arange(n) + 1] = -np.inf
        batch.append(np.ascontiguousarray(scores, dtype=np.float32))
    return batch
