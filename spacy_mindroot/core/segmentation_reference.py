"""The best division of a text into sentences with a single-rooted tree each, in plain Python.

For readers, and for tests of the compiled core. `segment` has the signature of `_inference.segment`. It computes the
tree of every possible sentence.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .fault import Fault, FaultKind
from .reference import decode

__all__ = ["Segmented", "log_partition", "segment"]


class Segmented(NamedTuple):
    """A text that is divided into sentences.

    Attributes
    ----------
    lengths : ndarray of int32, (sentences,)
        The number of tokens of each sentence.
    heads : ndarray of int32, (n,)
        The head of each token in its sentence: 0 = ROOT, j = token j of the sentence.
    value : float
        The score of the division.
    loss : float
        What skipping unlikely places can have cost, at most. 0 if no place was skipped.
    trees : int
        The number of trees that were computed.
    """

    lengths: npt.NDArray[np.int32]
    heads: npt.NDArray[np.int32]
    value: float
    loss: float
    trees: int


def segment(
    window: npt.NDArray[np.floating[Any]],
    starts: npt.NDArray[np.float64],
    max_length: int,
    by_partition: bool = False,
    least: float = -math.inf,
    band: int = -1,
) -> Segmented | Fault | None:
    """Return the best division of a text into sentences with a single-rooted tree each.

    The score of a division is the sum, over its sentences, of the evidence that a sentence begins at the first token,
    and of the weight of the best tree.

    Parameters
    ----------
    window : ndarray of float32 or float64, (n, n+1) or (n, 2 * band + 2)
        Arc scores of n > 0 tokens whose sentences are not known, `[dependent, head]`, column 0 = ROOT. With a band,
        column 1 + band + d of row i is token i + d. It must be at least ``max_length - 1``.
    starts : ndarray of float64, (n,)
        The evidence that a sentence begins at each token, -inf if it certainly does not, inf if it certainly does. The
        first token always begins one, and its evidence does not count.
    max_length : int
        The number of tokens that a sentence may have.
    by_partition : bool
        Use the logarithm of the partition function instead of the weight of the best tree.
    least : float
        No sentence begins where the evidence is below this, unless there would be no division otherwise. Where it has
        no other place for `max_length` tokens, all places count.
    band : int
        See `window`; -1 for none.

    Returns
    -------
    Segmented, Fault or None
        Of equally good divisions, the one whose last sentence is the longest, and so on backwards. A Fault if a score
        is NaN or inf; None if there is no division.
    """
    n = len(window)
    certain = [token for token in range(1, n) if starts[token] == math.inf]

    def score(dependent: int, head: int) -> float:
        column = head + 1 if band < 0 else 1 + band + head - dependent
        return float(window[dependent, column])

    def within(dependent: int, head: int) -> bool:
        """Whether there can be a sentence with both tokens."""
        low, high = sorted((dependent, head))
        return low != high and high - low < max_length and not any(low < token <= high for token in certain)

    for dependent in range(n):
        if not window[dependent, 0] < math.inf:
            return Fault(FaultKind.NOT_FINITE, 0, dependent + 1, 0)
        for head in range(n):
            if within(dependent, head) and not score(dependent, head) < math.inf:
                return Fault(FaultKind.NOT_FINITE, 0, dependent + 1, head + 1)

    def sentence(first: int, end: int) -> npt.NDArray[np.floating[Any]]:
        size = end - first
        scores = np.zeros((size, size + 1), dtype=window.dtype)
        for i in range(size):
            scores[i, 0] = window[first + i, 0]
            for j in range(size):
                if i != j:
                    scores[i, j + 1] = score(first + i, first + j)
        return scores

    def tree(first: int, end: int) -> tuple[float, npt.NDArray[np.int32]]:
        """Return the score of the trees of a sentence, and the heads of the best."""
        scores = sentence(first, end)
        heads = np.zeros(end - first, dtype=np.int32)
        if decode(scores, heads) is not None:
            return -math.inf, heads
        if by_partition:
            return log_partition(scores), heads
        return sum(float(row[head]) for row, head in zip(scores, heads, strict=True)), heads

    def search(places: list[int]) -> tuple[float, list[tuple[int, int]]] | None:
        """Return the score of the best division that uses these places only, and its sentences."""
        best: dict[int, tuple[float, int]] = {0: (0.0, -1)}
        for end in [*places, n]:
            for first in sorted(best):
                if end - first > max_length or any(first < token < end for token in certain):
                    continue
                evidence = 0.0 if first == 0 or first in certain else float(starts[first])
                value = best[first][0] + (evidence + tree(first, end)[0])
                if value > -math.inf and (end not in best or value > best[end][0]):
                    best[end] = (value, first)
        if n not in best:
            return None
        bounds, end = [], n
        while end > 0:
            bounds.append((best[end][1], end))
            end = best[end][1]
        return best[n][0], bounds[::-1]

    allowed = [token for token in range(1, n) if starts[token] > -math.inf]
    places = [token for token in allowed if starts[token] >= least]
    for low, high in zip([0, *places], [*places, n], strict=True):
        if high - low > max_length:
            places = sorted({*places, *(token for token in allowed if low < token < high)})
    found = search(places)
    best = search(allowed) if found is None or len(places) < len(allowed) else found
    if best is None:
        return None
    value, bounds = found or best
    heads = np.concatenate([tree(*bound)[1] for bound in bounds])
    lengths = np.array([end - first for first, end in bounds], dtype=np.int32)
    return Segmented(lengths, heads, value, best[0] - value, 0)


def log_partition(scores: npt.NDArray[np.floating[Any]]) -> float:
    """Return the logarithm of the sum of exp(weight) over the single-rooted trees of a sentence, if there are any.

    It is a determinant (Koo et al. 2007, "Structured prediction models via the Matrix-Tree theorem"), which loses
    digits where tokens strongly prefer each other. The compiled core does not.
    """
    values = scores.astype(np.float64)
    np.fill_diagonal(values[:, 1:], -np.inf)
    shift = values.max(axis=1)
    weights = np.exp(values - shift[:, np.newaxis])
    laplacian = np.diag(weights[:, 1:].sum(axis=1)) - weights[:, 1:]
    laplacian[:, 0] = weights[:, 0]
    return float(np.linalg.slogdet(laplacian)[1] + shift.sum())
