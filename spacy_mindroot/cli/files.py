"""What commands share: labels, and files that they read and write: standard streams for "-", and output that appears under its name only when it is complete."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

import typer

from ..errors import LabelsError, MindRootError
from ..labels import is_root_label


@contextmanager
def opened_to_read(path: Path) -> Iterator[BinaryIO]:
    """Standard input for "-", else a file."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    with open(path, "rb", buffering=1 << 20) as file:
        yield file


@contextmanager
def outputs() -> Iterator[Callable[[Path], AbstractContextManager[BinaryIO]]]:
    """Gives a function that opens files to write. They are written beside their places, and take them when the block ends well, all at
    once; an error or an interruption leaves what was there.

    "-" is standard output. A link is followed, not replaced; a device or a pipe is written to as it is.
    """
    complete: list[tuple[str, Path, int]] = []
    begun: list[str] = []

    @contextmanager
    def opened(path: Path) -> Iterator[BinaryIO]:
        if str(path) == "-":
            stream = typer.get_binary_stream("stdout")
            yield stream
            stream.flush()
            return
        path = path.resolve()
        if path.exists() and not path.is_file():
            with open(path, "wb") as file:
                yield file
            return
        mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        begun.append(temporary)
        with os.fdopen(handle, "wb", buffering=1 << 20) as file:
            yield file
        complete.append((temporary, path, mode))

    try:
        yield opened
        for temporary, path, mode in complete:
            os.chmod(temporary, mode)
            os.replace(temporary, path)
    finally:
        for temporary in begun:
            if os.path.exists(temporary):
                os.unlink(temporary)


@contextmanager
def opened_to_write(path: Path) -> Iterator[BinaryIO]:
    """A single file to write; see `outputs`."""
    with outputs() as opened, opened(path) as file:
        yield file


def tolerant_streams() -> None:
    """A terminal that lacks some characters is no reason to stop."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@contextmanager
def errors_as_messages(*, nothing_written: bool = False) -> Iterator[None]:
    """Turns the errors of this package and of the file system into a message on standard error and exit status 1.

    A reader that goes away (`... - | head`) is left to Python. With `nothing_written` the message says that no file was
    written.
    """
    tolerant_streams()
    try:
        yield
    except BrokenPipeError:
        raise
    except (MindRootError, OSError) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        if nothing_written:
            typer.echo("Nothing was written.", err=True)
        raise typer.Exit(1) from error


def check_label(label: str | None) -> None:
    """Raises LabelsError unless this, from the command line, can be the label of a word that is not the root."""
    if label is not None and (label != "_".join(label.split()) or label in ("", "_") or is_root_label(label)):
        raise LabelsError(f"--label is {label!r}. It is a label without white space, and not ROOT's.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
