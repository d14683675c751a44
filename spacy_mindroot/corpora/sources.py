"""The input files of a corpus: finds them, opens them, and tells whether they are still the same."""

from __future__ import annotations

import glob
import gzip
import hashlib
import importlib
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from ..conllu.files import CONLLU_SUFFIXES, is_conllu, is_output
from ..errors import ConlluError, CorpusError

__all__ = [
    "COMPRESSED",
    "FORMATS",
    "Found",
    "UnreadableInputError",
    "digest_of",
    "find_files",
    "format_of",
    "import_zstd",
    "local_paths",
    "looks_wrapped",
    "open_source",
    "plain",
]

FORMATS = {  # the format of a file by the end of its name
    ".txt": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    **dict.fromkeys(CONLLU_SUFFIXES, "conllu"),
    ".parquet": "parquet",
    ".spacy": "spacy",
    ".warc": "warc",
    ".wet": "warc",
}
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # what data begins with that is compressed with gzip or zstd
_ENDINGS = (".gz", ".zst")
_MAY_BE_COMPRESSED = ("text", "jsonl", "conllu", "warc")
_BEGINNING = 1 << 16  # bytes of a text that are looked at
_SHOWN = 5  # files of other kinds that a message names
_ENDS = 1 << 16  # bytes at either end of a file that go into its digest


class UnreadableInputError(CorpusError):
    """An input can't be read, or is damaged. The rest of the corpus is not affected."""


@dataclass(frozen=True)
class Found:
    """An input file."""

    path: str  # absolute, or a URL
    format: str  # a value of `FORMATS`
    compressed: bool  # with gzip or zstd, going by its name

    @property
    def name(self) -> str:
        """The name without folders."""
        return PurePosixPath(_own_link(self.path).replace(os.sep, "/")).name


def plain(name: str) -> str:
    """Return a name without the endings that say what its format is: "a.b.txt.gz" gives "a.b"."""
    stem = _decompressed(name)
    for suffix in FORMATS:
        stem = stem.removesuffix(suffix)
    return stem or name


def _decompressed(name: str) -> str:
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def format_of(path: str) -> Found | None:
    """Return a file with its format, going by its name; None if the name has none of the known endings."""
    name = _own_link(path)
    stem = _decompressed(name)
    kind = next((kind for suffix, kind in FORMATS.items() if stem.endswith(suffix)), None)
    compressed = stem != name
    if kind is None or (compressed and kind not in _MAY_BE_COMPRESSED):
        return None
    return Found(path, kind, compressed)


def find_files(inputs: Sequence[str], warn: Callable[[str], None] = lambda message: None) -> list[Found]:
    """Return the files that paths, folders, patterns and URLs name, in this order, each file once.

    inputs (Sequence[str]): Files, folders, patterns such as `corpus/*.jsonl`, and URLs such as `s3://bucket/folder`. Of
        folders, all files with a known ending are taken, in alphabetical order, those in folders below included. What
        a run has written to a folder below is left out, and so is what is not a regular file, such as a pipe.
    """
    found: dict[str, Found] = {}
    others: list[str] = []
    for given in inputs:
        paths, is_named = _remote(given, warn) if "://" in given else _local(given, warn)
        files = [file for path in paths if (file := format_of(path)) is not None]
        if not files:
            known = ", ".join(f"*{suffix}" for suffix in FORMATS)
            what = "is a file of another kind" if is_named and paths else "names no files of these kinds"
            hint = " It looks like CoNLL-U: if it is, let its name end in .conllu." if _seems_conllu(paths) else ""
            raise CorpusError(
                f"{given}: this {what}. Input is {known}; .txt, .jsonl, .conllu and .warc also with .gz or .zst.{hint}"
            )
        for file in files:
            found.setdefault(file.path, file)
        others += [path for path in paths if format_of(path) is None]
    if others:
        shown = ", ".join(os.path.basename(path) for path in others[:_SHOWN]) + ", ..." * (len(others) > _SHOWN)
        warn(f"{len(others):,} file{'s' * (len(others) > 1)} of other kinds left out: {shown}.")
    return list(found.values())


def _seems_conllu(paths: Sequence[str]) -> bool:
    try:
        return any(is_conllu(path) for path in paths[:_SHOWN])
    except (OSError, ConlluError):
        return False


def local_paths(inputs: Sequence[str]) -> list[str]:
    """Return all files and folders on this machine that are read for some inputs: archives in URLs, too."""
    links = [link.removeprefix("file://").removeprefix("local://") for given in inputs for link in given.split("::")]
    found = [file.path for file in find_files(inputs) if "://" not in file.path]
    return [*filter(os.path.exists, [*inputs, *links]), *found]


def _local(given: str, warn: Callable[[str], None]) -> tuple[list[str], bool]:
    """Return absolute paths, and whether `given` is a single file."""
    path = os.path.abspath(given)
    if os.path.isdir(path):
        root = path
        paths = sorted(os.path.join(at, name) for at, _, names in os.walk(path, onerror=_refuse) for name in names)
    elif os.path.exists(path):
        if not os.path.isfile(path):
            raise CorpusError(f"{given} is a pipe or a device. Write it to a file first, which can be read again.")
        return [path], True
    else:
        root = path
        while glob.has_magic(root):
            root = os.path.dirname(root)
        paths = [file for file in sorted(glob.glob(path, recursive=True)) if not os.path.isdir(file)]
        if not paths:
            raise CorpusError(f"{given}: there is no such file or folder, and no file matches it as a pattern.")
    pipes = [file for file in paths if format_of(file) and os.path.exists(file) and not os.path.isfile(file)]
    for file in pipes:
        warn(f"{file} is left out: it is a pipe or a device.")
    written = [file for file in paths if format_of(file) and is_output(file, root)]
    if written:
        warn(f"{given}: {len(written):,} files are left out that earlier runs have written, such as {written[0]}.")
    return [file for file in paths if file not in {*pipes, *written}], False


