"""Compares the compiled core with exhaustive search and with its twin in plain Python, on random sentences.

    python -m tests.fuzz.core_against_twin [--seconds N] [--seed N]

Each seed is one sentence, on which everything that the core computes is checked. Needs NumPy only, so that it starts
fast. A failure names its seed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # the helpers of the tests

from generators import all_trees, has_crossing_arcs, reaches_root
from spacy_mindroot.core import _core, _inference, reference
from spacy_mindroot.core.fault import Fault, FaultKind

HUGE = 2.0**1020
KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(0, 3, shape),
    "tied": lambda rng, shape: rng.integers(0, 3, shape).astype(float),
    "equal": lambda rng, shape: np.zeros(shape),
    "root": lambda rng, shape: rng.integers(-20, 20, shape) + np.where(np.arange(shape[1]) == 0, 30.0, 0),
    "forbidding": lambda rng, shape: np.where(rng.random(shape) < 0.4, -np.inf, rng.integers(-9, 9, shape)),
    "sparse": lambda rng, shape: np.where(rng.random(shape) < 0.6, -np.inf, rng.integers(0, 3, shape)),
    "masked": lambda rng, shape: np.where(rng.random(shape) < 0.4, -1e9, rng.normal(0, 3, shape)),
    "peaked": lambda rng, shape: rng.integers(0, 4, shape) * 200.0,
    "huge": lambda rng, shape: rng.integers(-15, 16, shape) * HUGE,  # below 2^1024
    "large": lambda rng, shape: rng.integers(-3, 4, shape) * HUGE / 2,  # below 2^1021
    "tiny": lambda rng, shape: rng.integers(-9, 10, shape) * 2.0**-1070,
    "broken": lambda rng, shape: np.where(rng.random(shape) < 0.1, rng.choice([np.nan, np.inf, -np.inf]), 1.0),
}


def scores_of_seed(seed: int, longest: int) -> tuple[str, np.ndarray, np.random.Generator]:
    """Return the kind, the arc scores (n, n+1) and the random generator of a seed. Self arcs hold anything."""
    rng = np.random.default_rng(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    n = int(rng.integers(1, longest + 1))
    scores = KINDS[kind](rng, (n, n + 1))
    scores[np.arange(n), np.arange(n) + 1] = rng.choice([np.nan, np.inf, -np.inf, 0, 1e308], n)
    return kind, scores, rng


def weights_of(scores: np.ndarray, trees: np.ndarray) -> np.ndarray:
    """The weights of trees, (trees, n), as long doubles, which don't overflow. -inf for forbidden arcs."""
    return scores.astype(np.longdouble)[np.arange(scores.shape[0]), trees].sum(axis=-1)


def decode(scores: np.ndarray, single_root: bool, *projective: bool, decoder=_core.decode) -> list[int] | Fault:
    heads = np.full(len(scores), -7, dtype=np.int32)
    fault = decoder(scores, heads, single_root, *projective)
    return heads.tolist() if fault is None else fault


def layouts(scores: np.ndarray) -> Iterator[np.ndarray]:
    """The same matrix in other layouts and types."""
    yield np.asfortranarray(scores)
    yield np.repeat(scores, 2, axis=1)[:, ::2]
    yield np.ascontiguousarray(scores[::-1])[::-1]
    with np.errstate(over="ignore"):
        floats = scores.astype(np.float32)
    if np.array_equal(floats, scores, equal_nan=True):
        yield floats
        yield np.asfortranarray(floats)


def check_decoding(scores: np.ndarray, single_root: bool) -> list[int] | Fault:
    """Check the best tree against exhaustive search (short sentences) or the twin (longer ones), and every layout."""
    n = len(scores)
    found = decode(scores, single_root)
    for layout in layouts(scores):
        assert decode(layout, single_root) == found
    scaled = (
        np.where(np.abs(scores) > 2.0**900, scores * 2.0**-200, scores) if np.nanmax(np.abs(scores)) > 1e300 else scores
    )
    twin = decode(scaled, single_root, decoder=reference.decode)
    if isinstance(found, Fault):
        assert isinstance(twin, Fault) and found.kind == twin.kind
        if found.kind in (FaultKind.NOT_FINITE, FaultKind.NO_HEAD):
            assert found == twin
        check_fault(scores, found)
        return found
    assert reaches_root(found) and (not single_root or found.count(0) == 1)
    assert isinstance(twin, list)
    slack = np.abs(scores[np.arange(n), found]).max() * 1e-12
    ours, theirs = weights_of(scores, np.array([found, twin]))
    assert abs(ours - theirs) <= slack
    if n <= 5:
        trees = trees_of(scores, single_root)
        assert abs(ours - weights_of(scores, trees).max()) <= slack
    return found


