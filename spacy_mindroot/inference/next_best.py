"""The k best trees of a sentence, and how far the best is ahead of the second."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..constraints import Arc
from ..core import _core
from ..core.fault import Fault
from ..decoding import Heads, constrain_scores
from ..errors import CountError
from ..faults import decoding_error
from ..scores import FloatArray, Layout, to_root_column


def kbest(
    scores: npt.ArrayLike,
    k: int,
    *,
    single_root: bool = True,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    layout: Layout = "root_column",
) -> list[tuple[Heads, float]]:
    """The k best trees of a sentence, best first, no two of them the same.

    Parameters
    ----------
    scores : array-like, (n, n+1)
        Arc scores, as for `decode`.
    k : int
        How many trees, at least 1.
    single_root, required, forbidden, layout
        As for `decode`.

    Returns
    -------
    list of (heads, weight)
        Heads as from `decode`, and the sum of their arc scores, as from `tree_weight`. The first is the tree that `decode`
        gives; the weights never increase. Where fewer than k trees exist, all of them.

    Raises
    ------
    As `decode`; CountError if k is no positive int.

    Notes
    -----
    O(k n^2) time: the trees are split into subspaces by included and excluded arcs (Lawler 1972), and the next best tree of
    each is found with one arc exchange and one decoding (Camerini et al. 1980; with a root constraint Zmigrod, Vieira and
    Cotterell 2021). Trees of equal weight come in an order that is the same on every run, but otherwise arbitrary. Weights
    are compared in double precision: trees that differ by less than its rounding count as equal.

    Examples
    --------
    >>> kbest([[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]], 2)
    [(array([0, 1, 2], dtype=int32), 200.0), (array([0, 1, 1], dtype=int32), 180.0)]
    """
    count = to_count(k, "k")
    required, forbidden = list(required), list(forbidden)
    matrix = to_root_column(scores, layout)
    if required or forbidden:
        matrix = constrain_scores(matrix, required=required, forbidden=forbidden, single_root=single_root)
    trees = kbest_matrix(matrix, count, single_root=single_root)
    if isinstance(trees, Fault):
        raise decoding_error(trees, matrix)
    return trees


def tree_margin(
    scores: npt.ArrayLike,
    *,
    single_root: bool = True,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    layout: Layout = "root_column",
) -> float:
    """By how much the best tree outweighs the second best: 0 where they are equally good, inf if there is only one.

    Parameters and errors as for `kbest`.
    """
    trees = kbest(scores, 2, single_root=single_root, required=required, forbidden=forbidden, layout=layout)
    return margin_of(trees)


def kbest_matrix(matrix: FloatArray, k: int, *, single_root: bool = True) -> list[tuple[Heads, float]] | Fault:
    """`kbest` without the checks, of a matrix from `to_root_column`; a fault of the core is returned."""
    n = len(matrix)
    if n == 0:
        return [(np.empty(0, dtype=np.int32), 0.0)]
    found = _core.k_best(matrix, k, single_root)
    if isinstance(found, Fault):
        return found
    trees = np.frombuffer(found, dtype=np.int32).reshape(-1, n)
    arcs = matrix[np.arange(n), trees].astype(np.float64).tolist()
    # The core compares weights relative to the best tree; as sums they may come out of order by their rounding.
    return sorted(zip(trees, map(_sum, arcs), strict=True), key=lambda tree: -tree[1])


def margin_of(trees: list[tuple[Heads, float]]) -> float:
    """The margin, given the two best trees, or the only one."""
    return trees[0][1] - trees[1][1] if len(trees) > 1 else math.inf


def to_count(number: int, name: str) -> int:
    """`number` as an int of at least 1. Raises CountError if it is none."""
    try:
        count = number.__index__()
    except AttributeError as error:
        raise CountError(f"{name} is a number of trees, an int; found {number!r}.") from error
    if not 1 <= count <= 1 << 30:
        raise CountError(f"{name} is {count}: ask for at least one tree, and for no more than 2 ** 30.")
    return count


def _sum(scores: list[float]) -> float:
    try:
        return math.fsum(scores)
    except OverflowError:  # scores near the largest double: inf only if the sum is
        return math.fsum(score * 0.5**64 for score in scores) * 2.0**64
