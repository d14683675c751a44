"""The shards that a corpus is cut into. Each is read, parsed and written by itself.

Text, JSON lines and CoNLL-U are cut at byte offsets, without being read: a line, or a sentence, belongs to the shard in
which it begins. Parquet is cut between row groups. Compressed and `.spacy` files can't be read from the middle, so each
is one shard.
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeVar

from ..conllu.sentence import BOM
from ..errors import CorpusError
from .sources import COMPRESSED, Found, UnreadableInputError, digest_of, open_source

__all__ = ["Part", "Shard", "Source", "import_parquet", "plan_sources", "same_sources", "shards_of"]

_THREADS = 16  # which read files: far away, each takes long
BytesPerWord = Callable[[bytes, str], float]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_LEAST_BYTES = {"text": 3, "jsonl": 3, "conllu": 10}  # per word: smaller files are never cut


@dataclass(frozen=True)
class Source(Found):
    """An input file and the places where it is cut."""

    size: int
    digest: str  # see `sources.digest_of`; "" if the file can't be read
    step: int = 0  # bytes per shard; 0 if it is not cut at bytes
    cuts: tuple[int, ...] = ()  # of Parquet: the first row group of each shard, and the number of row groups

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Source:
        """Return a source, of which `asdict` has been written as JSON."""
        return cls(**{**data, "cuts": tuple(data["cuts"])})


@dataclass(frozen=True)
class Shard:
    """A part of an input file."""

    name: str  # two numbers, of the file and of its part, which sort as the corpus does
    path: str
    format: str
    compressed: bool
    start: int  # of the bytes, or row groups of Parquet: what begins in this range belongs to the shard
    stop: int
    size: int  # about as many bytes of input


@dataclass(frozen=True)
class Part:
    """Every shard whose number, from 1, leaves the same rest as that of the part when it is divided by their total."""

    number: int  # from 1
    total: int

    @classmethod
    def from_text(cls, text: str) -> Part:
        """Return the part that is written like 17/1000."""
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise CorpusError(f"The part is {text!r}. Write its number, from 1, and how many there are: 17/1000.")
        return cls(int(found[1]), int(found[2]))

    @classmethod
    def of_folder(cls, name: str) -> Part | None:
        """Return the part whose folder has this name; None if it is another folder."""
        found = re.fullmatch(r"part-(\d+)-of-(\d+)", name)
        return None if found is None else cls(int(found[1]), int(found[2]))

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return f"part-{self.number:0{len(str(self.total))}}-of-{self.total}"

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def plan_sources(found: Sequence[Found], shard_words: int, bytes_per_word: BytesPerWord) -> list[Source]:
    """Return the files of a corpus with the places where they are cut, into shards of about so many words."""
    return _in_threads(lambda file: _planned(file, shard_words, bytes_per_word), found)


def _in_threads(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """Return the result of each item, in order.

    Python waits for a thread pool when it ends; it must not wait for a read that hangs. Hence daemons.
    """
    waiting = iter(enumerate(items))  # shared by all threads
    finished: queue.SimpleQueue[tuple[int, _Result | BaseException]] = queue.SimpleQueue()

    def run() -> None:
        for k, item in waiting:
            try:
                finished.put((k, work(item)))
            except BaseException as error:
                finished.put((k, error))

    for _ in range(min(_THREADS, len(items))):
        threading.Thread(target=run, daemon=True).start()
    results: dict[int, _Result] = {}
    while len(results) < len(items):
        k, result = finished.get()
        if isinstance(result, BaseException):
            raise result
        results[k] = result
    return [results[k] for k in range(len(items))]


def _planned(file: Found, shard_words: int, bytes_per_word: BytesPerWord) -> Source:
    try:
        size, digest, first = digest_of(file.path)
        compressed = file.compressed or first.startswith(COMPRESSED)  # whatever its name
        source = Source(file.path, file.format, compressed, size, digest)
        if file.format == "parquet":
            return replace(source, cuts=_cuts_of_parquet(file.path, shard_words))
    except UnreadableInputError:  # a shard that fails, as it might fail later
        return Source(file.path, file.format, file.compressed, 0, "")
    comments = takewhile(lambda line: line.removeprefix(BOM).startswith(b"#"), first.splitlines())
    has_header = any(b"global.columns" in line for line in comments)  # which later shards would lack
    if compressed or has_header or size <= shard_words * _LEAST_BYTES.get(file.format, size):
        return source
    return replace(source, step=max(1, round(shard_words * bytes_per_word(first, file.format))))


def import_parquet() -> Any:
    """Return `pyarrow.parquet`. Raise CorpusError if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise CorpusError(
            "Parquet needs the package pyarrow: pip install 'spacy-mindroot[parquet]'. All machines need it."
        ) from error
    return pyarrow.parquet


def _cuts_of_parquet(path: str, shard_words: int) -> tuple[int, ...]:
    parquet = import_parquet()
    limit = shard_words * 6  # bytes, of text that is not compressed
    with open_source(path) as file:
        try:
            metadata = parquet.ParquetFile(file).metadata
            sizes = [metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups)]
        except Exception as error:  # of Arrow
            raise UnreadableInputError(f"{path} can't be read as Parquet: {error}") from error
    cuts, filled = [0], 0
    for k, size in enumerate(sizes):
        if filled and filled + size > limit:
            cuts.append(k)
            filled = 0
        filled += size
    return (*cuts, len(sizes))


def shards_of(sources: Sequence[Source]) -> Iterator[Shard]:
    """Yield the shards of a corpus in order."""
    for number, source in enumerate(sources):
        if source.cuts:
            bounds = list(source.cuts) if len(source.cuts) > 1 else [0, 0]
            share = source.size // max(1, len(bounds) - 1)
            ranges = [(start, stop, share) for start, stop in zip(bounds[:-1], bounds[1:], strict=True)]
        elif source.step:
            starts = range(0, source.size, source.step)
            stops = [min(start + source.step, source.size) for start in starts]
            ranges = [(start, stop, stop - start) for start, stop in zip(starts, stops, strict=True)]
        else:
            ranges = [(0, source.size, source.size)]
        for part, (start, stop, size) in enumerate(ranges):
            name = f"{number:06}.{part:06}"
            yield Shard(name, source.path, source.format, source.compressed, start, stop, size)


def same_sources(planned: Sequence[Source], found: Sequence[Found]) -> str:
    """Describe the first difference between the inputs of an earlier run and those of this one; "" if there is none.

    A file that has moved is the same file, if its name and its digest are the same. See `sources.digest_of`.
    """
    before, now = [source.name for source in planned], [file.name for file in found]
    if before != now:
        new = [name for name in now if name not in before]
        gone = [name for name in before if name not in now]
        if not new and not gone:
            return "the same files, in another order"
        what = [f"{name} is new" for name in new[:1]] + [f"{name} is missing" for name in gone[:1]]
        return f"{len(before):,} files then, {len(now):,} now; " + ", ".join(what)
    for source, digest in zip(planned, _in_threads(_digest, [file.path for file in found]), strict=True):
        if source.digest not in ("", digest):  # "": it could not be read then
            return f"{source.path} has changed"
    return ""


def _digest(path: str) -> str:
    try:
        return digest_of(path)[1]
    except UnreadableInputError:
        return ""
