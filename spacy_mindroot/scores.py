"""The contract for arc scores: their layouts and dtypes. Whatever the core reads comes through here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from .core import _core
from .errors import LabelsError, ScoresShapeError, ScoresTypeError

FloatArray = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.integer[Any]]
Where = str | Callable[[], str]  # a function where the name costs more than the work
Layout = Literal["root_column", "square", "square_transposed", "root_diagonal"]

LAYOUTS: dict[Layout, str] = {
    "root_column": "(n, n+1), [dependent, head], column 0 is ROOT",
    "square": "(n+1, n+1), [dependent, head], index 0 is ROOT",
    "square_transposed": "(n+1, n+1), [head, dependent], index 0 is ROOT",
    "root_diagonal": "(n, n), [dependent, head], the score of ROOT on the diagonal",
}


def to_root_column(scores: npt.ArrayLike, layout: Layout = "root_column", *, where: Where = "") -> FloatArray:
    """Arc scores of one sentence as the core reads them: (n, n+1), `[dependent, head]`, column 0 = ROOT, float32 or float64.

    Parameters
    ----------
    scores : array-like
        Arc scores in `layout`. float32 and float64 are taken as they are, whatever their strides; float16 and bfloat16
        become float32, integers and long doubles float64.
    layout : str
        "root_column", "square", "square_transposed" or "root_diagonal". It is never guessed. In the square layouts the
        scores of arcs into ROOT are not read.
    where : str, or a function that returns one
        Which sentence this is, for error messages.

    Returns
    -------
    A view of `scores` wherever dtype and layout allow ("root_diagonal" is always a copy). It may be read-only.

    Raises
    ------
    ScoresShapeError, ScoresTypeError
    """
    if layout == "root_column" and _core.is_readable(scores):
        return cast(FloatArray, scores)
    return rearrange(to_floats(scores, where=where), layout, where=where)


def rearrange(array: npt.NDArray[Any], layout: Layout, *, where: Where = "") -> npt.NDArray[Any]:
    """`to_root_column` for an array of any dtype, such as the numbers of the best labels."""
    check_layout(layout)
    if array.shape == (0,):  # decode([]): no tokens
        return np.empty((0, 1), dtype=array.dtype)
    if array.ndim != 2:
        hint = ""
        if array.ndim == 3:
            hint = (
                " Scores with labels go through reduce_labels() first, a padded batch to decode_batch() with lengths."
            )
        raise ScoresShapeError(
            f"{_prefix(where)}arc scores of one sentence have 2 dimensions, found {array.ndim} (shape {array.shape}). "
            f'Layout "{layout}" is {LAYOUTS[layout]}.{hint}'
        )
    rows, columns = array.shape
    if layout == "root_column" and columns == rows + 1:
        return array
    if layout == "root_column" and rows == columns == 0:
        return np.empty((0, 1), dtype=array.dtype)
    if layout == "root_diagonal" and rows == columns:
        return np.concatenate([array.diagonal()[:, np.newaxis], array], axis=1)
    if layout == "square" and rows == columns > 0:
        return array[1:]
    if layout == "square_transposed" and rows == columns > 0:
        return array[:, 1:].T
    if layout == "root_column" and rows == columns:
        others = "; ".join(f'"{name}": {text}' for name, text in LAYOUTS.items() if name != "root_column")
        raise ScoresShapeError(
            f"{_prefix(where)}a square matrix, shape {array.shape}, does not say where ROOT is. Say it with layout=... ({others})."
        )
    raise ScoresShapeError(
        f'{_prefix(where)}layout "{layout}" is {LAYOUTS[layout]}; the shape found is {array.shape}. '
        "Cut padding off, or pass lengths to decode_batch()."
    )


def to_floats(scores: npt.ArrayLike, *, where: Where = "") -> FloatArray:
    """`scores` as a native, aligned float32 or float64 array of any shape; itself if it is one already.

    Raises ScoresTypeError where that is impossible or would lose something unseen (a mask, an imaginary part).
    """
    if type(scores) is np.ndarray and scores.dtype.char in "fd" and scores.dtype.isnative and scores.flags.aligned:
        return scores
    try:
        array = np.asarray(scores)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ScoresTypeError(
            f"{_prefix(where)}the arc scores can't be read as an array ({error}). Rows must have equal lengths; "
            "bring arrays of a GPU to the host first (CuPy: `.get()`, torch: `.detach().cpu()`)."
        ) from error
    if np.ma.isMaskedArray(scores):
        raise ScoresTypeError(
            f"{_prefix(where)}the arc scores are a masked array, whose mask would be ignored. Pass `scores.filled(-np.inf)`."
        )
    dtype: npt.DTypeLike
    if array.dtype.kind == "f":
        dtype = np.float64 if array.dtype.itemsize > 4 else np.float32
    elif array.dtype.kind in "iu":
        dtype = np.float64
    elif array.dtype.name == "bfloat16":
        dtype = np.float32
    else:
        raise ScoresTypeError(f"{_prefix(where)}arc scores are real numbers, found dtype {array.dtype}.")
    return np.require(array, dtype=dtype, requirements="A")


def to_int_array(numbers: npt.ArrayLike) -> npt.NDArray[np.int64] | None:
    """`numbers` as a contiguous 1-D array, or None if they are not a 1-D array of ints that fit."""
    if type(numbers) is np.ndarray and numbers.dtype == np.int64 and numbers.ndim == 1:
        return np.ascontiguousarray(numbers)
    try:
        array = np.asarray(numbers)
    except (TypeError, ValueError):
        return None
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        return None
    if array.size and array.max() > np.iinfo(np.int64).max:
        return None
    return np.ascontiguousarray(array, dtype=np.int64)


def check_layout(layout: str) -> None:
    if not isinstance(layout, str) or layout not in LAYOUTS:
        names = "; ".join(f'"{name}": {text}' for name, text in LAYOUTS.items())
        raise ScoresShapeError(f"there is no layout {layout!r}. The layouts are {names}.")


def reduce_labels(
    scores: npt.ArrayLike, *, root_label: int | None = None, layout: Layout = "root_column"
) -> tuple[FloatArray, npt.NDArray[np.unsignedinteger[Any]]]:
    """The best label of every arc, and its score: the paper's multigraph, reduced to a graph.

    Of several arcs between the same two tokens only the best can be in the best tree (Zmigrod et al. 2020, section 2),
    so the tree decoded from the reduced scores is the best labelled tree.

    Parameters
    ----------
    scores : array-like
        Scores of labelled arcs: arc scores in `layout`, with the labels as third dimension. Larger is better, -inf
        forbids a label on an arc.
    root_label : int, optional
        Index of ROOT's label. It is then the only label on arcs from ROOT, and on no other arc.
    layout : str
        Tells where the arcs from ROOT are; matters only with `root_label`.

    Returns
    -------
    scores : array of shape `scores.shape[:2]`
    best_label : array of unsigned ints, as narrow as will do, of the same shape. The lowest index where labels tie.

    Raises
    ------
    ScoresShapeError, ScoresTypeError, LabelsError
    """
    check_layout(layout)
    array = to_floats(scores)
    if array.ndim != 3 or array.shape[2] == 0:
        raise ScoresShapeError(
            f"labelled scores have 3 dimensions, the last of them for at least one label; the shape found is {array.shape}."
        )
    labels = array.shape[2]
    if root_label is not None:
        if not isinstance(root_label, int | np.integer) or not 0 <= root_label < labels:
            raise LabelsError(f"root_label is {root_label!r}, but there are {labels} labels, counted from 0.")
        from_root = np.zeros(array.shape[:2], dtype=bool)
        if layout == "root_diagonal":
            np.fill_diagonal(from_root, True)
        elif layout == "square_transposed":
            from_root[:1] = True
        else:
            from_root[:, :1] = True
        allowed = from_root[:, :, np.newaxis] == (np.arange(labels) == root_label)
        array = np.where(allowed, array, array.dtype.type(-np.inf))
    best_label = array.argmax(axis=2)
    best = np.take_along_axis(array, best_label[:, :, np.newaxis], axis=2)[:, :, 0]
    return best, best_label.astype(np.min_scalar_type(labels - 1))


def _prefix(where: Where) -> str:
    where = where if isinstance(where, str) else where()
    return f"{where}: " if where else ""
