"""Properties of trees, and of heads in general: weight, roots, cycles, crossing arcs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .core import _core
from .errors import HeadsError
from .scores import Layout, shown, to_int_array, to_root_column

__all__ = [
    "MISSING",
    "TreeSet",
    "count_roots",
    "exact_sum",
    "find_cycles",
    "is_projective",
    "is_tree",
    "nonprojective_arcs",
    "shown_cycle",
    "to_heads",
    "tree_weight",
]

MISSING = -1  # an unknown head, where unknown heads are allowed


class TreeSet(NamedTuple):
    """All single-rooted trees in which the head of each token is one of a few. See `inference.tree_sets`.

    Attributes
    ----------
    size : int or float
        The number of trees, at least 1. An int up to a billion, else about that number; inf beyond the largest double.
    heads : list of ndarrays of int64
        The heads that each token has in some tree of the set, the most probable first; 0 = ROOT, j = token j-1.
    trees : list of ndarrays of int32
        The trees that the scores allow, (n,) each, the best first, if there are scores and the set has at most ten
        trees; else empty.
    """

    size: int | float
    heads: list[npt.NDArray[np.int64]]
    trees: list[npt.NDArray[np.int32]]


def tree_weight(scores: npt.ArrayLike, heads: npt.ArrayLike, *, layout: Layout = "root_column") -> float:
    """Return the sum of the arc scores of `heads`, in double precision and rounded only once.

    Parameters
    ----------
    scores, layout
        As for `decode`.
    heads : array-like of ints, (n,)
        0 = ROOT, j = token j-1. They need not form a tree, but no token may be its own head.

    Returns
    -------
    float
        -inf if an arc is forbidden, or if the sum is below the smallest double; +inf if it is above the largest.

    Raises
    ------
    HeadsError
        If `heads` are not n ints from 0 to n, or a token is its own head.
    ScoresShapeError, ScoresTypeError
        As `decode`.

    Notes
    -----
    O(n) time.

    Examples
    --------
    >>> from spacy_mindroot import tree_weight
    >>> tree_weight([[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]], [0, 1, 2])
    200.0
    """
    matrix = to_root_column(scores, layout)
    array = to_heads(heads, len(matrix))
    return exact_sum(matrix[np.arange(len(matrix)), array].astype(np.float64).tolist())


def exact_sum(numbers: Sequence[float]) -> float:
    """Return the sum of `numbers`, rounded only once; infinite only if the sum is. -inf wins over finite numbers."""
    try:
        return math.fsum(numbers)
    except OverflowError:  # a partial sum is larger than the largest double
        return math.fsum(number * 0.5**64 for number in numbers) * 2.0**64


def count_roots(heads: npt.ArrayLike) -> int:
    """Return the number of tokens that attach to ROOT (head 0).

    Parameters
    ----------
    heads : array-like of ints, (n,)
        0 = ROOT, j = token j-1. They need not form a tree.

    Raises
    ------
    HeadsError
        If `heads` are not a 1-D array of ints.

    Examples
    --------
    >>> from spacy_mindroot import count_roots
    >>> count_roots([0, 1, 0])
    2
    """
    return int(np.count_nonzero(to_heads(heads) == 0))


def is_tree(heads: npt.ArrayLike, *, single_root: bool = False) -> bool:
    """Whether `heads` form a tree: every token reaches ROOT.

    Parameters
    ----------
    heads : array-like of ints, (n,)
        0 = ROOT, j = token j-1. A head out of range, or a token that is its own head, makes no tree.
    single_root : bool
        Whether the tree must have exactly one root, as the trees of `decode` do. If False, any number of tokens may be
        roots.

    Returns
    -------
    bool
        True for a sentence without tokens, with either setting.

    Raises
    ------
    HeadsError
        If `heads` are not a 1-D array of ints.

    Notes
    -----
    O(n) time.

    Examples
    --------
    >>> from spacy_mindroot import is_tree
    >>> is_tree([0, 1, 0]), is_tree([0, 1, 0], single_root=True)
    (True, False)
    >>> is_tree([2, 1])
    False
    """
    array = to_heads(heads)
    if array.size and (array.min() < 0 or array.max() > len(array)):
        return False
    if single_root and array.size and np.count_nonzero(array == 0) != 1:
        return False
    return _core.is_tree(array.astype(np.int32))


def find_cycles(heads: Sequence[int]) -> list[list[int]]:
    """Return the cycles that `heads`, (n,), contain, each as a list of its tokens, from 1. O(n).

    Each token is followed by its head, and the lowest comes first. A token that is its own head is a cycle of one.
    Heads out of range end a path. Raise HeadsError if `heads` are not a 1-D array of ints.

    >>> from spacy_mindroot.trees import find_cycles
    >>> find_cycles([3, 2, 4, 1, 0])
    [[1, 3, 4], [2]]
    """
    heads = to_heads(heads).tolist()
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
    """Return a cycle for a message, such as `1 -> 3 -> 4 -> 1`. Only the beginning of a very long one is shown."""
    tokens = [*map(str, cycle[:10]), *(["..."] if len(cycle) > 10 else []), str(cycle[0])]
    return " -> ".join(tokens)


def nonprojective_arcs(heads: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return which arcs of a tree are non-projective, (n,): not all tokens between the two are below the head.

    The tree may have any number of roots. Arcs from ROOT, which everything is below, are projective. O(n^2) time in the
    worst case, O(n) memory. Raise HeadsError if the heads form no tree.

    Token 2 lies between token 3 and its head, token 1, but below ROOT:

    >>> from spacy_mindroot.trees import nonprojective_arcs
    >>> nonprojective_arcs([0, 0, 1])
    array([False, False,  True])
    """
    array = to_heads(heads)
    if not is_tree(array):
        raise HeadsError(f"only arcs of a tree are projective or not; the heads {shown(array.tolist())} form none.")
    n = len(array)
    children: list[list[int]] = [[] for _ in range(n + 1)]
    for dependent, head in enumerate(array.tolist(), 1):
        children[head].append(dependent)
    # Number the tokens in preorder: those below a head are the `size[head]` positions from its own on.
    order, stack = [], [0]
    while stack:
        order.append(stack.pop())
        stack += children[order[-1]]
    position = np.empty(n + 1, dtype=np.int64)
    position[order] = np.arange(n + 1)
    size = [1] * (n + 1)
    for token in reversed(order[1:]):
        size[array[token - 1]] += size[token]
    found = np.zeros(n, dtype=bool)
    for dependent, head in enumerate(array.tolist(), 1):
        between = position[min(dependent, head) + 1 : max(dependent, head)]
        if head and len(between):
            first = position[head]
            found[dependent - 1] = between.min() < first or between.max() >= first + size[head]
    return found


