"""New folders for pipelines: what a command makes is complete or not there, and nothing is replaced."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .files import PathsError, printable
from .signals import raised_signals

__all__ = ["check_new_folder", "new_folder"]


def check_new_folder(path: Path, option: str) -> None:
    """Raise PathsError unless a folder is missing or empty."""
    if path.exists() and not path.is_dir():
        raise PathsError(f"{option} is {printable(path)}, which is a file. Choose a folder.")
    if path.exists() and any(path.iterdir()):
        raise PathsError(f"{option} is {printable(path)}, which is not empty. Choose a new folder for the pipeline.")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder whose content moves to `path` when the block ends well. Otherwise, nothing is left of it.

    path (Path): The folder, which must be missing or empty.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    moved: list[Path] = []
    work = None
    try:
        with raised_signals(("SIGTERM", "SIGHUP"), lambda number: SystemExit(128 + number)):
            path.mkdir(parents=True, exist_ok=True)
            work = Path(tempfile.mkdtemp(dir=path, prefix=".mindroot-"))
            yield work
            for made in sorted(work.iterdir(), key=lambda made: made.name == "meta.json"):  # needed to load it: last
                os.rename(made, path / made.name)
                moved.append(path / made.name)
            work.rmdir()
    except BaseException:
        for made in [*moved, *([] if work is None else [work])]:
            shutil.rmtree(made, ignore_errors=True) if made.is_dir() else made.unlink(missing_ok=True)
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise
