"""Files that appear under their names only when they are complete.

Until then they lie in the same folder, under names such as `.out.conllu.mindroot-417-x2s9.part`. What a killed process
leaves behind, the next one that writes the same file removes.
"""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .escapes import printable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["followed", "is_device", "place", "replacing", "temporary_file"]

_BUFFER = 1 << 20  # bytes
_PART = ".mindroot-"  # in the names of temporary files
_LONGEST_PREFIX = 150  # bytes of a file's name in the name of its temporary file


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the place of `path` when the block ends without an error.

    Links are followed, not replaced. A device or a pipe gets everything at the end, since it can't seek.
    """
    if is_device(path):
        whole = io.BytesIO()
        yield whole
        path.write_bytes(whole.getvalue())
        return
    path = followed(path)
    file, temporary = temporary_file(path)
    try:
        with file:
            yield file
        place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Whether there is something that is written to as it is: a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def followed(path: Path) -> Path:
    """Return the file that a path leads to. Raise OSError if its symbolic links lead nowhere."""
    try:
        target = path.resolve()
    except RuntimeError as error:  # Python 3.12 and older
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def temporary_file(path: Path) -> tuple[BinaryIO, Path]:
    """Open a new file in the folder of `path`, locked while it is open, and return it with its name.

    RAISES (OSError): If there can be none. It names `path`.
    """
    prefix = os.fsdecode(os.fsencode(f".{path.name}")[:_LONGEST_PREFIX]) + _PART
    if not path.parent.exists():
        folder, name = printable(path.parent), printable(path.name)
        raise FileNotFoundError(f"{folder}: there is no such folder to write {name} to.")
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        _remove_stale(path.parent, prefix)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{prefix}{os.getpid()}-", suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    file = os.fdopen(handle, "wb", buffering=_BUFFER)
    if fcntl is not None:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file, Path(name)


def place(temporary: Path, path: Path) -> None:
    """Give a temporary file its name, and the permissions of the file that it replaces."""
    os.chmod(temporary, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
    os.replace(temporary, path)


def _remove_stale(folder: Path, prefix: str) -> None:
    """Remove temporary files that killed processes have left: they have neither a process nor a lock."""
    if fcntl is None or not folder.is_dir():
        return
    for name in os.listdir(folder):
        process, dash, _ = name.removeprefix(prefix).partition("-")
        if not (name.startswith(prefix) and name.endswith(".part") and dash and process.isdigit()):
            continue
        with suppress(OSError):
            if not _is_running(int(process)):
                with open(folder / name, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a process on another machine may have it
                    os.unlink(folder / name)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:  # it is another user's
        return True
    except (ProcessLookupError, OverflowError):  # there is none, or it is not the number of a process
        return False
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
