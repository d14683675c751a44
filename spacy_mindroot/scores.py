"""The contract for arc scores: their layouts and dtypes. All input of the core is checked and converted here."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, Literal, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from .core import _core
from .errors import CountError, LabelsError, MindRootError, ScoresShapeError, ScoresTypeError

__all__ = ["LAYOUTS", "Layout", "rearrange", "to_root_column"]

FloatArray = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.integer[Any]]
Where = str | Callable[[], str]  # a function where building the text costs more than decoding the sentence
Layout = Literal["root_column", "square", "square_transposed", "root_diagonal"]

LAYOUTS: dict[Layout, str] = {
    "root_column": "(n, n+1), [dependent, head], column 0 is ROOT",
    "square": "(n+1, n+1), [dependent, head], index 0 is ROOT",
    "square_transposed": "(n+1, n+1), [head, dependent], index 0 is ROOT",
    "root_diagonal": "(n, n), [dependent, head], the score of ROOT on the diagonal",
}
# Compared by identity, which is safe for any object; other strings take the long way.
_ROOT_COLUMN: Layout = "root_column"
_MOST = 1 << 30
_EXACT = 1 << 53  # float64 has all ints up to this


def to_root_column(scores: npt.ArrayLike, layout: Layout = "root_column", *, where: Where = "") -> FloatArray:
    """Return the arc scores of one sentence as the core reads them.

    Parameters
    ----------
    scores : array-like
        Arc scores in `layout`. float32 and float64 are used as they are, with any strides; float16 and bfloat16 become
        float32, integers and long doubles become float64. Integers that float64 does not have are an error.
    layout : {"root_column", "square", "square_transposed", "root_diagonal"}
        How `scores` is laid out; see `LAYOUTS`. It is never guessed. In the square layouts the scores of arcs into ROOT
        are not read.
    where : str or callable returning str
        The name of the sentence in error messages.

    Returns
    -------
    ndarray of float32 or float64, (n, n+1)
        `[dependent, head]`, column 0 = ROOT. A view of `scores` wherever dtype and layout allow ("root_diagonal" is
        always a copy). It may be read-only.

    Raises
    ------
    ScoresShapeError
        If the shape does not fit the layout, or there is no such layout.
    ScoresTypeError
        If `scores` are not real numbers in host memory, or are integers beyond 2**53 that would be rounded.

    Examples
    --------
    >>> from spacy_mindroot.scores import to_root_column
    >>> to_root_column([[5, 1], [2, 6]], "root_diagonal")
    array([[5., 5., 1.],
           [6., 2., 6.]])
    """
    if layout is _ROOT_COLUMN:
        try:
            if _core.is_readable(scores):
                return scores  # type: ignore[return-value]
        except (ValueError, BufferError):  # dtypes that no buffer can hold, such as dates: to_floats reports them
            pass
    return rearrange(to_floats(scores, where=where), layout, where=where)


def rearrange(array: npt.NDArray[Any], layout: Layout, *, where: Where = "") -> npt.NDArray[Any]:
    """Return an array of any dtype in layout "root_column", such as the label indexes of the arcs.

    Parameters, errors and result as for `to_root_column`.
    """
    check_layout(layout)
    if array.shape == (0,):  # decode([]): no tokens
        return np.empty((0, 1), dtype=array.dtype)
    if array.ndim != 2:
        hint = ""
        if array.ndim == 3:
            hint = " Scores with labels go through reduce_labels() first, a padded batch through unpad() with lengths."
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
            f"{_prefix(where)}a square matrix, shape {array.shape}, does not say where ROOT is. "
            f"Say it with layout=... ({others})."
        )
    raise ScoresShapeError(
        f'{_prefix(where)}layout "{layout}" is {LAYOUTS[layout]}; the shape found is {array.shape}. '
        "Cut padding off, with unpad() for a batch."
    )


def to_floats(scores: npt.ArrayLike, *, where: Where = "") -> FloatArray:
    """Return `scores` as a native, aligned float32 or float64 array of any shape; the array itself if it is one.

    Raise ScoresTypeError if the conversion is impossible, or would silently drop something: a mask, an imaginary part.
    """
    if type(scores) is np.ndarray and scores.dtype.char in "fd" and scores.dtype.isnative and scores.flags.aligned:
        return scores
    try:
        array = np.asarray(scores)
    except MemoryError:
        raise
    except Exception as error:  # an `__array__` of any library may raise anything
        raise ScoresTypeError(
            f"{_prefix(where)}the arc scores can't be read as an array ({error}). Rows must have equal lengths; "
            "bring arrays of a GPU to the host first (CuPy: `.get()`, torch: `.detach().cpu()`)."
        ) from error
    if np.ma.isMaskedArray(scores):
        raise ScoresTypeError(
            f"{_prefix(where)}the arc scores are a masked array, whose mask would be ignored. "
            "Pass `scores.filled(-np.inf)`."
        )
    dtype: npt.DTypeLike
    if array.dtype.kind == "f":
        dtype = np.float64 if array.dtype.itemsize > 4 else np.float32
    elif array.dtype.kind in "iu":
        dtype = np.float64
        _check_exact(array, where)
    elif array.dtype.name == "bfloat16":
        dtype = np.float32
    else:
        raise ScoresTypeError(f"{_prefix(where)}arc scores are real numbers, found dtype {array.dtype}.")
    with np.errstate(over="ignore"):  # a long double too large for float64 becomes inf, which decoding reports
        return np.require(array, dtype=dtype, requirements="A")


def _check_exact(array: npt.NDArray[Any], where: Where) -> None:
    """Raise ScoresTypeError if an int would be rounded: the best tree of the rounded scores may be another one."""
    if array.dtype.itemsize < 8 or not array.size or (array.max() <= _EXACT and array.min() >= -_EXACT):
        return
    rounded = array.astype(object) != array.astype(np.float64).astype(object)
    if rounded.any():
        raise ScoresTypeError(
            f"{_prefix(where)}the arc score {array[rounded][0]} is beyond 2**53, and float64 has no such number. "
            "Subtract a constant from each row, which changes no tree, or convert the scores to floats."
        )


def to_int_array(numbers: npt.ArrayLike) -> npt.NDArray[np.int64] | None:
    """Return `numbers` as a contiguous 1-D array, or None unless they are a 1-D array of ints that fit into 64 bits."""
    if type(numbers) is np.ndarray and numbers.dtype == np.int64 and numbers.ndim == 1:
        return np.ascontiguousarray(numbers)
    try:
        array = np.asarray(numbers)
    except MemoryError:
        raise
    except Exception:  # see to_floats
        return None
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        return None
    if array.size and array.max() > np.iinfo(np.int64).max:
        return None
    return np.ascontiguousarray(array, dtype=np.int64)


def to_count(number: object, name: str, *, what: str = "trees", least: int = 1, most: int = _MOST) -> int:
    """Return `number` as an int between `least` and `most`. Raise CountError if it is anything else, such as a bool.

    The message says that `name` is a number of `what`.
    """
    try:
        count = operator.index(cast(SupportsIndex, number))
    except TypeError as error:
        raise CountError(f"{name} is {shown(number)}; it is a number of {what}, an int.") from error
    if isinstance(number, bool):
        raise CountError(f"{name} is {number}; it is a number of {what}, an int.")
    if not least <= count <= most:
        raise CountError(f"{name} is {shown(count)}; it is a number of {what}, from {least} to {most:,}.")
    return count


def is_number(value: object) -> bool:
    """Whether `value` is a real number, of Python or NumPy."""
    return isinstance(value, Real)


def to_list(values: object, name: str, error: type[MindRootError]) -> list[Any]:
    """Return the elements of an iterable; raise `error` if `values` is none, or a string."""
    try:
        if not isinstance(values, (str, bytes)):
            return [*iter(cast(Iterable[Any], values))]
    except TypeError:
        pass
    raise error(f"{name} must be a list or another iterable; found {shown(values)}.")


def to_texts(values: object, name: str, length: int, error: type[MindRootError]) -> list[str]:
    """Return labels or parts of speech, one per token, as a list; "" for None. Raise `error` if they are none."""
    texts = ["" if text is None else text for text in to_list(values, name, error)]
    if len(texts) != length:
        raise error(f"there are {length} tokens, but {name} is for {len(texts)}.")
    if not all(isinstance(text, str) for text in texts):
        raise error(f"{name} must be strings; found {shown(values)}.")
    return texts


def check_layout(layout: str) -> None:
    """Raise ScoresShapeError unless `layout` is one of `LAYOUTS`."""
    if not isinstance(layout, str) or layout not in LAYOUTS:
        names = "; ".join(f'"{name}": {text}' for name, text in LAYOUTS.items())
        raise ScoresShapeError(f"there is no layout {shown(layout)}. The layouts are {names}.")


def reduce_labels(
    scores: npt.ArrayLike, *, root_label: int | None = None, layout: Layout = "root_column"
) -> tuple[FloatArray, npt.NDArray[np.unsignedinteger[Any]]]:
    """Return the score of the best label of every arc, and that label.

    Of several arcs between the same two tokens only the best can be in the best tree [1]_, so the tree decoded from the
    reduced scores is the best labelled tree.

    Parameters
    ----------
    scores : array-like
        Scores of labelled arcs: arc scores in `layout` with the labels as third dimension, such as (n, n+1, labels).
        Larger is better; -inf forbids a label on an arc.
    root_label : int, optional
        Index of ROOT's label. It is then the only label on arcs from ROOT, and on no other arc.
    layout : {"root_column", "square", "square_transposed", "root_diagonal"}
        Where the arcs from ROOT are. It matters only with `root_label`.

    Returns
    -------
    scores : ndarray of float32 or float64, as the first two dimensions of the input
        The score of the best label of each arc, to be decoded with the same `layout`.
    best_label : ndarray of unsigned ints, same shape
        Its index, in the narrowest dtype that holds all labels. Ties go to the lowest index.

    Raises
    ------
    ScoresShapeError
        If there are not three dimensions, no labels, or no such layout.
    ScoresTypeError
        If `scores` are not real numbers in host memory.
    LabelsError
        If `root_label` is not the index of a label.

    Notes
    -----
    Linear time. A NaN is kept, so that decoding reports it.

    References
    ----------
    .. [1] Zmigrod, Vieira and Cotterell (2020), "Please Mind the Root: Decoding Arborescences for Dependency Parsing",
       section 2. https://doi.org/10.18653/v1/2020.emnlp-main.390

    Examples
    --------
    One token, whose head is ROOT; three labels:

    >>> from spacy_mindroot import reduce_labels
    >>> best, label = reduce_labels([[[1, 5, 2], [0, 0, 0]]])
    >>> best
    array([[5., 0.]])
    >>> label
    array([[1, 0]], dtype=uint8)
    >>> reduce_labels([[[1, 5, 2], [0, 0, 0]]], root_label=2)[1]
    array([[2, 0]], dtype=uint8)
    """
    check_layout(layout)
    array = to_floats(scores)
    if array.ndim != 3 or array.shape[2] == 0:
        raise ScoresShapeError(
            "labelled scores have 3 dimensions, the last of them for at least one label; "
            f"the shape found is {array.shape}."
        )
    labels = array.shape[2]
    if root_label is not None:
        is_int = isinstance(root_label, int | np.integer) and not isinstance(root_label, bool)
        if not is_int or not 0 <= root_label < labels:
            raise LabelsError(f"root_label is {shown(root_label)}, but there are {labels} labels, counted from 0.")
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


def shown(value: object) -> str:
    """Return `repr(value)` for a message: its beginning, or its type where it has none."""
    try:
        return repr(value)[:100]
    except Exception:  # such as an int of more than 4300 digits
        return f"an object of type {type(value).__name__}"