def _refuse(error: OSError) -> None:
    raise error


def _remote(given: str, warn: Callable[[str], None]) -> tuple[list[str], bool]:
    core = _fsspec().core
    try:
        fs, root = core.url_to_fs(given)
        if type(fs) is core.get_filesystem_class("file"):
            return _local(root, warn)
        if glob.has_magic(root):
            paths, is_named = sorted(fs.glob(root)), False
        elif fs.isdir(root):
            paths, is_named = sorted(fs.find(root)), False
        elif fs.exists(root):
            paths, is_named = [root], True
        else:
            paths, is_named = [], False
    except CorpusError:
        raise
    except Exception as error:  # each store has errors of its own, and a package that may be missing
        raise CorpusError(f"{given} can't be listed ({type(error).__name__}): {error}") from error
    if not paths:
        raise CorpusError(f"{given}: there is nothing there.")
    return [_chained(given, fs.unstrip_protocol(path)) for path in paths], is_named


def _chained(given: str, url: str) -> str:
    """Return the URL of a file in what a chained URL names: with `zip://*.txt::file://x.zip`, `zip://a.txt::...`."""
    links = given.split("::")
    protocol = url.partition("://")[0]
    own = next((k for k, link in enumerate(links) if link.partition("://")[0] == protocol), len(links) - 1)
    return "::".join([*links[:own], url, *links[own + 1 :]])


def _own_link(path: str) -> str:
    """Return the part of a chained URL that names the file: `zip://a.txt` of `zip://a.txt::file://x.zip`."""
    return next((link for link in path.split("::") if "://" in link), path)


def _fsspec() -> Any:
    try:
        import fsspec.core
    except ImportError as error:
        raise CorpusError(
            "Input from a URL needs the package fsspec, and for most kinds of URL another one, such as s3fs: "
            "pip install 'spacy-mindroot[remote]' s3fs"
        ) from error
    return fsspec


@contextmanager
def open_source(path: str, *, compressed: bool = False) -> Iterator[BinaryIO]:
    """Open an input, and decompress it. Raise UnreadableInputError if it can't be read, or is damaged."""
    try:
        with _fsspec().open(path, "rb") if "://" in path else open(path, "rb") as file:
            if compressed:
                is_zstd = file.read(4) == COMPRESSED[1]
                file.seek(0)
                with _zstd_text(file) if is_zstd else gzip.open(file) as text:
                    yield cast(BinaryIO, text)
            else:
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UnreadableInputError(f"{path}: the compressed data is damaged or incomplete ({error}).") from error
    except OSError as error:
        raise UnreadableInputError(f"{path} can't be read: {error.strerror or error}.") from error


@contextmanager
def _zstd_text(file: BinaryIO) -> Iterator[BinaryIO]:
    """Yield the text of a file that is compressed with zstd, with a window of any size."""
    zstd = import_zstd()
    try:
        with zstd.open(file, options={zstd.DecompressionParameter.window_log_max: 31}) as text:
            yield text
    except zstd.ZstdError as error:
        raise zlib.error(str(error)) from error


def import_zstd() -> Any:
    """Return the module that reads zstd. Raise CorpusError if it is not installed."""
    try:
        return importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError as error:
        raise CorpusError(
            "Input with .zst needs the package backports.zstd: pip install 'spacy-mindroot[zstd]'. All machines need "
            "it."
        ) from error


def looks_wrapped(file: Found) -> bool:
    """Whether the lines at the beginning of a text seem to be parts of paragraphs, with empty lines between them.

    Then most lines that another one follows end in a word or a comma.
    """
    text = ""
    with suppress(CorpusError, OSError), open_source(file.path, compressed=file.compressed) as source:
        text = source.read(_BEGINNING).decode("utf8", "replace")  # what can't be read is rejected later
    blocks = [block.splitlines() for block in re.split(r"\n[^\S\n]*\n", text.strip())]
    ends = [line.rstrip()[-1:] for block in blocks for line in block[:-1]]
    return len(blocks) > 1 and sum(end.isalnum() or end in ",-" for end in ends) > max(2, len(ends) / 2)


def digest_of(path: str) -> tuple[int, str, bytes]:
    """Return the size of a file, a digest of its size and both its ends, and its first bytes.

    Small files are read completely, others at both ends, so that a corpus need not be read twice. The digest of the
    latter is also of the time of their last change.
    """
    with open_source(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        first = file.read(_ENDS)
        file.seek(max(len(first), size - _ENDS))
        last = file.read(_ENDS)
        modified = str(_modified(path)) if size > 2 * _ENDS else ""
    return size, hashlib.sha256(b"%d\n" % size + first + last + modified.encode()).hexdigest()[:32], first


def _modified(path: str) -> object:
    """Return when a file was changed last; None if its store does not say."""
    if "://" not in path:
        return os.stat(path).st_mtime_ns
    with suppress(Exception):  # each store has errors of its own
        fs, own = _fsspec().core.url_to_fs(path)
        return fs.modified(own)
    return None
