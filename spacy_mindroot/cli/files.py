"""Files and folders as all commands read and write them.

"-" stands for a standard stream. What is written appears under its name only when it is complete.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

import typer

from ..replacing import followed, is_device, place, temporary_file
from .running import written

__all__ = ["Opened", "if_given", "made_folders", "new_folder", "opened_to_read", "opened_to_write", "outputs"]

_BUFFER = 1 << 20  # bytes

Opened = Callable[[Path], AbstractContextManager[BinaryIO]]


@contextmanager
def opened_to_read(path: Path) -> Iterator[BinaryIO]:
    """Open a file, or standard input for "-"."""
    if str(path) == "-":
        if sys.stdin is None:
            raise OSError("standard input is closed.")
        yield sys.stdin.buffer
        return
    with open(path, "rb", buffering=_BUFFER) as file:
        yield file


@contextmanager
def outputs(*folders: Path) -> Iterator[Opened]:
    """Yield a function that opens files for writing. They take their places, all at once, when the block ends well.

    Until then they have temporary names (see `replacing`). An error or an interruption removes them and leaves what was
    there before.

    "-" is standard output. Symbolic links are followed, not replaced. Devices and pipes are written to directly. An
    exception that passes through gets a note on what has been written in spite of it.
    """
    complete: list[tuple[Path, Path]] = []
    begun: list[Path] = []
    direct: list[str] = []  # streams and devices that have been opened
    placed = 0

    @contextmanager
    def opened(path: Path) -> Iterator[BinaryIO]:
        if str(path) == "-":
            if sys.stdout is None:
                raise OSError("standard output is closed.")
            stream = typer.get_binary_stream("stdout")
            direct.append("standard output")
            yield stream
            stream.flush()
            return
        if is_device(path):
            with open(path, "wb") as file:
                direct.append(str(path))
                yield file
            return
        path = followed(path)
        part, temporary = temporary_file(path)
        begun.append(temporary)
        with part:
            yield part
        complete.append((temporary, path))

    with made_folders(*folders):
        try:
            yield opened
            for temporary, path in complete:
                place(temporary, path)
                placed += 1
            written(*direct, *(path for _, path in complete))
        except BaseException as error:
            if placed:
                error.add_note(f"{placed} of {len(complete)} files were written before that.")
            if direct:
                error.add_note(f"What was written to {', '.join(sorted(set(direct)))} before that is incomplete.")
            raise
        finally:
            for temporary in begun:
                temporary.unlink(missing_ok=True)


def if_given(opened: Opened, path: Path | None) -> AbstractContextManager[BinaryIO | None]:
    """Open a file with a function from `outputs`, unless it is None."""
    return nullcontext() if path is None else opened(path)


@contextmanager
def opened_to_write(path: Path) -> Iterator[BinaryIO]:
    """Open a single file for writing. See `outputs`."""
    with outputs() as opened, opened(path) as file:
        yield file


@contextmanager
def made_folders(*folders: Path) -> Iterator[None]:
    """Make folders that are missing. After an error, those that have been made are removed if they are empty."""
    made: list[Path] = []
    try:
        for folder in folders:
            for path in (*reversed(folder.parents), folder):
                if not path.exists():
                    path.mkdir(exist_ok=True)
                    made.append(path)
        yield
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir()
        raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder whose content moves to `path`, missing or empty, when the block ends well, and not else."""
    moved: list[Path] = []
    with made_folders(path):
        work = Path(tempfile.mkdtemp(dir=path, prefix=".mindroot-"))
        try:
            yield work
            for made in sorted(work.iterdir(), key=lambda made: made.name == "meta.json"):  # needed to load it: last
                os.rename(made, path / made.name)
                moved.append(path / made.name)
            work.rmdir()
        except BaseException:
            for made in (*moved, work):
                shutil.rmtree(made, ignore_errors=True) if made.is_dir() else made.unlink(missing_ok=True)
            raise
    written(path)
