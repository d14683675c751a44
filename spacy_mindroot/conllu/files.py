"""CoNLL-U files on disk: which files a folder holds, and text that may be compressed with gzip."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, BinaryIO, cast

from ..errors import ConlluError, CorpusError

__all__ = ["conllu_files", "gzipped", "is_gzip", "refuse_link_out", "text_lines"]

_SUFFIXES = (".conllu", ".conllup", ".cupt")
_GZIP = b"\x1f\x8b"
_UNREADABLE = (  # how a file begins, and what it is
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ", "compressed with xz"),
    (b"BZh", "compressed with bzip2"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
)


def conllu_files(path: Path) -> list[Path]:
    """Return the file itself, or all CoNLL-U files in a folder and below it, in alphabetical order.

    path (Path): A file of any name, or a folder, of which the files *.conllu, *.conllup and *.cupt are taken, each also
        as *.gz.
    RAISES (ConlluError): If there are none. CorpusError: if one is a link to a file outside of the folder.
    """
    if path.is_dir():
        endings = tuple(suffix + end for suffix in _SUFFIXES for end in ("", ".gz"))
        files = sorted(file for file in path.rglob("*") if file.name.endswith(endings) and file.is_file())
        if not files:
            wanted = ", ".join(f"*{suffix}" for suffix in _SUFFIXES)
            raise ConlluError(f"{path}: this folder has no files {wanted}, or one of these with .gz at its end.")
        for file in files:
            refuse_link_out(file, path)
        return files
    if not path.exists():
        raise ConlluError(f"{path}: there is no such file or folder.")
    return [path]


def refuse_link_out(path: Path, folder: Path) -> None:
    """Raise CorpusError if a file in a folder is a link to a file outside of it.

    The folder may be somebody else's, and nobody has named what the link leads to.
    """
    if path.is_symlink() and folder.resolve() not in path.resolve().parents:
        raise CorpusError(
            f"{path} is a symbolic link out of its folder, to {path.resolve()}. Put the file itself in its place."
        )


def text_lines(file: BinaryIO, source: str) -> Iterator[bytes]:
    """Iterate over the lines of a file, which may be compressed with gzip, whatever its name.

    source (str): The name of the file in messages.
    RAISES (ConlluError): If the file is UTF-16, UTF-32, or compressed in another way, or if its gzip data is damaged.
    """
    first = next(iter(file), b"")  # not readline(): whatever gives lines will do, unless it is compressed
    if first.startswith(_GZIP):
        return _unzipped(cast(IO[bytes], io.BufferedReader(_Joined(first, file), 1 << 16)), source)
    _check_start(first, source)
    return chain([first] if first else [], file)


def is_gzip(path: Path) -> bool:
    """Whether a file is compressed with gzip, going by its content."""
    with open(path, "rb") as file:
        return file.read(2) == _GZIP


def gzipped(file: BinaryIO) -> gzip.GzipFile:
    """Return a writer that compresses into `file`. Equal text gives equal bytes. Close it before `file`."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)


def _unzipped(file: IO[bytes], source: str) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=file) as lines:
            first = lines.readline()
            _check_start(first, source)
            yield from chain([first] if first else [], lines)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ConlluError(f"{source}: the gzip data is damaged or incomplete ({error}).") from error


def _check_start(first: bytes, source: str) -> None:
    for start, what in _UNREADABLE:
        if first.startswith(start):
            raise ConlluError(f"{source}: this file is {what}. {_remedy(what)}")
    if b"\x00" in first[:2]:  # UTF-16 without a byte order mark
        raise ConlluError(f"{source}: this file is binary, or UTF-16. {_remedy('UTF-16')}")


def _remedy(what: str) -> str:
    if what.startswith("UTF-"):
        return f"CoNLL-U is UTF-8. Convert it first, for example with `iconv -f {what} -t UTF-8`."
    return "Unpack it first, or compress it with gzip."


class _Joined(io.RawIOBase):
    """Bytes that have been read from a file already, and the rest of it."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start = start
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._start or self._rest.read(len(buffer))
        taken, self._start = data[: len(buffer)], data[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)
