"""What can be said of heads without decoding: weight, number of roots, whether they form a tree."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .core import _core
from .errors import HeadsError
from .scores import Layout, to_int_array, to_root_column


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


def is_projective(heads: npt.ArrayLike) -> bool:
    """Is the tree projective: does every token, with all its descendants, cover a stretch of the sentence without a gap?

    Then no arcs cross, those from ROOT included. Raises HeadsError if `heads` (0 = ROOT) are not a tree.
    """
    array = to_heads(heads)
    if not is_tree(array):
        raise HeadsError(f"only a tree is projective or not, and these heads are none: {str(array)[:100]}.")
    return bool(_core.is_projective(array.astype(np.int32)))


def to_heads(heads: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """`heads` as an array. Raises HeadsError unless they are a 1-D array of ints; their range is not looked at."""
    array = to_int_array(heads)
    if array is None:
        raise HeadsError(f"heads are a 1-D array of ints; found {str(heads)[:100]}.")
    return array
