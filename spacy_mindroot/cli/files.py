"""Files, labels and errors, as all commands handle them.

"-" stands for a standard stream. Output appears under its name only when it is complete. Errors become messages.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import BinaryIO

import typer

from ..conllu.files import text_lines
from ..errors import CorpusError, LabelsError, MindRootError
from ..escapes import printable
from ..labels import is_root_label
from .signals import raised_signals

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "PathsError",
    "check_label",
    "errors_as_messages",
    "opened_to_read",
    "opened_to_write",
    "outputs",
    "printable",
    "read_text",
    "refuse_same_files",
    "tolerant_streams",
]

_BUFFER = 1 << 20  # bytes
_PART = ".mindroot-"  # in the names of temporary files
_LONGEST_PREFIX = 150  # bytes of an output's name in the name of its temporary file

Opened = Callable[[Path], AbstractContextManager[BinaryIO]]


class PathsError(MindRootError):
    """The paths that a command is given do not go together."""


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


def read_text(path: Path) -> str:
    """Return the text of a file, or of standard input for "-". It may be compressed with gzip.

    RAISES (MindRootError): If it is not UTF-8, or no text at all.
    """
    name = "Standard input" if str(path) == "-" else printable(path)
    with opened_to_read(path) as file:
        content = b"".join(text_lines(file, name))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{name}: line {line} is not UTF-8: it has the byte 0x{content[error.start]:02x}. Convert it to UTF-8 "
            "first, for example with `iconv -f LATIN1 -t UTF-8`."
        ) from error
    if "\0" in text:
        raise CorpusError(f"{name} is a binary file, not text.")
    return text


@contextmanager
def outputs(folder: Path | None = None) -> Iterator[Opened]:
    """Yield a function that opens files for writing. They take their places, all at once, when the block ends well.

    Until then they lie in the same folders, under names such as `.out.conllu.mindroot-417-x2s9.part`. An error, an
    interruption or SIGTERM removes them and leaves what was there before; what SIGKILL leaves behind, the next run
    removes.

    folder (Optional[Path]): A folder to make if it is missing. After an error it is removed again if it is empty.

    "-" is standard output. Symbolic links are followed, not replaced. Devices and pipes are written to directly. An
    exception that passes through gets a note on what has been written in spite of it.
    """
    complete: list[tuple[Path, Path, int]] = []
    begun: list[Path] = []
    folders = [] if folder is None else [path for path in (folder, *folder.parents) if not path.exists()]
    direct: list[str] = []  # streams and devices that have been opened
    placed = 0
    failed = False

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
        path = _followed(path)
        if path.exists() and not path.is_file():
            with open(path, "wb") as file:
                direct.append(str(path))
                yield file
            return
        mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
        prefix = os.fsdecode(os.fsencode(f".{path.name}")[:_LONGEST_PREFIX]) + _PART
        if not path.parent.is_dir():
            raise PathsError(f"{printable(path.parent)}: there is no such folder to write {printable(path.name)} to.")
        _remove_stale(path.parent, prefix)
        try:
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{prefix}{os.getpid()}-", suffix=".part")
        except OSError as error:  # it has the name of the temporary file
            raise PathsError(f"{printable(path)} can't be written: {error.strerror}.") from error
        begun.append(Path(name))
        with os.fdopen(handle, "wb", buffering=_BUFFER) as file:
            if fcntl is not None:
                with suppress(OSError):  # some network file systems have no locks
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield file
        complete.append((Path(name), path, mode))

    try:
        with raised_signals(("SIGTERM", "SIGHUP"), lambda number: SystemExit(128 + number)):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            yield opened
            for temporary, path, mode in complete:
                os.chmod(temporary, mode)
                os.replace(temporary, path)
                placed += 1
    except BaseException as error:
        failed = True
        if placed:
            error.add_note(f"{placed} of {len(complete)} files were written before that.")
        if direct:
            error.add_note(f"What was written to {', '.join(sorted(set(direct)))} before that is incomplete.")
        raise
    finally:
        for temporary in begun:
            temporary.unlink(missing_ok=True)
        for made in folders if failed else []:
            with suppress(OSError):
                made.rmdir()


@contextmanager
def opened_to_write(path: Path) -> Iterator[BinaryIO]:
    """Open a single file for writing. See `outputs`."""
    with outputs() as opened, opened(path) as file:
        yield file


def _followed(path: Path) -> Path:
    """Return the file that a path leads to. Raise OSError if its symbolic links lead nowhere."""
    try:
        target = path.resolve()
    except RuntimeError as error:  # Python 3.12 and older
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def _remove_stale(folder: Path, prefix: str) -> None:
    """Remove temporary files of an output that killed processes have left: they have neither a process nor a lock."""
    if fcntl is None or not folder.is_dir():
        return
    for name in os.listdir(folder):
        process, dash, _ = name.removeprefix(prefix).partition("-")
        if not (name.startswith(prefix) and name.endswith(".part") and dash and process.isdigit()):
            continue
        with suppress(OSError):
            if not _is_running(int(process)):
                with open(folder / name, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(folder / name)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OverflowError:  # not a process number
        return False
    except PermissionError:
        return True
    return True


def refuse_same_files(**named: Path | None) -> None:
    """Raise PathsError if two of a command's paths are the same file, whether directly or through links.

    **named (Optional[Path]): Each path under the name that the message gives it: an argument in capitals (`OUT`), an
        option in small letters (`report` for --report). None and "-" are skipped, as are devices and pipes.
    """
    paths = [(name, path) for name, path in named.items() if path is not None and str(path) != "-"]
    for (one, path), (other, other_path) in combinations(paths, 2):
        if _same_file(path, other_path):
            names = " and ".join(name if name.isupper() else f"--{name.replace('_', '-')}" for name in (one, other))
            raise PathsError(f"{names} are the same file, {other_path}. Choose another for one of them.")


def _same_file(one: Path, other: Path) -> bool:
    try:
        if one.exists() and other.exists():
            return (one.is_file() or one.is_dir()) and one.samefile(other)
        return one.resolve() == other.resolve()
    except (OSError, RuntimeError):  # opening them will say what is wrong
        return False


def tolerant_streams() -> None:
    """Make standard streams replace characters that a terminal lacks instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@contextmanager
def errors_as_messages(*, nothing_written: bool = False) -> Iterator[None]:
    """Turn the errors of this package and of the file system into a message on standard error and exit status 1.

    nothing_written (bool): The message also says that nothing was written. The notes of `outputs` take its place.

    A reader that goes away (`... | head`) is left to typer, which ends the command silently.
    """
    tolerant_streams()
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()  # here, an error still becomes a message
    except BrokenPipeError:
        raise
    except (MindRootError, OSError, MemoryError) as error:
        notes = getattr(error, "__notes__", [])
        typer.secho(f"Error: {str(error) or 'not enough memory.'}", fg="red", err=True)
        for note in notes or (["Nothing was written."] if nothing_written else []):
            typer.echo(note, err=True)
        _abandon_stdout()
        raise typer.Exit(1) from error


def _abandon_stdout() -> None:
    """Empty the buffer of standard output. If it can't be written, discard it: Python would try again on exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_label(label: str | None) -> None:
    """Raise LabelsError unless --demoted-label can be the label of a word that is not the root."""
    if label is not None and (label != "_".join(label.split()) or label in ("", "_") or is_root_label(label)):
        raise LabelsError(f"--demoted-label is {label!r}. Give a label without white space that is not the root's.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
