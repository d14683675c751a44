"""The k best trees of a sentence, and by how much the best one outweighs the second."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..constraints import Arc
from ..core import _core
from ..core.fault import Fault
from ..decoding import Heads, constrain_scores, unpad
from ..faults import decoding_error, in_batch
from ..scores import FloatArray, Layout, to_count, to_root_column
from ..trees import exact_sum
from .arc_confidence import margin

__all__ = ["kbest", "kbest_batch", "kbest_matrix", "tree_margin"]

_NO_ARCS: tuple[Arc, ...] = ()


def kbest(
    scores: npt.ArrayLike,
    k: int,
    *,
    single_root: bool = True,
    projective: bool = False,
    required: Iterable[Arc] = _NO_ARCS,
    forbidden: Iterable[Arc] = _NO_ARCS,
    layout: Layout = "root_column",
) -> list[tuple[Heads, float]]:
    """Return the k best trees of a sentence, best first. No two are the same.

    Parameters
    ----------
    scores, single_root, projective, required, forbidden, layout
        As for `decode`.
    k : int
        The number of trees, from 1 to 2 ** 30.

    Returns
    -------
    list of pairs (heads, weight)
        Heads as from `decode`, and the sum of their arc scores, as from `tree_weight`. The first tree is the one that
        `decode` returns; the weights of the others never increase. If there are fewer than k trees, all of them.

    Raises
    ------
    MindRootError
        As `decode`, or if `k` is not an int in range.

    Notes
    -----
    O(k n^2) time. The trees are split into subspaces by required and forbidden arcs [1]_, and the next best tree of
    each is found with one arc exchange and one decoding [2]_, under a root constraint [3]_. With `projective`, O(n^3)
    time for the first tree and at most O(n^2 log n) for each further one, by lazy lists on Eisner's chart [4]_.

    Trees of equal weight come in an order that is arbitrary, but the same on every run. Weights are compared in double
    precision: trees that differ by less than its rounding count as equal, so the second tree may outweigh the first by
    so much. Next to scores of 1e300, that may be 1e284.

    References
    ----------
    .. [1] Lawler (1972), "A procedure for computing the K best solutions to discrete optimization problems and its
       application to the shortest path problem". https://doi.org/10.1287/mnsc.18.7.401
    .. [2] Camerini, Fratta and Maffioli (1980), "The k best spanning arborescences of a network".
       https://doi.org/10.1002/net.3230100202
    .. [3] Zmigrod, Vieira and Cotterell (2021), "On finding the K-best non-projective dependency trees".
       https://doi.org/10.18653/v1/2021.acl-long.106
    .. [4] Huang and Chiang (2005), "Better k-best parsing". https://aclanthology.org/W05-1506

    Examples
    --------
    >>> from spacy_mindroot.inference import kbest
    >>> kbest([[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]], 2)
    [(array([0, 1, 2], dtype=int32), 200.0), (array([0, 1, 1], dtype=int32), 180.0)]
    """
    return _kbest(scores, to_count(k, "k"), single_root, projective, required, forbidden, layout)[1]


def kbest_batch(
    scores: Iterable[npt.ArrayLike],
    k: int,
    lengths: npt.ArrayLike | None = None,
    *,
    single_root: bool = True,
    projective: bool = False,
    layout: Layout = "root_column",
) -> list[list[tuple[Heads, float]]]:
    """Return what `kbest` does for each sentence of a batch.

    Parameters
    ----------
    scores, lengths, layout
        As for `unpad`.
    k, single_root, projective
        As for `kbest`.

    Returns
    -------
    list of lists of pairs (heads, weight)
        One list per sentence.

    Raises
    ------
    MindRootError
        As `kbest`, for the first sentence at fault, which the message names. Also if `scores` and `lengths` do not fit
        together.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_mindroot.inference import kbest_batch
    >>> padded = np.array([[[1, 0, 9], [9, 9, 9]], [[1, 0, 2], [4, 1, 0]]])
    >>> [[heads.tolist() for heads, _ in trees] for trees in kbest_batch(padded, 2, lengths=[1, 2])]
    [[[0]], [[2, 0], [0, 1]]]
    """
    k = to_count(k, "k")
    found = []
    for number, matrix in enumerate(unpad(scores, lengths, layout=layout)):
        trees = kbest_matrix(matrix, k, single_root=single_root, projective=projective)
        if isinstance(trees, Fault):
            raise decoding_error(trees._replace(sentence=number), matrix, projective=projective, where=in_batch(number))
        found.append(trees)
    return found


def tree_margin(
    scores: npt.ArrayLike,
    *,
    single_root: bool = True,
    projective: bool = False,
    required: Iterable[Arc] = _NO_ARCS,
    forbidden: Iterable[Arc] = _NO_ARCS,
    layout: Layout = "root_column",
) -> float:
    """Return by how much the best tree of a sentence outweighs the second best.

    Parameters
    ----------
    scores, single_root, projective, required, forbidden, layout
        As for `kbest`.

    Returns
    -------
    float
        0 if the two are equally good; inf if there is only one tree, or the margin is beyond the largest double.

    Raises
    ------
    MindRootError
        As `decode`.

    Notes
    -----
    O(n^2) time; with `projective`, O(n^3). The margin is the exact difference of the two weights, rounded once; 0 if
    that is negative, because the two trees differ by less than the rounding of `decode`.

    Examples
    --------
    >>> from spacy_mindroot.inference import tree_margin
    >>> tree_margin([[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]])
    20.0
    >>> tree_margin([[1, 0]])
    inf
    """
    matrix, trees = _kbest(scores, 2, single_root, projective, required, forbidden, layout)
    return max(0.0, margin(matrix, trees[0][0], trees))  # the best tree is the best as far as double precision goes


def kbest_matrix(
    matrix: FloatArray, k: int, *, single_root: bool = True, projective: bool = False
) -> list[tuple[Heads, float]] | Fault:
    """Return what `kbest` does for a matrix from `to_root_column`, without checks, or the fault that the core found."""
    n = len(matrix)
    if n == 0:
        return [(np.empty(0, dtype=np.int32), 0.0)]
    found = _core.k_best(matrix, k, single_root, projective)
    if isinstance(found, Fault):
        return found
    trees = np.frombuffer(found, dtype=np.int32).reshape(-1, n)
    arcs = matrix[np.arange(n), trees].astype(np.float64).tolist()
    # The core compares weights relative to the best tree. Rounding may put the sums into another order.
    best, *others = zip(trees, map(exact_sum, arcs), strict=True)
    return [best, *sorted(others, key=lambda tree: -tree[1])]


def _kbest(
    scores: npt.ArrayLike,
    k: int,
    single_root: bool,
    projective: bool,
    required: Iterable[Arc],
    forbidden: Iterable[Arc],
    layout: Layout,
) -> tuple[FloatArray, list[tuple[Heads, float]]]:
    """Return the scores that meet the constraints, and their k best trees."""
    matrix = to_root_column(scores, layout)
    if required is not _NO_ARCS or forbidden is not _NO_ARCS:
        matrix = constrain_scores(matrix, required=required, forbidden=forbidden, single_root=single_root)
    trees = kbest_matrix(matrix, k, single_root=single_root, projective=projective)
    if isinstance(trees, Fault):
        raise decoding_error(trees, matrix, projective=projective)
    return matrix, trees
