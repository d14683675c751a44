"""Text files that may be compressed with gzip: their lines, and files that are no text."""

from __future__ import annotations

import gzip
import io
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, BinaryIO, cast

from .errors import ConlluError

__all__ = ["MOST_BYTES", "SAMPLE", "check_text", "gzipped", "is_gzip", "text_lines"]

MOST_BYTES = 1 << 24  # of a line, of a sentence with all its lines, and of a paragraph
SAMPLE = 1 << 16  # first bytes of a file, which show what it is

_RARE = 50  # text in UTF-8 has fewer than one NUL in as many bytes
_GZIP = b"\x1f\x8b"
_DOCBIN = "a .spacy file, not text"  # compressed with zlib
_UNREADABLE = (  # how a file begins, and what it is
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ", "compressed with xz"),
    (b"BZh", "compressed with bzip2"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"x\x9c", _DOCBIN),
)


def text_lines(file: BinaryIO, source: str) -> Iterator[bytes]:
    """Iterate over the lines of a file, which may be compressed with gzip, whatever its name.

    source (str): The name of the file in messages.
    RAISES (ConlluError): If the file is UTF-16, UTF-32, or compressed in another way, if its gzip data is damaged, or
        if it has a line of more than MOST_BYTES.
    """
    lines = _bounded(file, source)
    first = next(lines, b"")
    if first.startswith(_GZIP):
        return _unzipped(cast(IO[bytes], io.BufferedReader(_Joined(first, file), 1 << 16)), source)
    check_text(first[:SAMPLE], source)
    return chain([first] if first else [], lines)


def _bounded(file: BinaryIO, source: str) -> Iterator[bytes]:
    """Iterate over lines. A line without an end does not fill the memory."""
    if not hasattr(file, "readline"):  # whatever gives lines will do, unless it is compressed
        yield from file
        return
    number = 0
    while line := file.readline(MOST_BYTES + 1):
        number += 1
        if len(line) > MOST_BYTES and not (number == 1 and line.startswith(_GZIP)):
            check_text(line[:SAMPLE], source)
            raise ConlluError(f"{source}:{number}: line {number} has more than {MOST_BYTES:,} bytes, the limit.")
        yield line


def is_gzip(path: Path) -> bool:
    """Whether a file is compressed with gzip, going by its content."""
    with open(path, "rb") as file:
        return file.read(2) == _GZIP


def gzipped(file: BinaryIO) -> gzip.GzipFile:
    """Return a writer that compresses into `file`. Equal text gives equal bytes. Close it before `file`."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)


def _unzipped(file: IO[bytes], source: str) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=file) as unzipped:
            lines = _bounded(cast(BinaryIO, unzipped), source)
            first = next(lines, b"")
            check_text(first[:SAMPLE], source)
            yield from chain([first] if first else [], lines)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ConlluError(f"{source}: the gzip data is damaged or incomplete ({error}).") from error


def check_text(first: bytes, source: str) -> None:
    """Raise ConlluError if a file is not text, or not UTF-8 at all, going by its first bytes.

    Single characters that are not UTF-8 are left to who reads the file: text in Latin-1, for example.
    """
    what = next((what for start, what in _UNREADABLE if first.startswith(start)), None)
    if what is not None:
        raise ConlluError(f"{source}: this file is {what}. {_remedy(what)}")
    even, odd = first[::2].count(0), first[1::2].count(0)
    if len(first) > 3 and even + odd > 1 and (_is(first, "utf-32-le") or _is(first, "utf-32-be")):
        what = "UTF-32"
    elif b"\x00" in first[:2] or (even + odd > 1 and (not _is(first, "utf8") or _is_wide(first, even, odd))):
        what = "UTF-16"
    if what is not None:
        raise ConlluError(f"{source}: this file is binary, or {what}. {_remedy(what)}")


def _is_wide(first: bytes, even: int, odd: int) -> bool:
    """Whether many characters have a NUL in the same place."""
    return min(even, odd) * 10 < max(even, odd) and (even + odd) * _RARE > len(first)


def _is(first: bytes, encoding: str) -> bool:
    """Whether bytes are text in an encoding. The last character may be incomplete."""
    try:
        getincrementaldecoder(encoding)().decode(first)
    except UnicodeDecodeError:
        return False
    return True


def _remedy(what: str) -> str:
    if what.startswith("UTF-"):
        return f"Text must be UTF-8. Convert it first, for example with `iconv -f {what} -t UTF-8`."
    if what == _DOCBIN:
        return "Give the file that it was made from."
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