def trees_of(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """All trees of allowed arcs."""
    trees, single = all_trees(len(scores))
    if single_root:
        trees = trees[single]
    return trees[weights_of(scores, trees) > -np.inf]


def check_fault(scores: np.ndarray, fault: Fault) -> None:
    n = len(scores)
    allowed = ~np.isneginf(scores)
    reach = np.zeros((n + 1, n + 1), dtype=bool)  # [head, dependent]
    reach[:, 1:] = allowed.T
    reach[0, 0] = True
    np.fill_diagonal(reach, True)
    for middle in range(n + 1):
        reach |= reach[:, [middle]] & reach[[middle]]
    if fault.kind == FaultKind.NO_ARBORESCENCE:
        assert not reach[0, fault.dependent]
    if fault.kind == FaultKind.NO_SINGLE_ROOT:
        assert 1 <= fault.dependent < fault.head <= n
        assert not (reach[1:, fault.dependent] & reach[1:, fault.head]).any()


def check_projective(scores: np.ndarray, single_root: bool, best: list[int] | Fault) -> None:
    found = decode(scores, single_root, True)
    for layout in layouts(scores):
        assert decode(layout, single_root, True) == found
    if isinstance(best, Fault):
        assert found == best
        return
    if isinstance(found, list):
        assert reaches_root(found) and not has_crossing_arcs(found) and (not single_root or found.count(0) == 1)
        slack = np.abs(scores[np.arange(len(scores)), found]).max() * 1e-12
        ours, upper = weights_of(scores, np.array([found, best]))
        assert ours <= upper + slack and (has_crossing_arcs(best) or ours >= upper - slack)
    else:
        assert found.kind == FaultKind.NO_PROJECTIVE and has_crossing_arcs(best)
    if len(scores) <= 5:
        trees = trees_of(scores, single_root)
        trees = trees[[not has_crossing_arcs(heads) for heads in trees.tolist()]]
        if isinstance(found, list):
            assert abs(weights_of(scores, np.array(found)) - weights_of(scores, trees).max()) <= slack
        else:
            assert len(trees) == 0


def check_k_best(scores: np.ndarray, single_root: bool, best: list[int] | Fault, k: int) -> None:
    found = _core.k_best(scores, k, single_root)
    if isinstance(best, Fault):
        assert found == best
        return
    trees = np.frombuffer(found, dtype=np.int32).reshape(-1, len(scores))
    lists = trees.tolist()
    assert lists[0] == best and len({tuple(heads) for heads in lists}) == len(lists) <= k
    assert all(reaches_root(heads) and (not single_root or heads.count(0) == 1) for heads in lists)
    weights = weights_of(scores, trees)
    slack = np.abs(scores[np.arange(len(scores)), trees]).max() * 1e-11
    assert (np.diff(weights) <= slack).all()
    if len(scores) <= 5:
        exact = np.sort(weights_of(scores, trees_of(scores, single_root)))[::-1][:k]
        assert len(exact) == len(lists) and (np.abs(weights - exact) <= slack).all()
    fewer = _core.k_best(scores, max(1, k // 2), single_root)
    assert fewer == found[: len(fewer)]
    for layout in layouts(scores):
        assert _core.k_best(layout, k, single_root) == found


def check_batch(scores: np.ndarray, single_root: bool, best: list[int] | Fault, rng: np.random.Generator) -> None:
    count, n_threads = int(rng.integers(1, 80)), int(rng.integers(1, 5))
    n = len(scores)
    heads = np.full(count * n + 1, -7, dtype=np.int32)
    faults = _core.decode_batch([scores] * count, heads, single_root, n_threads)
    flat = np.full(count * n + 1, -7, dtype=np.int32)
    lengths = np.full(count, n, dtype=np.int64)
    assert _core.decode_flat(np.tile(scores.ravel(), count), lengths, flat, single_root, n_threads) == faults
    assert heads[-1] == flat[-1] == -7
    if isinstance(best, Fault):
        assert faults == [best._replace(sentence=k) for k in range(count)]
    else:
        assert faults == [] and heads[:-1].tolist() == flat[:-1].tolist() == best * count


def check_is_tree(n: int, rng: np.random.Generator) -> None:
    """Check `is_tree` on random heads, most of which form cycles, on random trees, and on paths."""
    order = rng.permutation(n) + 1
    path = np.zeros(n, np.int32)
    path[order[1:] - 1] = order[:-1]
    tree = path.copy()
    for at in range(1, n):
        tree[order[at] - 1] = order[rng.integers(at)]
    for heads in (path, tree, np.arange(2, n + 2) % (n + 1), np.arange(n), rng.integers(0, n + 1, n)):
        assert _core.is_tree(heads.astype(np.int32)) == reaches_root(heads.tolist())
    for wrong in (-1, n + 1, -(2**31), 2**31 - 1):
        heads = tree.copy()
        heads[rng.integers(n)] = wrong
        assert not _core.is_tree(heads)


def check_inference(scores: np.ndarray, single_root: bool, best: list[int], rng: np.random.Generator) -> None:
    """Check the partition function and the marginals by exhaustive search, and that samples are trees."""
    n = len(scores)
    marginals = np.full((n, n + 1), -7.0)
    log_partition = _inference.log_partition(scores, marginals, single_root)
    allowed = ~np.isneginf(scores)
    allowed[np.arange(n), np.arange(n) + 1] = False
    slack = 1e-10 * max(1, np.abs(scores[allowed]).max())
    alone = _inference.log_partition(np.asfortranarray(scores), None, single_root)
    assert abs(log_partition - alone) <= slack
    assert np.isfinite(marginals).all() and (marginals >= 0).all() and not marginals[~allowed].any()
    assert (np.abs(marginals.sum(axis=1) - 1) < 1e-9).all()
    assert not single_root or abs(marginals[:, 0].sum() - 1) < 1e-7
    if n <= 5:
        trees = trees_of(scores, single_root)
        weights = weights_of(scores, trees)
        probabilities = np.exp(weights - weights.max())
        exact = np.log(probabilities.sum()) + weights.max()
        assert abs(log_partition - exact) <= slack
        probabilities /= probabilities.sum()
        for dependent in range(n):
            expected = np.bincount(trees[:, dependent], weights=probabilities.astype(float), minlength=n + 1)
            assert (np.abs(marginals[dependent] - expected) <= slack).all()
    size = 4
    heads = np.full((size, n), -7, dtype=np.int32)
    roots = np.full(size, best.index(0), dtype=np.int32) if single_root else None
    _inference.sample_trees(scores, roots, int(rng.integers(2**63)), heads)
    for sample in heads.tolist():
        assert reaches_root(sample) and allowed[np.arange(n), sample].all()
        assert not single_root or [at for at, head in enumerate(sample) if head == 0] == [best.index(0)]


def check(seed: int, longest: int = 12) -> None:
    """Check everything on the sentence of one seed. Raises AssertionError."""
    kind, scores, rng = scores_of_seed(seed, longest if seed % 3 else 5)
    check_is_tree(len(scores), rng)
    for single_root in (True, False):
        best = check_decoding(scores, single_root)
        if kind == "broken":
            continue
        check_projective(scores, single_root, best)
        check_k_best(scores, single_root, best, int(rng.integers(1, 12)))
        check_batch(scores, single_root, best, rng)
        if isinstance(best, list) and kind not in ("huge", "large"):
            check_inference(scores, single_root, best, rng)


def run(seconds: float, seed: int = 0, count: int = 2**63) -> int:
    """Check one seed after another, at most `count`. Returns 0; a failure is raised, and its seed printed."""
    end, first = time.monotonic() + seconds, seed
    while time.monotonic() < end and seed < first + count:
        try:
            check(seed)
        except BaseException:
            print(f"seed {seed}: the core is wrong", file=sys.stderr)
            raise
        seed += 1
    print(f"{seed - first:,} sentences, nothing found")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=2**63)
    arguments = parser.parse_args()
    sys.exit(run(arguments.seconds, arguments.seed, arguments.count))
