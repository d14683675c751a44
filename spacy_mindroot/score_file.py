"""Score files: the arc scores of many sentences in one `.npz`, which a parser of any kind can write.

| array        | dtype, size             | meaning                                                             |
| ------------ | ----------------------- | ------------------------------------------------------------------- |
| `lens`       | ints [S]                | tokens n of each sentence                                           |
| `arc`        | floats [sum n(n+1)]     | the (n, n+1) arc scores of each sentence, row after row, end to end |
| `words`      | uint8                   | UTF-8, one word per line; optional, as is all that follows          |
| `labels`     | uint8                   | UTF-8, one label per line                                           |
| `label_best` | unsigned ints, as `arc` | index of the best label of each arc; goes with `labels`             |
| `heads`      | ints [sum n]            | gold heads, 0 = ROOT, -1 = unknown                                  |
| `deprels`    | unsigned ints [sum n]   | index of the gold label of each token; goes with `labels`, `heads`  |

Other arrays are ignored. Pickles are never read.

A file is checked before memory is allocated: the header of each array against the size of its member in the archive,
and all sizes against `lens`. A file may grow at most 200-fold in memory, or to 64 MiB if that is more.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .core import _core
from .errors import MindRootError, ScoreFileError
from .replacing import replacing
from .scored import ScoredSentence
from .scores import Ints, Layout, rearrange, shown, to_floats, to_list, to_root_column, to_texts

__all__ = ["read_score_file", "write_score_file", "write_scored"]

_NAMES = ("lens", "arc", "words", "labels", "label_best", "heads", "deprels")
_MOST_GROWTH = 200  # bytes in memory for each byte of the file
_SMALL = 64 << 20  # bytes that any file may take
_PER_SENTENCE, _PER_LINE = 500, 70  # bytes of a ScoredSentence and its views, and of a short str in a list
_HEADERS: dict[tuple[int, int], Callable[..., tuple[tuple[int, ...], bool, np.dtype[Any]]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_score_file(path: str | Path) -> list[ScoredSentence]:
    """Return all sentences of a score file. Their arrays are views of the arrays of the file.

    Parameters
    ----------
    path : str or Path
        The file.

    Raises
    ------
    ScoreFileError
        If the file can't be read, lacks an array, has arrays that do not fit together, or claims to be larger than it
        is. The message names the file, the array and what is wrong.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from spacy_mindroot import decode, read_score_file
    >>> path = os.path.join(tempfile.mkdtemp(), "two.npz")
    >>> np.savez(path, lens=[1, 2], arc=np.array([1, 0, 0, 0, 2, 1, 0, 0], dtype=np.float32))
    >>> [decode(sentence.scores).tolist() for sentence in read_score_file(path)]
    [[0], [2, 0]]
    """
    try:
        with open(Path(path), "rb") as file, zipfile.ZipFile(file) as archive:
            return list(_sentences(_Archive(archive, os.fstat(file.fileno()).st_size)))
    except MindRootError as error:
        raise ScoreFileError(f"{path}: {error}") from error
    except Exception as error:  # of zipfile, zlib, numpy, ast or tokenize, if the archive is damaged
        reason = "there is not enough memory" if isinstance(error, MemoryError) else error
        raise ScoreFileError(f"{path} can't be read as an .npz file of arc scores: {reason}") from error


def write_score_file(
    path: str | Path,
    *,
    scores: Sequence[npt.ArrayLike],
    words: Sequence[Sequence[str]] | None = None,
    labels: Sequence[str] | None = None,
    best_labels: Sequence[npt.ArrayLike] | None = None,
    gold_heads: Sequence[npt.ArrayLike] | None = None,
    gold_labels: Sequence[Sequence[str]] | None = None,
    layout: Layout = "root_column",
) -> None:
    """Write a score file.

    Parameters
    ----------
    path : str or Path
        The file, exactly as named: no suffix is added. It appears under this name only when it is complete, in place
        of any file that was there.
    scores : sequence of array-likes, (n, n+1) each
        The arc scores of each sentence, as for `decode`. They are stored as float32; as float64 only if a finite
        score is too large for float32.
    words : sequence of sequences of str, (n,) each, optional
        The tokens of each sentence. White space in a word becomes a single space, and a word of nothing else an
        underscore, since a file has one word per line.
    labels : sequence of str, optional
        All labels. Gold labels that are not among them are added to those of the file.
    best_labels : sequence of array-likes of ints, (n, n+1) each, optional
        The best label of each arc of each sentence, as an index into `labels`. Self arcs need an index, too.
    gold_heads : sequence of array-likes of ints, (n,) each, optional
        The gold heads of each sentence: 0 = ROOT, j = token j-1, -1 = unknown.
    gold_labels : sequence of sequences of str, (n,) each, optional
        The gold labels of each sentence. They go with `gold_heads`.
    layout : str
        The layout of each array of `scores` and `best_labels`. See `decode`. The file has layout "root_column".

    Raises
    ------
    ScoreFileError
        If the arguments do not fit each other. The message names the sentence. Nothing is written.
    OSError
        If the file can't be written. A file that was there is kept.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from spacy_mindroot import read_score_file, write_score_file
    >>> path = os.path.join(tempfile.mkdtemp(), "one.npz")
    >>> write_score_file(path, scores=[[[0, 0, 2], [1, 0, 0]]], words=[["They", "win"]], gold_heads=[[2, 0]])
    >>> sentence = read_score_file(path)[0]
    >>> sentence.words, sentence.gold_heads
    (['They', 'win'], array([2, 0], dtype=int32))
    """
    try:
        arrays = _to_arrays(scores, words, labels, best_labels, gold_heads, gold_labels, layout)
    except MindRootError as error:
        raise ScoreFileError(f"{path} is not written: {error}") from error
    with replacing(Path(path)) as file:
        np.savez_compressed(file, **arrays)
        if _memory(arrays) > max(_SMALL, _MOST_GROWTH * file.tell()):  # so regular that it would look like a bomb
            file.seek(0)
            file.truncate()
            np.savez(file, **arrays)


def write_scored(path: str | Path, sentences: Sequence[ScoredSentence]) -> None:
    """Write sentences with their scores, labels and gold trees to a score file. See `write_score_file`.

    Labels are written if all sentences have them, and so are gold trees. The names of labels may differ from sentence
    to sentence. Where there are no labels at all, each arc gets `dep`, the label that it would have anyway.
    """
    names = list(dict.fromkeys(name for each in sentences for name in each.label_names)) or ["dep"]
    numbers = {name: number for number, name in enumerate(names)}
    best = []
    for each in sentences:
        own = np.array([numbers[name] for name in each.label_names], dtype=np.min_scalar_type(len(names)))
        best.append(np.zeros(each.scores.shape, own.dtype) if each.best_labels is None else own[each.best_labels])
    gold = [each.gold_heads for each in sentences if each.gold_heads is not None]
    has_gold = len(gold) == len(sentences)
    write_score_file(
        path,
        scores=[each.scores for each in sentences],
        words=[each.words for each in sentences],
        labels=names,
        best_labels=best,
        gold_heads=gold if has_gold else None,
        gold_labels=[each.gold_labels or [""] * len(each.words) for each in sentences] if has_gold else None,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def _to_arrays(
    scores: Sequence[npt.ArrayLike],
    words: Sequence[Sequence[str]] | None,
    labels: Sequence[str] | None,
    best_labels: Sequence[npt.ArrayLike] | None,
    gold_heads: Sequence[npt.ArrayLike] | None,
    gold_labels: Sequence[Sequence[str]] | None,
    layout: Layout,
) -> dict[str, Any]:
    """Return the arrays of the file. Raises MindRootError if the arguments do not fit each other."""
    given = to_list(scores, "`scores`", ScoreFileError)
    matrices = [to_root_column(matrix, layout, where=_sentence(k)) for k, matrix in enumerate(given)]
    lengths = [len(matrix) for matrix in matrices]
    arrays: dict[str, Any] = {"lens": np.array(lengths, dtype=np.int32), "arc": _join(matrices, np.float32)}
    if words is not None:
        own = _strings(words, "words", lengths)
        arrays["words"] = _lines_to_bytes([" ".join(word.split()) or "_" for word in chain.from_iterable(own)], "words")

    label_names = [] if labels is None else to_list(labels, "`labels`", ScoreFileError)
    n_labels = len(label_names)
    if gold_labels is not None:
        if gold_heads is None:
            raise ScoreFileError("`gold_labels` go with `gold_heads`, and there are none.")
        gold = list(chain.from_iterable(_strings(gold_labels, "gold_labels", lengths)))
        known = set(label_names)
        label_names += dict.fromkeys(label for label in gold if label not in known)
    for label in label_names:
        if not isinstance(label, str) or "\n" in label:
            raise ScoreFileError(f"{shown(label)} is no label; labels are strings without line breaks.")
    small = np.min_scalar_type(max(len(label_names) - 1, 0))
    if labels is not None or gold_labels is not None:
        arrays["labels"] = _lines_to_bytes(label_names, "labels")
    if best_labels is not None:
        if labels is None:
            raise ScoreFileError("`best_labels` are indexes into `labels`, and there are none.")
        shapes: list[tuple[int, ...]] = [
            (n, n + 1) if layout == "root_column" else np.shape(matrix)
            for n, matrix in zip(lengths, given, strict=True)
        ]
        found = _int_arrays(best_labels, "best_labels", shapes, 0, lambda n: n_labels - 1)
        arrays["label_best"] = _join([rearrange(array, layout) for array in found], small)
    if gold_heads is not None:
        shapes = [(n,) for n in lengths]
        arrays["heads"] = _join(_int_arrays(gold_heads, "gold_heads", shapes, -1, lambda n: n), np.int32)
    if gold_labels is not None:
        numbers = {label: number for number, label in reversed([*enumerate(label_names)])}  # the first of equal ones
        arrays["deprels"] = np.array([numbers[label] for label in gold], dtype=small)
    return arrays


def _memory(arrays: dict[str, npt.NDArray[Any]]) -> int:
    """Return at least the bytes that reading these arrays takes, as `_Archive` and `_sentences` count them."""
    lines = sum(1 + arrays[name].tobytes().count(b"\n") for name in ("words", "labels") if name in arrays)
    stored = sum(2 * array.nbytes + 1000 for array in arrays.values())
    tokens = int(arrays["lens"].sum(dtype=np.int64))
    return stored + 8 * arrays["arc"].size + 40 * tokens + _PER_SENTENCE * len(arrays["lens"]) + _PER_LINE * lines


def _sentence(k: int) -> str:
    return f"sentence {k + 1} (index {k})"


def _of_sentences(values: Sequence[Any], name: str, lengths: Sequence[Any]) -> Iterator[tuple[int, Any, Any]]:
    """Yield the index, the value and the length of each sentence."""
    items = to_list(values, f"`{name}`", ScoreFileError)
    if len(items) != len(lengths):
        raise ScoreFileError(f"there are scores for {len(lengths)} sentences, but `{name}` for {len(items)}.")
    return zip(range(len(items)), items, lengths, strict=True)


def _strings(values: Sequence[Sequence[str]], name: str, lengths: list[int]) -> list[list[str]]:
    """Return strings, one for each token of each sentence."""
    sentences = _of_sentences(values, name, lengths)
    return [to_texts(own, f"`{name}` of {_sentence(k)}", n, ScoreFileError) for k, own, n in sentences]


def _int_arrays(
    values: Sequence[npt.ArrayLike],
    name: str,
    shapes: Sequence[tuple[int, ...]],
    least: int,
    most: Callable[[int], int],
) -> list[npt.NDArray[Any]]:
    """Return arrays of ints of these shapes. The greatest number allowed depends on the number of tokens."""
    found = []
    for k, own, shape in _of_sentences(values, name, shapes):
        try:
            array = np.asarray(own)
        except (TypeError, ValueError) as error:
            raise ScoreFileError(f"{_sentence(k)}: `{name}` can't be read as an array ({error}).") from error
        if array.shape != shape:
            raise ScoreFileError(f"{_sentence(k)}: `{name}` has shape {array.shape}, but the scores ask for {shape}.")
        _check_ints(array, f"{_sentence(k)}: `{name}`", least, most(shape[0]))
        found.append(array)
    return found


def _check_ints(array: npt.NDArray[Any], where: str, least: int, most: int) -> None:
    if array.size and array.dtype.kind not in "iu":
        raise ScoreFileError(f"{where} has dtype {array.dtype}; it holds ints.")
    if array.size and not least <= array.min() <= array.max() <= most:
        raise ScoreFileError(
            f"{where} has numbers from {array.min()} to {array.max()}; they must be from {least} to {most}."
        )


def _join(arrays: Sequence[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return the arrays end to end, in `dtype`; in float64 if finite scores would become infinite."""
    flat = np.concatenate([np.empty(0, dtype), *(np.ravel(array) for array in arrays)])
    with np.errstate(over="ignore"):
        small = flat.astype(dtype)
    if small.dtype.kind == "f" and (np.isinf(small) & np.isfinite(flat)).any():
        return flat.astype(np.float64)
    return small


