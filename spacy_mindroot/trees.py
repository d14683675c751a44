"""What can be said of heads without decoding: weight, number of roots, whether they form a tree."""

from __future__ import annotations

import math
from collections.abc import Sequence

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


def is_tree(heads: npt.ArrayLike, *, single_root: bool = False) -> bool:
    """Whether `heads` form a tree: every token depends on ROOT, directly or through other tokens.

    Parameters
    ----------
    heads : array-like of ints, (n,)
        0 = ROOT, j = token j-1. A head out of range, or a token that is its own head, makes no tree.
    single_root : bool
        Whether the tree must have exactly one root, as the trees of `decode` do. If False, any number of tokens may be
        roots.

    Returns
    -------
    bool : True for a sentence without tokens, with either setting.

    Raises
    ------
    HeadsError
        If `heads` are not a 1-D array of ints.
    """
    array = to_heads(heads)
    if array.size and (array.min() < 0 or array.max() > len(array)):
        return False
    if single_root and array.size and np.count_nonzero(array == 0) != 1:
        return False
    return _core.is_tree(array.astype(np.int32))


def find_cycles(heads: Sequence[int]) -> list[list[int]]:
    """The cycles of heads, each as its tokens (from 1): every one hangs on the next, the last on the first. A token that is its own
    head counts; heads out of range do not. Linear time."""
    n = len(heads)
    seen = [0] * (n + 1)
    cycles = []
    for start in range(1, n + 1):
        token = start
        while 1 <= token <= n and not seen[token]:
            seen[token] = start
            token = heads[token - 1]
        if 1 <= token <= n and seen[token] == start:
            cycle = [token]
            while heads[cycle[-1] - 1] != token:
                cycle.append(heads[cycle[-1] - 1])
            first = cycle.index(min(cycle))
            cycles.append(cycle[first:] + cycle[:first])
    return cycles


def shown_cycle(cycle: Sequence[int]) -> str:
    """A cycle for a message: its tokens, back to the first; not all of a very long one."""
    tokens = [*map(str, cycle[:10]), *(["..."] if len(cycle) > 10 else []), str(cycle[0])]
    return " -> ".join(tokens)


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
