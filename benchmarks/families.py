"""Input families for the benchmarks, seeded, so that figures compare. Matrices are float32 (n, n+1), self arcs -inf."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spacy_mindroot import count_roots, greedy_heads, is_tree

Maker = Callable[[int, np.random.Generator, int], np.ndarray]


def parser(n: int, rng: np.random.Generator, index: int) -> np.ndarray:
    """Return scores like those of a trained parser: peaked log-softmax rows. Greedy heads fail in 1 of 10 sentences."""
    spoiled = index % 10 == 9
    tokens = np.arange(n)
    while True:
        heads = _tree_of_near_heads(n, rng)
        scores = _without_self_arcs(rng.normal(0, 2, (n, n + 1)))
        scores[tokens, heads] = -np.inf
        scores[tokens, heads] = np.maximum(scores.max(axis=1), 0) + rng.gamma(2, 2, n) + 0.05
        if spoiled:
            for token in rng.integers(0, n, rng.integers(1, 4)):
                wrong = rng.integers(0, n + 1) if rng.random() < 0.7 else 0
                if wrong != token + 1:
                    scores[token, wrong] = scores[token, heads[token]] + rng.gamma(1, 0.5)
        scores -= scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        greedy = greedy_heads(scores)
        if (is_tree(greedy) and count_roots(greedy) == 1) != spoiled:
            return scores


def uniform(n: int, rng: np.random.Generator, _: int) -> np.ndarray:
    """Random scores: a handful of cycles in nearly every sentence."""
    return rng.random((n, n + 1))


def nested(n: int, rng: np.random.Generator, _: int) -> np.ndarray:
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


def root_half(n: int, rng: np.random.Generator, _: int) -> np.ndarray:
    """Half of the tokens prefer ROOT: half of the root arcs must be swapped away."""
    scores = rng.normal(0, 1, (n, n + 1))
    scores[rng.permutation(n)[: max(1, n // 2)], 0] += 10
    return scores


def root_all(n: int, rng: np.random.Generator, _: int) -> np.ndarray:
    """All tokens prefer ROOT: the worst case of the root constraint."""
    scores = rng.normal(0, 1, (n, n + 1))
    scores[:, 0] += 10
    return scores


FAMILIES: dict[str, Maker] = {
    "parser": parser,
    "uniform": uniform,
    "nested": nested,
    "root_half": root_half,
    "root_all": root_all,
}


def sentences(family: str, n: int, count: int | None = None, seed: int = 20201116) -> list[np.ndarray]:
    """`count` matrices of a family: by default 20 of `parser`, 8 of the others."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family), n])
    count = count or (20 if family == "parser" else 8)
    batch = (_without_self_arcs(FAMILIES[family](n, rng, index)) for index in range(count))
    return [np.ascontiguousarray(scores, dtype=np.float32) for scores in batch]


def _without_self_arcs(scores: np.ndarray) -> np.ndarray:
    n = len(scores)
    scores[np.arange(n), np.arange(n) + 1] = -np.inf
    return scores


def _tree_of_near_heads(n: int, rng: np.random.Generator) -> np.ndarray:
    """Heads of a random tree with one root, in which near heads are likelier."""
    order = rng.permutation(n)
    heads = np.zeros(n, dtype=np.int64)
    for placed in range(1, n):
        nearness = 1 / (1 + np.abs(order[:placed] - order[placed]))
        heads[order[placed]] = rng.choice(order[:placed], p=nearness / nearness.sum()) + 1
    return heads
