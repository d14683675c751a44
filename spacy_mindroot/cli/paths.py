"""Checks of the paths that a command is given, before it begins its work.

No command replaces what it reads. A folder that is there may be somebody else's, so no symbolic link is followed out of
it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..errors import MindRootError
from ..escapes import printable
from ..replacing import is_device
from .printing import asked

__all__ = ["Paths", "PathsError", "check_new_folder", "check_paths", "model_folder", "refuse_links_out", "rules_file"]

Paths = str | Path | None | Iterable[str | Path | None]


class PathsError(MindRootError):
    """The paths that a command is given do not go together."""


def check_paths(reads: Mapping[str, Paths], writes: Mapping[str, Paths], *, made: str = "") -> None:
    """Raise PathsError if a command would replace what it reads, or write into a folder that it reads.

    Links are followed, those in the folders too. It is also an error if two files to write are the same, or if there is
    no folder for one of them. Devices and pipes are left out. --json, which `running.command` adds, counts as well.

    reads, writes (Mapping): The files and folders of each argument (`CORPUS`) and option (`--out`), under the name that
        messages give it. "-" is a standard stream.
    made (str): The name whose folders the command makes if they are missing.
    """
    sources = [(name, path) for name, path in _each(reads) if not is_device(path)]
    by_key = {_key(path): name for name, path in reversed(sources)}
    folders = {_resolved(path): (name, path) for name, path in reversed(sources) if not path.is_file()}
    in_folders: dict[object, Path] | None = None
    written: dict[object, tuple[str, Path]] = {}
    for name, path in _each({**writes, "--json": asked.json}, streams=True):
        if is_device(path):
            continue
        key = "-" if str(path) == "-" else _key(path)
        other, other_path = written.setdefault(key, (name, path))
        if key == "-":
            if other != name:
                raise PathsError(f"{other} and {name} are both standard output. Choose a file for one of them.")
            continue
        if other_path is not path:
            _raise_same(other, name, path)
        if key in by_key:
            _raise_same(by_key[key], name, path)
        target = _resolved(path)
        for folder in target.parents:
            if folder in folders:
                other = folders[folder][0]
                raise PathsError(
                    f"{name} is {printable(path)}, in {other}, a folder that this command reads. Choose a place "
                    "outside of it."
                )
        if path.is_dir():
            for other, source in sources:
                if target in _resolved(source).parents:
                    raise PathsError(f"{other} is {printable(source)}, in {name}, a folder to write. Choose another.")
        elif path.exists():
            if in_folders is None:
                in_folders = {_key(file): file for _, source in folders.values() for file in _files_in(source)}
            if key in in_folders:
                raise PathsError(
                    f"{name} is {printable(path)}, the same file as {printable(in_folders[key])}, which is read. "
                    "Choose another."
                )
        missing = path.parent
        while not missing.exists() and name == made:
            missing = missing.parent
        if not missing.is_dir():
            shown = printable(missing)
            what = f"{shown} is not a folder" if missing.exists() else f"the folder {shown} does not exist"
            raise PathsError(f"{name} is {printable(path)}, but {what}.")


def _raise_same(one: str, other: str, path: Path) -> None:
    if one == other:
        raise PathsError(f"{printable(path)} would be written twice: two files of {one} are the same.")
    what = "folder" if path.is_dir() else "file"
    raise PathsError(f"{one} and {other} are the same {what}, {printable(path)}. Choose another for one of them.")


def _each(named: Mapping[str, Paths], *, streams: bool = False) -> Iterator[tuple[str, Path]]:
    for name, given in named.items():
        for path in [given] if isinstance(given, str | Path) else given or ():
            if path is not None and (streams or str(path) != "-"):
                yield name, Path(path)


def _key(path: Path) -> object:
    """Return a key that two paths share if they are the same file or folder."""
    try:
        status = path.stat()
        return status.st_dev, status.st_ino
    except OSError:
        return _resolved(path)


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and below it. Links to folders are followed."""
    seen = set()
    for at, folders, names in os.walk(folder, followlinks=True):
        seen.add(_key(Path(at)))
        folders[:] = [name for name in folders if _key(Path(at, name)) not in seen]
        yield from (Path(at, name) for name in names)


def model_folder(model: str) -> Path:
    """Return the folder of a pipeline that is named by it, or by an installed package."""
    from spacy.util import get_package_path, is_package

    with suppress(Exception):  # a package without a module of its name, or one that can't be imported
        if is_package(model):  # which spaCy prefers
            return Path(get_package_path(model))
    return Path(model)


def rules_file(rules: str | None) -> str | None:
    """Return the file of --rules; None for a preset."""
    return rules if rules is not None and rules.endswith(".json") else None


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
