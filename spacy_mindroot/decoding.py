"""Decoding: arc scores in, heads out.

Each function validates its input once, calls the core, and turns the core's faults into errors that say what to do.
"""

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
from .errors import ScoresShapeError, ScoresTypeError
from .faults import decoding_error, in_batch
from .scores import FloatArray, Layout, check_layout, to_count, to_floats, to_int_array, to_list, to_root_column

__all__ = ["Heads", "constrain_scores", "decode", "decode_batch", "decode_matrices", "greedy_heads", "unpad"]

Heads = npt.NDArray[np.int32]

# Module-level and compared by identity: building them on every call is measurable for short sentences.
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
    """Return the best tree of a sentence: the heads with the greatest total arc score.

    Parameters
    ----------
    scores : array-like, (n, n+1)
        Arc scores: `scores[i, h]` is how good head h is for token i (dependent i+1), where h = 0 is ROOT and h = j+1 is
        token j. Larger is better, on any scale. The weight of a tree is the sum over its arcs, so pass probabilities as
        logarithms. -inf forbids an arc. The self arcs `scores[i, i+1]` are never read. The array is not changed.
    single_root : bool
        Whether exactly one arc leaves ROOT. If False, any number: the unconstrained optimum.
    projective : bool
        Whether to consider only trees without crossing arcs.
    required, forbidden : iterables of pairs (dependent, head)
        Arcs that the tree must or must not have, numbered as in CoNLL-U: tokens from 1, head 0 is ROOT. So
        `required=[(2, 0)]` makes token 2 the root, and `forbidden=[(2, 0)]` lets it be anything else.
    layout : {"root_column", "square", "square_transposed", "root_diagonal"}
        How `scores` is laid out, if not as above; see `spacy_mindroot.scores.LAYOUTS`.

    Returns
    -------
    ndarray of int32, (n,)
        The head of each token: 0 = ROOT, j = token j-1. This is the HEAD column of CoNLL-U.

    Raises
    ------
    ScoresShapeError, ScoresTypeError
        If `scores` do not fit the layout, or are not real numbers.
    InvalidScoreError
        If a score is NaN or +inf.
    NoHeadError, NoRootError, NoTreeError
        If the scores allow no such tree.
    ConstraintsError
        If required or forbidden arcs do not exist.
    ConflictError
        If the constraints leave no tree. It names a minimal set of arcs that are in conflict.
    NotEnoughMemoryError
        If there is no memory for a working copy of the scores.

    Notes
    -----
    O(n^2) time: Gabow and Tarjan's algorithm [2]_ as adapted to parsing by Zmigrod, Vieira and Cotterell [1]_. If the
    best heads of all tokens already form a single-rooted tree, no more is done. With `projective`, O(n^3) time and
    O(n^2) memory, by Eisner's algorithm [3]_.

    Weights are compared in double precision, relative to the best arc of each token. Ties go to the lowest head in each
    greedy choice, so the tree is the same for float32 and float64, alone or in a batch.

    References
    ----------
    .. [1] Zmigrod, Vieira and Cotterell (2020), "Please Mind the Root: Decoding Arborescences for Dependency Parsing".
       https://doi.org/10.18653/v1/2020.emnlp-main.390
    .. [2] Gabow and Tarjan (1984), "Efficient algorithms for a family of matroid intersection problems".
       https://doi.org/10.1016/0196-6774(84)90042-7
    .. [3] Eisner (1996), "Three new probabilistic models for dependency parsing: an exploration".
       https://doi.org/10.3115/992628.992688

    Examples
    --------
    >>> from spacy_mindroot import decode
    >>> scores = [[90, 0, 20, 1], [80, 60, 0, 10], [5, 30, 50, 0]]
    >>> decode(scores)
    array([0, 1, 2], dtype=int32)
    >>> decode(scores, single_root=False)
    array([0, 0, 2], dtype=int32)
    >>> decode(scores, required=[(1, 2)])
    array([2, 0, 2], dtype=int32)
    """
    matrix = to_root_column(scores, layout)
    constraints = None
    if required is not _NO_ARCS or forbidden is not _NO_ARCS:
        constraints = read_constraints(required, forbidden, len(matrix))
    heads = np.empty(len(matrix), _INT32)
    fault = _core.decode(constraints.mask(matrix) if constraints else matrix, heads, single_root, projective)
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
    """Return arc scores in which every arc that the constraints rule out is -inf.

    Use it for functions that take scores but no constraints, such as `decode_batch` and those of
    `spacy_mindroot.inference`: the marginals of these scores are the marginals given the constraints.

    Parameters
    ----------
    scores, required, forbidden, single_root, layout
        As for `decode`.

    Returns
    -------
    ndarray of float32 or float64, (n, n+1)
        `[dependent, head]`, column 0 = ROOT, whatever the layout of `scores`. Always a copy.

    Raises
    ------
    MindRootError
        As `decode`.

    Examples
    --------
    >>> from spacy_mindroot import constrain_scores
    >>> constrain_scores([[1, 0, 2], [3, 4, 0]], forbidden=[(1, 2)])
    array([[  1.,   0., -inf],
           [  3.,   4.,   0.]])
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
    """Return the best tree of each sentence of a batch. The loop over sentences runs without the GIL.

    Parameters
    ----------
    scores : array or iterable of array-likes
        One of:

        - an iterable of matrices, each as for `decode`;
        - a flat 1-D array that holds the (n, n+1) matrices end to end, row after row, with their n in `lengths` (it
          is read in place);
        - a padded batch (sentences, rows, columns), or a list of padded matrices, with `lengths`. What lies beyond the
          length of a sentence is not read.
    lengths : array-like of ints, (sentences,), optional
        The number of tokens of each sentence.
    single_root, projective, layout
        As for `decode`. Flat scores are always in layout "root_column".
    n_threads : int
        The number of threads that share the sentences, from 1 to 1024. The heads do not depend on it. With 1, no
        thread is started.

    Returns
    -------
    list of ndarrays of int32
        The heads of each sentence. For flat scores, one int32 array of `sum(lengths)` heads.

    Raises
    ------
    MindRootError
        As `decode`, for the first sentence at fault; the message names it, and a `DecodingError` has its index as
        `sentence`. Also if `n_threads` is out of range.
    ScoresShapeError, ScoresTypeError
        If `scores` and `lengths` do not fit together, or `scores` is no batch.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_mindroot import decode_batch
    >>> decode_batch([[[1, 0]], [[0, 0, 2], [1, 0, 0]]])
    [array([0], dtype=int32), array([2, 0], dtype=int32)]
    >>> decode_batch(np.array([1, 0, 0, 0, 2, 1, 0, 0]), lengths=[1, 2])
    array([0, 2, 0], dtype=int32)
    """
    check_layout(layout)
    n_threads = to_count(n_threads, "n_threads", what="threads", most=_MOST_THREADS)
    sizes = None if lengths is None else _to_lengths(lengths)
    dimensions = None if isinstance(scores, (list, tuple)) else getattr(scores, "ndim", None)
    if dimensions == 1 and getattr(scores, "dtype", None) != np.dtype(object):
        return _decode_flat(to_floats(scores), sizes, single_root, projective, layout, n_threads)
    matrices = _to_matrices(scores, sizes, layout)
    heads, faults = decode_matrices(matrices, single_root=single_root, projective=projective, n_threads=n_threads)
    if faults:
        raise decoding_error(faults[0], matrices[faults[0].sentence], where=in_batch(faults[0].sentence))
    return heads


def decode_matrices(
    matrices: list[FloatArray], *, single_root: bool = True, projective: bool = False, n_threads: int = 1
) -> tuple[list[Heads], list[Fault]]:
    """Return what `decode_batch` does for matrices from `to_root_column`, and the faults, in order of their sentences.

    A sentence at fault does not stop the others. Its heads are undefined.
    """
    ends = list(accumulate((len(matrix) for matrix in matrices), initial=0))
    heads = np.empty(ends[-1], _INT32)
    of_each = [heads[start:end] for start, end in pairwise(ends)]
    return of_each, _core.decode_batch(matrices, heads, single_root, n_threads, projective)


def greedy_heads(scores: npt.ArrayLike, *, layout: Layout = "root_column") -> Heads:
    """Return the best head of each token on its own (the greedy graph). They need not form a tree.

    Parameters
    ----------
    scores, layout
        As for `decode`.

    Returns
    -------
    ndarray of int32, (n,)
        0 = ROOT, j = token j-1. Ties go to the lowest head.

    Raises
    ------
    InvalidScoreError, NoHeadError, ScoresShapeError, ScoresTypeError
        As `decode`.

    Notes
    -----
    O(n^2) time.

    Examples
    --------
    >>> from spacy_mindroot import greedy_heads
    >>> greedy_heads([[1, 0, 5], [2, 6, 0]])
    array([2, 1], dtype=int32)
    """
    matrix = to_root_column(scores, layout)
    heads = np.empty(len(matrix), _INT32)
    fault = _core.greedy_heads(matrix, heads)
    if fault is not None:
        raise decoding_error(fault, matrix)
    return heads


def unpad(
    scores: Iterable[npt.ArrayLike], lengths: npt.ArrayLike | None = None, *, layout: Layout = "root_column"
) -> list[FloatArray]:
    """Return the arc scores of each sentence of a batch, without padding, as all functions for one sentence take them.

    Parameters
    ----------
    scores, lengths, layout
        As for `decode_batch`, but not flat.

    Returns
    -------
    list of ndarrays of float32 or float64, (n, n+1)
        `[dependent, head]`, column 0 = ROOT, whatever the layout. They are views of `scores` where these are float32 or
        float64, except in layout "root_diagonal": what is written to them is written to `scores`.

    Raises
    ------
    ScoresShapeError, ScoresTypeError
        As `decode_batch`.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_mindroot import unpad
    >>> from spacy_mindroot.inference import entropy
    >>> padded = np.zeros((2, 9, 9))
    >>> [round(entropy(matrix), 4) for matrix in unpad(padded, [1, 2], layout="square")]
    [0.0, 0.6931]
    """
    check_layout(layout)
    return _to_matrices(scores, None if lengths is None else _to_lengths(lengths), layout)


def _to_matrices(scores: Any, lengths: npt.NDArray[np.int64] | None, layout: Layout) -> list[FloatArray]:
    """Return the matrices of a batch as the core reads them, without padding if there are lengths."""
    if not isinstance(scores, (list, tuple)) and getattr(scores, "ndim", None) == 2:
        raise ScoresShapeError(
            f"a batch has several matrices; this is a single one, shape {scores.shape}. "
            "Use decode() or another function for one sentence, or put it in a list."
        )
    batch = to_list(scores, "a batch", ScoresTypeError)
    if lengths is not None:
        batch = _cut_padding(batch, lengths, layout)
    if layout == "root_column" and _all_readable(batch):
        return batch
    return [to_root_column(matrix, layout, where=partial(in_batch, k)) for k, matrix in enumerate(batch)]


def _all_readable(batch: list[Any]) -> bool:
    """Whether the core can read all matrices in place."""
    try:
        return all(map(_core.is_readable, batch))
    except (ValueError, BufferError):  # see to_root_column
        return False


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
            f"the flat array has {len(flat)} scores, but {len(lengths)} sentences of these lengths have {wanted}: "
            "n * (n+1) each."
        )

    heads = np.empty(measured[0], _INT32)
    faults = _core.decode_flat(flat, lengths, heads, single_root, n_threads, projective)
    if faults:
        k, n = faults[0].sentence, lengths[faults[0].sentence]
        before = (lengths[:k] * (lengths[:k] + 1)).sum()
        raise decoding_error(faults[0], flat[before : before + n * (n + 1)].reshape(n, n + 1), where=in_batch(k))
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
