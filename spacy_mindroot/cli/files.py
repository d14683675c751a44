"""Files, labels and errors, as all commands handle them.

"-" stands for a standard stream. Output appears under its name only when it is complete. Errors become messages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import typer

from ..conllu.files import text_lines
from ..errors import CorpusError, LabelsError, MindRootError
from ..escapes import printable
from ..labels import is_root_label
from ..replacing import followed, is_device, place, temporary_file
from .signals import raised_signals

__all__ = [
    "PathsError",
    "check_label",
    "check_paths",
    "errors_as_messages",
    "model_folder",
    "opened_to_read",
    "opened_to_write",
    "outputs",
    "printable",
    "read_text",
    "rules_file",
    "tolerant_streams",
]

_BUFFER = 1 << 20  # bytes

_written: list[str] = []  # by the command that runs: what is in its place

Paths = str | Path | None | Iterable[str | Path | None]
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

    Until then they have temporary names (see `replacing`). An error, an interruption or SIGTERM removes them and leaves
    what was there before.

    folder (Optional[Path]): A folder to make if it is missing. After an error it is removed again if it is empty.

    "-" is standard output. Symbolic links are followed, not replaced. Devices and pipes are written to directly. An
    exception that passes through gets a note on what has been written in spite of it.
    """
    complete: list[tuple[Path, Path]] = []
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

    try:
        with raised_signals(("SIGTERM", "SIGHUP"), lambda number: SystemExit(128 + number)):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            yield opened
            for temporary, path in complete:
                place(temporary, path)
                placed += 1
            _written.extend([*map(str, direct), *(printable(path) for _, path in complete)])
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


def check_paths(reads: Mapping[str, Paths], writes: Mapping[str, Paths], *, made: str = "") -> None:
    """Raise PathsError if a command would replace what it reads, or write into a folder that it reads.

    Links are followed, those in the folders too. It is also an error if two files to write are the same, or if there is
    no folder for one of them. Devices and pipes are left out.

    reads, writes (Mapping): The files and folders of each argument (`CORPUS`) and option (`--out`), under the name that
        messages give it. "-" is a standard stream.
    made (str): The name whose folders the command makes if they are missing.
    """
    sources = [(name, path) for name, path in _each(reads) if not is_device(path)]
    by_key = {_key(path): name for name, path in reversed(sources)}
    folders = {_resolved(path): (name, path) for name, path in reversed(sources) if not path.is_file()}
    in_folders: dict[object, Path] | None = None
    written: dict[object, tuple[str, Path]] = {}
    for name, path in _each(writes, streams=True):
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


def tolerant_streams() -> None:
    """Make standard streams replace characters that a terminal lacks instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@contextmanager
def errors_as_messages(*, nothing_written: bool = False) -> Iterator[None]:
    """Turn the errors of this package and of the file system into a message on standard error and exit status 1.

    nothing_written (bool): The message also says that nothing was written, if that is true. The notes of `outputs`
        take its place.

    A reader that goes away (`... | head`) is left to typer, which ends the command silently.
    """
    tolerant_streams()
    _written.clear()
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()  # here, an error still becomes a message
    except BrokenPipeError:
        raise
    except (MindRootError, OSError, MemoryError) as error:
        notes = getattr(error, "__notes__", [])
        if not notes and _written:
            what = f"{_written[0]} was" if len(_written) == 1 else f"{len(_written):,} files were"
            notes = [f"{what} written before that."]
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
