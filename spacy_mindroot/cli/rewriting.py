"""Reads CoNLL-U sentence by sentence, and writes it back with changes, for `repair` and `vote`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from tqdm import tqdm
from wasabi import table

from ..conllu import Sentence
from ..conllu.files import gzipped, is_gzip
from .files import Opened, printable

__all__ = [
    "Progress",
    "made_folders",
    "opened_conllu",
    "rewritten",
    "shown_name",
    "violations_table",
]

_STEP = 1 << 20  # bytes between two updates of a progress bar

Piece = TypeVar("Piece", Sentence, list[Sentence])


def violations_table(before: Counter[str], after: Counter[str]) -> str:
    """Return the violations of each rule before and after, the most frequent first, and their sum."""
    names = sorted(before | after, key=lambda name: -before[name])
    rows = [(name, f"{before[name]:,}", f"{after[name]:,}") for name in names]
    rows.append(("all", f"{before.total():,}", f"{after.total():,}"))
    return str(table(rows, header=("Violations of rules", "before", "after"), aligns=("l", "r", "r"), max_col=60))


def shown_name(path: Path) -> str:
    """Return the name of an input in messages."""
    return "<stdin>" if str(path) == "-" else printable(path)


class Progress:
    """A progress bar over bytes of input, on a terminal only.

    It shows no total for standard input and compressed files.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        total = None
        if not any(str(file) == "-" or file.name.endswith(".gz") for file in files):
            total = sum(file.stat().st_size for file in files)
        disable = None if sys.stderr is not None else True  # None: unless standard error is a terminal
        self._bar = tqdm(total=total, unit="B", unit_scale=True, disable=disable, delay=1, leave=False)
        self._done = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def add(self, size: int) -> None:
        """Count bytes of input."""
        self._done += size
        if self._done > _STEP:
            self._bar.update(self._done)
            self._done = 0


def rewritten(pieces: Iterable[Piece | bytes], out: BinaryIO | None, progress: Progress) -> Iterator[Piece]:
    """Iterate over sentences that the caller changes in place, and write them back with the bytes between them.

    pieces (Iterable): The result of `read_pieces` or `in_step`. Of several sentences that belong together, the first is
        written.
    out (Optional[BinaryIO]): Receives each sentence when the caller asks for the next. If None, nothing is written.
    """
    for piece in pieces:
        if isinstance(piece, bytes):
            progress.add(len(piece))
            if out is not None:
                out.write(piece)
            continue
        first = piece[0] if isinstance(piece, list) else piece
        progress.add(sum(map(len, first.lines)))
        yield piece
        if out is not None:
            out.write(first.to_bytes())


@contextmanager
def opened_conllu(opened: Opened, target: Path, source: Path) -> Iterator[BinaryIO]:
    """Open a file for CoNLL-U. If it is to be compressed with gzip, what is written to it is compressed.

    It is compressed if `source` is, where both have the same name; otherwise if its own name ends in `.gz`. Standard
    output never is.

    opened (Callable): From `outputs`.
    target, source (Path): The file to write, and the file that it is made from.
    """
    with opened(target) as file:
        same_name = str(target) != "-" and target.name == source.name
        if not (is_gzip(source) if same_name else target.name.endswith(".gz")):
            yield file
            return
        with gzipped(file) as text:
            yield cast(BinaryIO, text)


@contextmanager
def made_folders(folders: Iterable[Path]) -> Iterator[None]:
    """Make folders that are missing. After an error, those that have been made are removed if they are empty."""
    made: list[Path] = []
    try:
        for folder in folders:
            for path in (*reversed(folder.parents), folder):
                if not path.exists():
                    path.mkdir()
                    made.append(path)
        yield
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir()
        raise
