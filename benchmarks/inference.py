"""Times marginals, and compares them with the inverse of the Laplacian."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from spacy_mindroot.inference import log_partition, marginals, sample

LENGTHS = (10, 25, 50, 100, 200, 400)


def time_inference(repeats: int) -> Iterator[tuple[int, dict[str, float]]]:
    """For each length the median seconds for a sentence, of each way; all sentences of the length in one call."""
    rng = np.random.default_rng(0)
    for n in LENGTHS:
        batch = rng.normal(0, 3, (max(2, 4000 // n if n < 200 else 0), n, n + 1))
        ways: dict[str, Callable[[], object]] = {
            "marginals": lambda batch=batch: [marginals(scores) for scores in batch],
            "log_partition": lambda batch=batch: [log_partition(scores) for scores in batch],
            "numpy.linalg": lambda batch=batch: marginals_by_inverse(batch),
            "sample": lambda batch=batch: [sample(scores, 1, rng) for scores in batch],
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(repeats + 1):
            for name, run in ways.items():
                began = time.thread_time()
                run()
                times[name].append((time.thread_time() - began) / len(batch))
        yield n, {name: float(np.median(seconds[1:])) for name, seconds in times.items()}


def wrong_sums(gaps: tuple[float, ...] = (5, 10, 15, 20, 25, 30)) -> Iterator[tuple[float, float, float]]:
    """Yield a gap, and how far the probabilities of a token's heads are from 1 in sum: ours, and by the inverse.

    The tokens stand in pairs that prefer each other to all else by a gap in their scores.
    """
    rng = np.random.default_rng(0)
    token = np.arange(24)
    for gap in gaps:
        scores = rng.normal(0, 1, (1, 24, 25))
        scores[:, token, (token ^ 1) + 1] += gap
        ours, by_inverse = (
            float(np.abs(found[0].sum(axis=1) - 1).max())
            for found in ([marginals(scores[0])], marginals_by_inverse(scores))
        )
        yield gap, ours, by_inverse


def marginals_by_inverse(scores: np.ndarray) -> np.ndarray:
    """Koo et al. (2007), section 3.2, for a batch (sentences, n, n+1): the textbook's way, in numpy."""
    n = scores.shape[1]
    token = np.arange(n)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    roots, arcs = weights[:, :, 0], weights[:, :, 1:]
    arcs[:, token, token] = 0
    laplacian = -arcs.transpose(0, 2, 1)
    laplacian[:, token, token] = arcs.sum(axis=2)
    laplacian[:, 0, :] = roots
    inverse = np.linalg.inv(laplacian)
    found = np.zeros_like(weights)
    found[:, :, 0] = roots * inverse[:, :, 0]
    of_dependent = (token != 0) * inverse[:, token, token]
    found[:, :, 1:] = arcs * (of_dependent[:, :, np.newaxis] - (token != 0) * inverse)
    return found
