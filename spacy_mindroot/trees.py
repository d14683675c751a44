"""What can be said of heads without decoding: weight, number of roots, whether they form a tree."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .core import _core
from .errors import HeadsError
from .scores import Layout, to_int_array, to_root_column

MISSING = -1  # the head of a token of which none is known, where that is allowed


def tree_weight(scores: npt.ArrayLike, heads: npt.ArrayLike, *, layout: Layout = "root_column") -> float:
    """The sum of the arc scores of `heads`, in double precision and rounded only once.

    Parameters
    ----------
    scores : array-like, (n, n+1)
        Arc scores, as for `decode`.
    heads : array-like of ints, (n,)
        0 = ROOT, j = token j-1. They need not form a tree, but no token is its own head.

    Returns
    -------
    float : -inf if an arc is forbidden.

    Raises
    ------
    HeadsError, ScoresShapeError, ScoresTypeError
    """
    matrix = to_root_column(scores, layout)
    array = to_heads(heads)
    n = len(matrix)
    if len(array) != n:
        raise HeadsError(f"{len(array)} heads for a sentence of {n} tokens.")
    wrong = (array < 0) | (array > n) | (array == np.arange(1, n + 1))
    if wrong.any():
        dependent = int(wrong.argmax()) + 1
        raise HeadsError(
            f"the head of dependent {dependent} is {array[dependent - 1]}. Heads are from 0 (ROOT) to {n}, and not the dependent itself."
        )
    weights = matrix[np.arange(n), array].astype(np.float64)
    try:
        return math.fsum(weights.tolist())
    except OverflowError:  # scores near the largest double
        with np.errstate(over="ignore"):
            return float(np.sum(weights))


def count_roots(heads: npt.ArrayLike) -> int:
    """How many tokens hang on ROOT (head 0). Raises HeadsError if `heads` are not a 1-D array of ints."""
    return int(np.count_nonzero(to_heads(heads) == 0))


def is_tree(heads: npt.ArrayLike) -> bool:
    """Do `heads` (0 = ROOT) form a tree: does every token hang on ROOT, directly or through others?

    Any number of tokens may be roots: see `count_roots`. A head out of range or a token that is its own head makes no
    tree. No tokens are a tree. Raises HeadsError if `heads` are not a 1-D array of ints.
    """
    array = to_heads(heads)
    if array.size and (array.min() < 0 or array.max() > len(array)):
        return False
    return bool(_core.is_tree(array.astype(np.int32)))


def nonprojective_arcs(heads: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which arcs are non-projective: some token between dependent and head does not hang on the head.

    Parameters
    ----------
    heads : array-like of ints, (n,)
        A tree, 0 = ROOT, j = token j-1. Arcs from ROOT, on which everything hangs, are projective.

    Returns
    -------
    np.ndarray of bool, (n,) : For the arc to each token. O(n^2).

    Raises
    ------
    HeadsError : If the heads form no tree.
    """
    array = to_heads(heads)
    if not is_tree(array):
        raise HeadsError(f"only arcs of a tree are projective or not; the heads {str(array.tolist())[:100]} form none.")
    n = len(array)
    found = np.zeros(n, dtype=bool)
    under = np.eye(n + 1, dtype=bool)  # under[h, d]: d hangs on h, or is h
    children: list[list[int]] = [[] for _ in range(n + 1)]
    for dependent, head in enumerate(array.tolist(), 1):
        children[head].append(dependent)
    order = [0]
    for head in order:
        order.extend(children[head])
    for dependent in reversed(order[1:]):  # those furthest from ROOT first
        under[array[dependent - 1]] |= under[dependent]
    for dependent, head in enumerate(array.tolist(), 1):
        low, high = min(dependent, head), max(dependent, head)
        found[dependent - 1] = head != 0 and not under[head, low + 1 : high].all()
    return found


def is_projective(heads: npt.ArrayLike) -> bool:
    """Is the tree projective: does it have no crossing arcs, those from ROOT included? Else as `nonprojective_arcs`."""
    return not nonprojective_arcs(heads).any()


def to_heads(heads: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """`heads` as an array. Raises HeadsError unless they are a 1-D array of ints; their range is not looked at."""
    array = to_int_array(heads)
    if array is None:
        raise HeadsError(f"heads are a 1-D array of ints; found {str(heads)[:100]}.")
    return array
