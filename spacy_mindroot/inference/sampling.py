"""Samples trees in proportion to their probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import _inference
from ..decoding import Heads, decode_matrices
from ..errors import NotEnoughMemoryError, SeedError
from ..scores import FloatArray, Layout, shown, to_count
from .matrix_tree import best_tree, infer, to_weights, without_masks

__all__ = ["sample"]

Seed = np.random.Generator | np.random.BitGenerator | np.random.SeedSequence | int | Sequence[int] | None


def sample(
    scores: npt.ArrayLike,
    size: int,
    rng: Seed,
    *,
    replace: bool = True,
    single_root: bool = True,
    layout: Layout = "root_column",
) -> Heads:
    """Return random trees of a sentence, each drawn with a probability in proportion to exp(weight).

    Parameters
    ----------
    scores, single_root, layout
        As for `log_partition`.
    size : int
        The number of trees, from 0 to 2 ** 30.
    rng : numpy Generator, or int
        The source of randomness, or a seed for one: an int, or anything else that `numpy.random.default_rng` takes.
        The same seed gives the same trees. None gives others on every call.
    replace : bool
        If True, draws are independent. If False, each tree is drawn from those not drawn yet, in proportion to their
        exp(weight), so all are distinct. If there are fewer than `size`, all of them are returned, but none that needs
        a masked arc (see `log_partition`) unless all do.

    Returns
    -------
    ndarray of int32, (size, n)
        One tree per row, in the order drawn; 0 = ROOT, j = token j-1.

    Raises
    ------
    NotEnoughMemoryError
        If there is no memory for so many trees.
    MindRootError
        As `log_partition`; or if `size` is not an int in range, or `rng` no source of randomness.

    Notes
    -----
    Exact. The root is drawn from the root marginals, the rest of the tree by Wilson's algorithm [1]_, which mostly
    takes O(n) steps per tree. Where tokens prefer each other so strongly that its walks do not end, the heads are
    drawn one after the other, each given those before, in O(n^3) per tree.

    Without replacement [2]_, each tree that is drawn splits the set it came from by the first head that differs from
    its own. A set is chosen by its partition function, and nothing is drawn twice or subtracted: O(n^4) per tree.

    References
    ----------
    .. [1] Wilson (1996), "Generating random spanning trees more quickly than the cover time".
       https://doi.org/10.1145/237814.237880
    .. [2] Zmigrod, Vieira and Cotterell (2021), "Efficient sampling of dependency structure".
       https://doi.org/10.18653/v1/2021.emnlp-main.824

    Examples
    --------
    >>> from spacy_mindroot.inference import sample
    >>> sample([[0, 0, 0], [0, 0, 0]], 4, rng=1, replace=False)
    array([[2, 0],
           [0, 1]], dtype=int32)
    """
    size = to_count(size, "size", least=0)
    generator = _to_generator(rng)
    matrix, _ = best_tree(scores, single_root, layout)
    matrix = without_masks(to_weights(matrix, single_root=single_root).matrix, single_root=single_root)
    if not replace:
        return _sample_without_replacement(matrix, size, generator, single_root)
    try:
        return _sample(matrix, size, generator, single_root)
    except MemoryError as error:
        raise NotEnoughMemoryError(
            f"sentence of {len(matrix)} tokens: not enough memory for {size:,} trees. Draw fewer at a time."
        ) from error


def _to_generator(rng: Seed) -> np.random.Generator:
    if not isinstance(rng, bool):
        try:
            return np.random.default_rng(rng)
        except (TypeError, ValueError):
            pass
    raise SeedError(
        f"rng is {shown(rng)}; it is a numpy.random.Generator, or a seed for one: an int that is not negative."
    )


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
    """The trees that begin with these heads, and in which the head of the next token is none of those excluded."""

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
        if len(drawn) == size:
            break
        first = len(origin.heads)
        parts = [(heads[:i], [*(origin.excluded if i == first else []), int(heads[i])]) for i in range(first, n)]
        matrices = [_constrain(matrix, *part) for part in parts]
        empty = {fault.sentence for fault in decode_matrices(matrices, single_root=single_root)[1]}
        for k, part in enumerate(parts):
            if k not in empty:
                sets.append(_TreeSet(_inference.log_partition(matrices[k], None, single_root), *part))
    return np.array(drawn, dtype=np.int32).reshape(len(drawn), n)


def _constrain(matrix: FloatArray, heads: npt.NDArray[np.int32], excluded: list[int]) -> FloatArray:
    """Return a float64 copy in which the first tokens have these heads, and the next has none of those excluded."""
    constrained = matrix.astype(np.float64)
    fixed = np.arange(len(heads))
    constrained[fixed] = -np.inf
    constrained[fixed, heads] = matrix[fixed, heads]
    if excluded:
        constrained[len(heads), excluded] = -np.inf
    return constrained
