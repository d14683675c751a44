"""Folders that commands write to.

A new folder for a pipeline is complete or not there, and nothing is replaced. A folder that is there may be somebody
else's, so no symbolic link is followed out of it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .files import PathsError, printable
from .signals import raised_signals

__all__ = ["check_new_folder", "new_folder", "refuse_links_out"]


def refuse_links_out(folder: Path, files: Iterable[Path]) -> None:
    """Raise PathsError if one of the files to write to a folder would be written elsewhere, through a link."""
    for file in files:
        place = os.path.realpath(file)
        if not place.startswith(os.path.join(os.path.realpath(folder), "")):
            raise PathsError(
                f"{printable(file)} leads out of its folder, through a symbolic link, to {printable(place)}. Remove "
                "the link, or choose another folder."
            )


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
