"""Arc scores in, heads out: validates once, calls the core, turns its faults into errors that say what to do."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .constraints import Arc, read_constraints
from .core import _core
from .core.fault import Fault
from .errors import ScoresShapeError
from .faults import decoding_error, in_batch
from .scores import FloatArray, Layout, check_layout, to_floats, to_int_array, to_root_column

Heads = npt.NDArray[np.int32]

# Made once, and told by identity: a good part of what a short sentence costs.
_INT32 = np.dtype(np.int32)
_NO_ARCS: tuple[Arc, ...] = ()
_MOST_THREADS = 1024


def decode(
    scores: npt.ArrayLike,
    *,
    single_root: bool = True,
    projective: bool = False,
    required: Iterable[Arc] = _NO_ARCS,
    forbidden: Iterable[Arc] = _NO_ARCS,
    layout: Layout = "root_column",
) -> Heads:
    """The best tree of a sentence: the heads with the greatest total arc score.

    Gabow and Tarjan's algorithm (1984) as adapted to parsing by Zmigrod, Vieira and Cotterell (2020). Where the best
    head of every token already makes a tree with one root, that is all that is done.

    Parameters
    ----------
    scores : array-like, (n, n+1)
        `scores[i, h]`: how good head h is for token i (dependent i+1); h = 0 is ROOT, h = j+1 is token j. Larger is
        better; the weight of a tree is the sum over its arcs, so probabilities go in as logarithms. -inf forbids an arc.
        The self arcs `scores[i, i+1]` are never read. The array is not changed.
    single_root : bool
        Exactly one arc leaves ROOT. If False, as many as pay: the unconstrained optimum.
    projective : bool
        Only trees without crossing arcs: the best of them, by Eisner's algorithm (1996).
    required, forbidden : iterables of pairs (dependent, head)
        Arcs that the tree has, and arcs that it has not, numbered as in CoNLL-U: tokens from 1, head 0 is ROOT. So
        `required=[(2, 0)]` makes token 2 the root, `forbidden=[(2, 0)]` lets it be anything else.
    layout : str
        How `scores` is laid out if not as above: "square", "square_transposed" or "root_diagonal" (see
        `spacy_mindroot.scores.LAYOUTS`).

    Returns
    -------
    heads : int32 array, (n,)
        0 = ROOT, j = token j-1: the HEAD column of CoNLL-U.

    Raises
    ------
    InvalidScoreError, NoHeadError, NoRootError, NoTreeError, ScoresShapeError, ScoresTypeError
        All are `ValueError`.
    ConstraintsError
        If required or forbidden arcs do not exist.
    ConflictError
        If they leave no tree where there is one without them; it names the smallest set of arcs that are in conflict.

    Notes
    -----
    O(n^2) time; O(n^3) with `projective`, and O(n^2) memory. Weights are compared in double precision, relative to the best arc of each token. Ties are broken in
    favour of the lowest head in each greedy choice, so the tree is the same for float32 and float64, alone or in a batch.

    Examples
    --------
    >>> decode([[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]])
    array([0, 1, 2], dtype=int32)
    >>> decode([[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]], single_root=False)
    array([0, 0, 2], dtype=int32)
    >>> decode([[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]], required=[(1, 2)])
    array([2, 0, 2], dtype=int32)
    """
    matrix = to_root_column(scores, layout)
    constraints = None
    if required is not _NO_ARCS or forbidden is not _NO_ARCS:
        constraints = read_constraints(required, forbidden, len(matrix))
    heads = np.empty(len(matrix), _INT32)
    decode_one = _core.decode_projective if projective else _core.decode
    fault = decode_one(constraints.mask(matrix) if constraints else matrix, heads, single_root)
    if fault is not None:
        raise decoding_error(fault, matrix, constraints, single_root=single_root, projective=projective)
    return heads


def constrain_scores(
    scores: npt.ArrayLike,
    *,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    single_root: bool = True,
    layout: Layout = "root_column",
) -> FloatArray:
    """The arc scores of the trees with all required and without all forbidden arcs: all other arcs are -inf.

    For whatever takes scores and knows no constraints, such as `decode_batch` and the functions of `inference`: marginals of
    these scores are those given the constraints.

    Parameters and errors as for `decode`.

    Returns
    -------
    (n, n+1) array, `[dependent, head]`, column 0 = ROOT. A copy.
    """
    matrix = to_root_column(scores, layout)
    constraints = read_constraints(required, forbidden, len(matrix))
    masked = constraints.mask(matrix)
    fault = _core.decode(masked, np.empty(len(matrix), dtype=np.int32), single_root)
    if fault is not None:
        raise decoding_error(fault, matrix, constraints, single_root=single_root)
    return masked


@overload
def decode_batch(
    scores: npt.NDArray[Any],
    lengths: npt.ArrayLike | None = None,
    *,
    single_root: bool = True,
    projective: bool = False,
    layout: Layout = "root_column",
    n_threads: int = 1,
) -> Heads: ...
@overload
def decode_batch(
    scores: Iterable[npt.ArrayLike],
    lengths: npt.ArrayLike | None = None,
    *,
    single_root: bool = True,
    projective: bool = False,
    layout: Layout = "root_column",
    n_threads: int = 1,
) -> list[Heads]: ...
def decode_batch(
    scores: Any,
    lengths: npt.ArrayLike | None = None,
    *,
    single_root: bool = True,
    projective: bool = False,
    layout: Layout = "root_column",
    n_threads: int = 1,
) -> Heads | list[Heads]:
    """The best tree of each sentence of a batch. The loop over sentences runs without the GIL.

    Parameters
    ----------
    scores : one of
        - an iterable of matrices, each as for `decode`;
        - a flat 1-D array with the (n, n+1) matrices end to end, row after row, and their n in `lengths` (no copy is
          made);
        - a padded batch (sentences, rows, columns), or a list of padded matrices, with `lengths`: what lies beyond a
          sentence's length is not read.
    lengths : array-like of ints, (sentences,)
        Tokens of each sentence.
    single_root, projective, layout
        As for `decode`. Flat scores are always in layout "root_column".
    n_threads : int
        How many threads share the sentences. The heads do not depend on it. With 1, no thread is started.

    Returns
    -------
    A list of int32 arrays of heads; for flat scores, one flat int32 array of `sum(lengths)` heads.

    Raises
    ------
    As `decode`, for the first sentence that is at fault; the error names it.
    """
    check_layout(layout)
    if not isinstance(n_threads, int | np.integer) or not 1 <= n_threads <= _MOST_THREADS:
        raise ValueError(f"n_threads is {n_threads!r}; it is a number of threads, from 1 to {_MOST_THREADS}.")
    sizes = None if lengths is None else _to_lengths(lengths)
    if (
        not isinstance(scores, (list, tuple))
        and hasattr(scores, "ndim")
        and scores.ndim == 1
        and scores.dtype != object
    ):
        return _decode_flat(to_floats(scores), sizes, single_root, projective, layout, n_threads)
    if getattr(scores, "ndim", 3) == 2:
        raise ScoresShapeError(
            f"decode_batch() takes several matrices; this is a single one, shape {scores.shape}. Use decode(), or put it in a list."
        )
    batch = list(scores)
    if sizes is not None:
        batch = _cut_padding(batch, sizes, layout)
    if layout == "root_column" and all(map(_core.is_readable, batch)):
        matrices = batch
    else:
        matrices = [to_root_column(matrix, layout, where=partial(in_batch, k)) for k, matrix in enumerate(batch)]
    heads, faults = decode_matrices(matrices, single_root=single_root, projective=projective, n_threads=n_threads)
    for fault in faults:
        raise decoding_error(fault, matrices[fault.sentence], where=in_batch(fault.sentence))
    return heads


def decode_matrices(
    matrices: list[FloatArray], *, single_root: bool = True, projective: bool = False, n_threads: int = 1
) -> tuple[list[Heads], list[Fault]]:
    """`decode_batch` without the checks: matrices from `to_root_column`; one fault does not stop the others.

    Returns the heads of each sentence (undefined where there is a fault) and the faults.
    """
    ends = list(accumulate((len(matrix) for matrix in matrices), initial=0))
    heads = np.empty(ends[-1], _INT32)
    of_each = [heads[start:end] for start, end in pairwise(ends)]
    if not projective:
        return of_each, _core.decode_batch(matrices, heads, single_root, n_threads)
    faults = []
    for k, (matrix, own) in enumerate(zip(matrices, of_each, strict=True)):
        fault = _core.decode_projective(matrix, own, single_root)
        if fault is not None:
            faults.append(fault._replace(sentence=k))
    return of_each, faults


def greedy_heads(scores: npt.ArrayLike, *, layout: Layout = "root_column") -> Heads:
    """The best head of each token on its own (the greedy graph): (n,) int32, 0 = ROOT. They need not form a tree.

    Parameters and errors as for `decode`; the lowest head where several are equally good.
    """
    matrix = to_root_column(scores, layout)
    heads = np.empty(len(matrix), _INT32)
    fault = _core.greedy_heads(matrix, heads)
    if fault is not None:
        raise decoding_error(fault, matrix)
    return heads


def _decode_flat(
    flat: FloatArray,
    lengths: npt.NDArray[np.int64] | None,
    single_root: bool,
    projective: bool,
    layout: Layout,
    n_threads: int,
) -> Heads:
    if lengths is None:
        raise ScoresShapeError("a flat array of scores needs lengths: the number of tokens of each sentence.")
    if layout != "root_column":
        raise ScoresShapeError(f'a flat array of scores holds matrices in layout "root_column", not "{layout}".')
    measured = _core.measure(lengths)
    if measured is None or measured[1] != len(flat):
        wanted = sum(n * (n + 1) for n in lengths.tolist())
        raise ScoresShapeError(
            f"the flat array has {len(flat)} scores, but {len(lengths)} sentences of these lengths have {wanted}: n * (n+1) each."
        )

    def matrix(k: int) -> FloatArray:
        start, n = (lengths * (lengths + 1))[:k].sum(), lengths[k]
        return flat[start : start + n * (n + 1)].reshape(n, n + 1)

    heads = np.empty(measured[0], _INT32)
    if projective:
        matrices = [matrix(k) for k in range(len(lengths))]
        of_each, faults = decode_matrices(matrices, single_root=single_root, projective=True)
        heads = np.concatenate([heads[:0], *of_each])
    else:
        faults = _core.decode_flat(flat, lengths, heads, single_root, n_threads)
    for fault in faults:
        raise decoding_error(fault, matrix(fault.sentence), where=in_batch(fault.sentence))
    return heads


def _to_lengths(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = to_int_array(lengths)
    if array is None or _core.measure(array) is None:
        raise ScoresShapeError("lengths are one number of tokens per sentence: a list of ints, none of them negative.")
    return array


def _cut_padding(batch: list[Any], lengths: npt.NDArray[np.int64], layout: Layout) -> list[FloatArray]:
    if len(batch) != len(lengths):
        raise ScoresShapeError(f"{len(batch)} matrices, but {len(lengths)} lengths.")
    cut = []
    for k, (matrix, n) in enumerate(zip(batch, lengths.tolist(), strict=True)):
        array = to_floats(matrix, where=in_batch(k))
        rows = n if layout in ("root_column", "root_diagonal") else n + 1
        columns = n if layout == "root_diagonal" else n + 1
        if array.ndim != 2 or array.shape[0] < rows or array.shape[1] < columns:
            raise ScoresShapeError(
                f'{in_batch(k)}: {n} tokens need a matrix of at least ({rows}, {columns}) in layout "{layout}"; '
                f"the shape found is {array.shape}."
            )
        cut.append(array[:rows, :columns])
    return cut
