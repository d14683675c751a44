"""CoNLL-U files on disk: which files a folder holds, and text that may be compressed with gzip."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, BinaryIO, cast

from ..errors import ConlluError, CorpusError
from ..escapes import printable

__all__ = [
    "CONLLU_SUFFIXES",
    "MOST_BYTES",
    "SAMPLE",
    "check_text",
    "conllu_files",
    "gzipped",
    "is_conllu",
    "is_conllu_text",
    "is_gzip",
    "is_output",
    "refuse_link_out",
    "text_lines",
]

CONLLU_SUFFIXES = (".conllu", ".conllup", ".cupt")  # of the files that a folder is searched for
MOST_BYTES = 1 << 24  # of a line, of a sentence with all its lines, and of a paragraph
SAMPLE = 1 << 16  # first bytes of a file, which show what it is

_OTHER_SUFFIXES = (".conll", ".conllx")
_FIRST_WORD = re.compile(rb"[01](?:[.-][0-9]+)?\t")
_RARE = 50  # text in UTF-8 has fewer than one NUL in as many bytes
_OUTPUT = ".mindroot"  # a folder in each folder that `parse` has written
_LISTS = ("manifest.jsonl", "rejected.jsonl", "failed.jsonl")  # beside it: no corpus, although they are JSON lines
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_DOCBIN = "a .spacy file, not CoNLL-U"  # compressed with zlib
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


def conllu_files(path: Path) -> list[Path]:
    """Return the file itself, or all CoNLL-U files in a folder and below it, in alphabetical order.

    path (Path): A file of any name, or a folder, of which the files *.conllu, *.conllup and *.cupt are taken, each also
        as *.gz. What `parse` has written to a folder below it is left out.
    RAISES (ConlluError): If there are none. CorpusError: if one is a link to a file outside of the folder.
    """
    if path.is_dir():
        endings = tuple(suffix + end for suffix in CONLLU_SUFFIXES for end in ("", ".gz"))
        files = sorted(file for file in path.rglob("*") if file.name.endswith(endings) and file.is_file())
        files = [file for file in files if not is_output(str(file), str(path))]
        if not files:
            wanted = ", ".join(f"*{suffix}" for suffix in CONLLU_SUFFIXES)
            raise ConlluError(f"{path}: this folder has no files {wanted}, or one of these with .gz at its end.")
        for file in files:
            refuse_link_out(file, path)
        return files
    if not path.exists():
        raise ConlluError(f"{path}: there is no such file or folder.")
    return [path]


def is_output(path: str, root: str) -> bool:
    """Whether a file in a folder is no input: a list that `parse` keeps, or in a folder below that it has written.

    path, root (str): The file, and the folder that was named. The parses in that folder itself are input.
    """
    *folders, name = os.path.relpath(path, root).split(os.sep)
    if name in _LISTS and os.path.isdir(os.path.join(os.path.dirname(path), _OUTPUT)):
        return True
    for folder in folders:
        root = os.path.join(root, folder)
        if folder == _OUTPUT or os.path.isdir(os.path.join(root, _OUTPUT)):
            return True
    return False


def is_conllu(path: str | Path) -> bool:
    """Whether a file is CoNLL-U: its name says so, or it begins with a word in columns.

    RAISES (ConlluError): If the file is UTF-16, UTF-32, or compressed in another way than with gzip.
    """
    if str(path).removesuffix(".gz").endswith((*CONLLU_SUFFIXES, *_OTHER_SUFFIXES)):
        return True
    with open(path, "rb") as file:
        return is_conllu_text(text_lines(file, printable(path)))


def is_conllu_text(lines: Iterable[bytes]) -> bool:
    """Whether lines begin with a word in columns, after any comments and empty lines."""
    plain = (line.removeprefix(_BOM) for line in lines)
    return _FIRST_WORD.match(next((line for line in plain if line.strip() and line[:1] != b"#"), b"")) is not None


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
        return "Give the CoNLL-U file that it is from."
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