def is_projective(heads: npt.ArrayLike) -> bool:
    """Whether a tree has no crossing arcs.

    Parameters
    ----------
    heads : array-like of ints, (n,)
        A tree with any number of roots; 0 = ROOT, j = token j-1. Arcs from ROOT count: an arc across a root crosses
        its arc.

    Raises
    ------
    HeadsError
        If the heads do not form a tree.

    Notes
    -----
    O(n^2) time in the worst case.

    Examples
    --------
    >>> from spacy_mindroot import is_projective
    >>> is_projective([0, 1, 2]), is_projective([0, 4, 1, 1])
    (True, False)
    """
    return not nonprojective_arcs(heads).any()


def to_heads(heads: npt.ArrayLike, n: int | None = None, *, may_be_missing: bool = False) -> npt.NDArray[np.int64]:
    """Return `heads` as a 1-D int64 array. Raise HeadsError if they are none.

    With `n`, also raise it if they are not n ints from 0 to n (-1 if `may_be_missing`), or a token is its own head.
    """
    array = to_int_array(heads)
    if array is None:
        raise HeadsError(f"heads are a 1-D array of ints; found {shown(heads)}.")
    if n is None:
        return array
    if len(array) != n:
        raise HeadsError(f"{len(array)} heads for a sentence of {n} tokens.")
    wrong = (array < (MISSING if may_be_missing else 0)) | (array > n) | (array == np.arange(1, n + 1))
    if wrong.any():
        dependent = int(wrong.argmax()) + 1
        raise HeadsError(
            f"the head of dependent {dependent} is {array[dependent - 1]}. Heads are from 0 (ROOT) to {n}"
            f"{', or -1 if unknown' if may_be_missing else ''}, and not the dependent itself."
        )
    return array