def _lines_to_bytes(lines: Sequence[str], name: str) -> npt.NDArray[np.uint8]:
    try:
        text = "\n".join(lines) + ("\n" if lines and not lines[-1] else "")
        return np.frombuffer(text.encode("utf8"), dtype=np.uint8)
    except UnicodeEncodeError as error:  # half of a surrogate pair
        raise ScoreFileError(f"`{name}` can't be written as UTF-8 ({error}).") from error


# ---------------------------------------------------------------------------------------------------------------------
# Reading


class _Member(NamedTuple):
    """One array of an archive, of which only the header has been read."""

    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class _Archive:
    """The arrays of an .npz file. Their sizes are known, and checked against the file, before any of them is read."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        self._room = max(_SMALL, _MOST_GROWTH * size)
        found = {info.filename: info for info in archive.infolist()}
        infos = {name: found.get(f"{name}.npy", found.get(name)) for name in _NAMES}
        self.take(sum(info.file_size for info in infos.values() if info is not None))
        self.members = {name: self._header(name, info) for name, info in infos.items() if info is not None}

    def take(self, amount: int) -> None:
        """Account for bytes about to be allocated. Raises ScoreFileError if the file is too small for so many."""
        self._room -= amount
        if self._room < 0:
            raise ScoreFileError(
                f"it would take more than {_MOST_GROWTH} times its size in memory. If it is genuine, store it without "
                "compression (numpy.savez)."
            )

    def read(self, name: str) -> npt.NDArray[Any]:
        with self._archive.open(self.members[name].info) as file:
            return np.lib.format.read_array(file, allow_pickle=False)

    def _header(self, name: str, info: zipfile.ZipInfo) -> _Member:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ScoreFileError(f"`{name}` is compressed in a way that numpy does not use. Write it with numpy.savez.")
        with self._archive.open(info) as file:
            if file.read(6) != np.lib.format.MAGIC_PREFIX:
                raise ScoreFileError(f"`{name}` is not an array in numpy's format.")
            version = tuple(file.read(2))
            if version not in _HEADERS:
                raise ScoreFileError(f"`{name}` is in an unknown version of numpy's format, {version}.")
            shape, _, dtype = _HEADERS[version](file)
            room = info.file_size - file.tell()
        if dtype.hasobject:
            raise ScoreFileError(f"`{name}` can't be read: it holds Python objects, as pickles, which are never read.")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > room:
            raise ScoreFileError(
                f"`{name}` claims shape {shape} of {dtype}, {math.prod(shape) * dtype.itemsize:,} bytes, "
                f"but the file has {room:,} for it."
            )
        return _Member(info, shape, dtype)


def _sentences(archive: _Archive) -> Iterator[ScoredSentence]:
    for name in ("lens", "arc"):
        if name not in archive.members:
            raise ScoreFileError(f"there is no array `{name}`. A score file has at least `lens` and `arc`.")
    archive.take(_PER_SENTENCE * math.prod(archive.members["lens"].shape))
    lengths = _to_ints(archive, "lens", below=1 << 30).astype(np.int64)
    tokens, cells = _core.measure(lengths) or (0, 0)
    shapes = {"arc": cells, "label_best": cells, "heads": tokens, "deprels": tokens}
    for name, wanted in shapes.items():
        if name in archive.members and archive.members[name].shape != (wanted,):
            raise ScoreFileError(
                f"`{name}` has shape {archive.members[name].shape}, but the lengths in `lens` ask for ({wanted},)."
            )
    archive.take(8 * cells + 40 * tokens)

    arcs = to_floats(archive.read("arc"), where="`arc`")
    words = _lines(archive, "words") or ["_"] * tokens
    if len(words) != tokens:
        raise ScoreFileError(f"`words` has shape ({len(words)},), but the lengths in `lens` ask for ({tokens},).")
    label_names = _lines(archive, "labels")
    best_labels = gold_heads = gold_labels = None
    if "label_best" in archive.members:
        best_labels = _to_ints(archive, "label_best", below=len(label_names))
    if "heads" in archive.members:
        gold_heads = _to_ints(archive, "heads", below=1 << 30, least=-1)
        _check_heads(gold_heads, lengths)
    if "deprels" in archive.members:
        numbers = _to_ints(archive, "deprels", below=len(label_names))
        gold_labels = [label_names[number] for number in numbers.tolist()]

    token = cell = 0
    for n in lengths.tolist():
        in_tokens, in_cells = slice(token, token + n), slice(cell, cell + n * (n + 1))
        token, cell = in_tokens.stop, in_cells.stop
        yield ScoredSentence(
            scores=arcs[in_cells].reshape(n, n + 1),
            words=words[in_tokens],
            best_labels=None if best_labels is None else best_labels[in_cells].reshape(n, n + 1),
            label_names=label_names,
            gold_heads=None if gold_heads is None else gold_heads[in_tokens],
            gold_labels=None if gold_labels is None else gold_labels[in_tokens],
        )


def _to_ints(archive: _Archive, name: str, *, below: int, least: int = 0) -> Ints:
    array = archive.read(name)
    if array.ndim != 1:
        raise ScoreFileError(f"`{name}` must be a 1-D array of ints; found shape {array.shape}.")
    if array.size and below == 0:
        raise ScoreFileError(f"`{name}` has indexes into `labels`, and there are none.")
    _check_ints(array, f"`{name}`", least, below - 1)
    return array


def _check_heads(heads: Ints, lengths: npt.NDArray[np.int64]) -> None:
    beyond = np.flatnonzero(heads > np.repeat(lengths, lengths))
    if len(beyond):
        ends = np.cumsum(lengths)
        k = int(np.searchsorted(ends, beyond[0], side="right"))
        token = int(beyond[0] - (ends[k] - lengths[k])) + 1
        raise ScoreFileError(
            f"`heads` of {_sentence(k)}: the head of token {token} is {heads[beyond[0]]}, "
            f"but the sentence has {lengths[k]} tokens."
        )


def _lines(archive: _Archive, name: str) -> list[str]:
    if name not in archive.members or 0 in archive.members[name].shape:
        return []
    if archive.members[name].dtype != np.uint8:
        raise ScoreFileError(
            f"`{name}` must be the bytes of UTF-8 text, dtype uint8, not {archive.members[name].dtype}."
        )
    content = archive.read(name).tobytes()
    archive.take(len(content) + _PER_LINE * content.count(b"\n"))
    try:
        return content.decode("utf8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ScoreFileError(f"`{name}` is not UTF-8: {error}.") from error
