"""Trees at random, each as often as it is probable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import _inference
from ..decoding import Heads, decode_matrices
from ..scores import FloatArray, Layout
from .matrix_tree import check_scores, infer


def sample(
    scores: npt.ArrayLike,
    size: int,
    rng: np.random.Generator | int,
    *,
    replace: bool = True,
    single_root: bool = True,
    layout: Layout = "root_column",
) -> Heads:
    """Random trees of a sentence, with probabilities in proportion to exp(weight).

    Parameters
    ----------
    scores : array-like, (n, n+1)
        Arc scores, as for `log_partition`.
    size : int
        How many trees.
    rng : numpy Generator, or int
        The source of randomness, or a seed for one. The same seed gives the same trees.
    replace : bool
        If True, draws are independent. If False, each tree is drawn from those not drawn yet, in proportion to their exp(weight):
        all are distinct. If there are fewer than `size`, all of them are returned.
    single_root : bool
        From the trees with exactly one arc from ROOT; if False, from those with any number.
    layout : str
        How `scores` is laid out, as for `decode`.

    Returns
    -------
    heads : int32 array, (size, n)
        One tree a row, in the order drawn; 0 = ROOT, j = token j-1.

    Raises
    ------
    As `log_partition`; ValueError if `size` is negative.

    Notes
    -----
    Exact. The root is drawn from the root marginals, the rest of the tree by Wilson's algorithm (1996), which mostly
    takes O(n) steps for a tree. Where tokens prefer each other so strongly that its walks do not end, heads are drawn one after the
    other, each given those before, in O(n^3) for a tree. Without replacement (Zmigrod, Vieira and Cotterell 2021, "Efficient
    Sampling of Dependency Structure"), each tree drawn splits the set it came from by the first head that differs from its own; a set
    is chosen by its partition function, and nothing is drawn twice or subtracted: O(n^4) for a tree.

    Examples
    --------
    >>> sample([[0, 0, 0], [0, 0, 0]], 4, rng=1, replace=False)
    array([[2, 0],
           [0, 1]], dtype=int32)
    """
    if size < 0:
        raise ValueError(f"size is how many trees to draw; found {size}.")
    matrix = check_scores(scores, single_root, layout)
    generator = np.random.default_rng(rng)
    if not replace:
        return _sample_without_replacement(matrix, size, generator, single_root)
    return _sample(matrix, size, generator, single_root)


def _sample(matrix: FloatArray, size: int, rng: np.random.Generator, single_root: bool) -> Heads:
    n = len(matrix)
    heads = np.empty((size, n), dtype=np.int32)
    roots = None
    if single_root and n > 0:
        of_root = infer(matrix)[1][:, 0]
        roots = rng.choice(n, size, p=of_root / of_root.sum()).astype(np.int32)
    _inference.sample_trees(matrix, roots, int(rng.integers(2**64, dtype=np.uint64)), heads)
    return heads


class _TreeSet(NamedTuple):
    """The trees that begin with these heads, and in which the next token has none of the excluded ones."""

    log_partition: float
    heads: npt.NDArray[np.int32]
    excluded: list[int]


def _sample_without_replacement(matrix: FloatArray, size: int, rng: np.random.Generator, single_root: bool) -> Heads:
    n = len(matrix)
    sets = [_TreeSet(0.0, np.empty(0, dtype=np.int32), [])]
    drawn: list[Heads] = []
    while sets and len(drawn) < size:
        log_partitions = np.array([trees.log_partition for trees in sets])
        weights = np.exp(log_partitions - log_partitions.max())
        origin = sets.pop(int(rng.choice(len(sets), p=weights / weights.sum())))
        (heads,) = _sample(_constrain(matrix, origin.heads, origin.excluded), 1, rng, single_root)
        drawn.append(heads)
        first = len(origin.heads)
        parts = [(heads[:i], [*(origin.excluded if i == first else []), int(heads[i])]) for i in range(first, n)]
        matrices = [_constrain(matrix, *part) for part in parts]
        empty = {fault.sentence for fault in decode_matrices(matrices, single_root=single_root)[1]}
        for k, part in enumerate(parts):
            if k not in empty:
                sets.append(_TreeSet(_inference.matrix_tree(matrices[k], None, single_root), *part))
    return np.array(drawn, dtype=np.int32).reshape(len(drawn), n)


def _constrain(matrix: FloatArray, heads: npt.NDArray[np.int32], excluded: list[int]) -> FloatArray:
    constrained = matrix.astype(np.float64)
    fixed = np.arange(len(heads))
    constrained[fixed] = -np.inf
    constrained[fixed, heads] = matrix[fixed, heads]
    if excluded:
        constrained[len(heads), excluded] = -np.inf
    return constrained
