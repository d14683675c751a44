"""Score files: the arc scores of many sentences in one `.npz`, as a parser elsewhere may leave them.

| array        | dtype, size             | meaning                                                             |
| ------------ | ----------------------- | ------------------------------------------------------------------- |
| `lens`       | ints [S]                | tokens n of each sentence                                           |
| `arc`        | floats [sum n(n+1)]     | the (n, n+1) arc scores of each sentence, row after row, end to end |
| `words`      | uint8                   | UTF-8, one word a line; optional, as is all that follows            |
| `labels`     | uint8                   | UTF-8, one label a line                                             |
| `label_best` | unsigned ints, as `arc` | index of the best label of each arc; goes with `labels`             |
| `heads`      | ints [sum n]            | gold heads, 0 = ROOT, -1 = not known                                |
| `deprels`    | unsigned ints [sum n]   | index of the gold label of each token; goes with `labels`, `heads`  |

Other arrays are ignored. No pickles are read.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import MindRootError, ScoreFileError
from .scored import ScoredSentence
from .scores import FloatArray, Ints, to_floats


def read_score_file(path: str | Path) -> list[ScoredSentence]:
    """All sentences of a score file; their arrays are views of the file's.

    RAISES (ScoreFileError): If the file is not one: names the file, the array and what is wrong.
    """
    names = ("lens", "arc", "words", "labels", "label_best", "heads", "deprels")
    try:
        with zipfile.ZipFile(path):  # np.load would take other files for pickles
            pass
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in names if name in archive}
    except (OSError, ValueError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise ScoreFileError(f"{path} can't be read as an .npz file of arc scores: {error}") from error
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ScoreFileError(f"{path}: `{name}` is not an array in numpy's format.")
    try:
        return list(_sentences(arrays))
    except MindRootError as error:
        raise ScoreFileError(f"{path}: {error}") from error


def write_score_file(
    path: str | Path,
    *,
    scores: Sequence[FloatArray],
    words: Sequence[Sequence[str]],
    labels: Sequence[str],
    best_labels: Sequence[Ints],
    gold_heads: Sequence[Ints],
    gold_labels: Sequence[Sequence[str]] | None = None,
) -> None:
    """Writes a score file.

    scores, words, best_labels, gold_heads, gold_labels: Of each sentence, as in ScoredSentence. Scores are stored as float32;
        white space in words becomes a single space, and a word of nothing else an underscore, since a file has one word a
        line.
    labels (Sequence[str]): What the numbers in `best_labels` mean. Gold labels that are not among them are added to the file's.
    """
    numbers = {label: number for number, label in enumerate(labels)}
    for label in chain.from_iterable(gold_labels or []):
        numbers.setdefault(label, len(numbers))
    small = np.min_scalar_type(max(len(numbers) - 1, 0))
    optional: dict[str, Any] = {}
    if gold_labels is not None:
        optional["deprels"] = np.array([numbers[label] for label in chain.from_iterable(gold_labels)], dtype=small)
    np.savez_compressed(
        path,
        lens=np.array([len(matrix) for matrix in scores], dtype=np.int32),
        arc=_flat(scores, np.float32),
        words=_bytes([" ".join(word.split()) or "_" for sentence in words for word in sentence]),
        labels=_bytes(list(numbers)),
        label_best=_flat(best_labels, small),
        heads=_flat(gold_heads, np.int32),
        **optional,
    )


def _flat(arrays: Sequence[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *(np.ravel(array) for array in arrays)]).astype(dtype)


def _bytes(lines: Sequence[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode("utf8"), dtype=np.uint8)


def _sentences(arrays: dict[str, npt.NDArray[Any]]) -> Iterator[ScoredSentence]:
    for name in ("lens", "arc"):
        if name not in arrays:
            raise ScoreFileError(f"there is no array `{name}`. A score file has at least `lens` and `arc`.")
    lengths = _to_ints(arrays, "lens", below=1 << 30)
    tokens, cells = sum(lengths.tolist()), sum((lengths * (lengths + 1)).tolist())
    arcs = to_floats(arrays["arc"], where="`arc`")
    words = _lines(arrays, "words") or ["_"] * tokens
    label_names = _lines(arrays, "labels")
    shapes = {"arc": (arcs.shape, cells), "words": ((len(words),), tokens)}
    best_labels = gold_heads = gold_labels = None
    if "label_best" in arrays:
        best_labels = _to_ints(arrays, "label_best", below=len(label_names))
        shapes["label_best"] = (best_labels.shape, cells)
    if "heads" in arrays:
        gold_heads = _to_ints(arrays, "heads", below=1 << 30, least=-1)
        shapes["heads"] = (gold_heads.shape, tokens)
    if "deprels" in arrays:
        numbers = _to_ints(arrays, "deprels", below=len(label_names))
        gold_labels = [label_names[number] for number in numbers.tolist()]
        shapes["deprels"] = (numbers.shape, tokens)
    for name, (found, wanted) in shapes.items():
        if found != (wanted,):
            raise ScoreFileError(f"`{name}` has shape {found}, but the lengths in `lens` ask for ({wanted},).")

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


def _to_ints(arrays: dict[str, npt.NDArray[Any]], name: str, *, below: int, least: int = 0) -> Ints:
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ScoreFileError(f"`{name}` is to be a 1-D array of ints; found dtype {array.dtype}, shape {array.shape}.")
    if array.size and not least <= array.min() <= array.max() < below:
        raise ScoreFileError(
            f"`{name}` has numbers from {array.min()} to {array.max()}; they are to be from {least} to {below - 1}."
        )
    return array.astype(np.int64) if name == "lens" else array


def _lines(arrays: dict[str, npt.NDArray[Any]], name: str) -> list[str]:
    if name not in arrays or arrays[name].size == 0:
        return []
    if arrays[name].dtype != np.uint8:
        raise ScoreFileError(f"`{name}` is to be the bytes of UTF-8 text, dtype uint8, not {arrays[name].dtype}.")
    try:
        return arrays[name].tobytes().decode("utf8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ScoreFileError(f"`{name}` is not UTF-8: {error}.") from error
