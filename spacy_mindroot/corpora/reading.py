"""Reads the documents of a shard, in every input format.

Faulty documents are yielded with the reason, and reading goes on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO, cast

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..conllu import Sentence, read_pieces
from ..conllu.sentence import BOM
from ..errors import ConlluError, CorpusError
from ..escapes import printable
from ..text_files import MOST_BYTES, SAMPLE, check_text
from .shards import Shard, import_parquet
from .sources import Found, UnreadableInputError, import_zstd, open_source

__all__ = [
    "WITH_COLUMNS",
    "Columns",
    "Document",
    "Item",
    "Rejected",
    "check_packages",
    "estimate_bytes_per_word",
    "read_shard",
]

WITH_COLUMNS = ("jsonl", "parquet", "warc")  # formats in which documents have keys or columns
_CHUNK = 1 << 16  # bytes
_TOO_LONG = f"has more than {MOST_BYTES:,} bytes, the limit"
_SAMPLE_ROWS = 256  # of Parquet that are in memory at a time
_WEB_TEXTS = ("text/plain", "text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class Columns:
    """The place of the text of a document."""

    text: str = "text"  # the key in JSON lines, or the column in Parquet, with the text
    id: str | None = None  # that with the id; None for "id", if there is one
    paragraphs: bool = False  # in text files, whether documents are separated by empty lines; if not, each line is one
    where: tuple[tuple[str, str], ...] = ()  # names and values of keys or columns: other documents are left out

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", tuple(sorted(self.where)))  # in whatever order they are given


@dataclass
class Document:
    """A document to parse. It has a text, a sentence of CoNLL-U, or a Doc."""

    id: str  # its own, or the name of the file and the place in it: a byte, or a row in Parquet
    text: str | None = None
    sentence: Sentence | None = None
    doc: Doc | None = None
    meta: dict[str, Any] = field(default_factory=dict)  # all further keys or columns, fit for JSON


@dataclass(frozen=True)
class Rejected:
    """A document that can't be read or parsed, and the reason."""

    id: str
    reason: str


# Bytes are those between the sentences of CoNLL-U.
Item = Document | Rejected | bytes


def check_packages(files: Sequence[Found]) -> None:
    """Raise CorpusError if a package is missing that reading files of these kinds needs."""
    formats = {file.format for file in files}
    if "parquet" in formats:
        import_parquet()
    if "warc" in formats:
        _check_warc()
    if any(file.path.endswith(".zst") for file in files):
        import_zstd()


def _check_warc() -> None:
    try:
        import fastwarc  # noqa: F401
        import resiliparse  # noqa: F401
    except ImportError as error:
        raise CorpusError(
            "WARC needs the packages fastwarc and resiliparse: pip install 'spacy-mindroot[warc]'. All machines need "
            "them."
        ) from error


def read_shard(shard: Shard, columns: Columns, vocab: Vocab) -> Iterator[Item]:
    """Yield the documents of a shard in order. Raise UnreadableInputError if the file can't be read or is damaged."""
    name = printable(Found(shard.path, shard.format, shard.compressed).name)
    if shard.format == "parquet":
        yield from _read_parquet(shard, columns, name)
        return
    with open_source(shard.path, compressed=shard.compressed) as file:
        if shard.format == "spacy":
            yield from _read_docs(file, shard.path, name, vocab)
            return
        if shard.format == "warc":
            yield from _read_warc(file, shard, columns, name)
            return
        with _as_text(shard.path):
            check_text(file.read(SAMPLE), shard.path)
        file.seek(0)
        # What is compressed is one shard, whose range is that of the compressed bytes.
        start, stop = (0, None) if shard.compressed else (shard.start, shard.stop)
        if shard.format == "conllu":
            yield from _read_conllu(file, start, stop, name)
        elif shard.format == "jsonl":
            for item in _read_text(_lines(file, start, stop), name):
                found = _from_json(item, columns) if isinstance(item, Document) else item
                if found is not None:
                    yield found
        else:
            yield from _read_text((_paragraphs if columns.paragraphs else _lines)(file, start, stop), name)


def estimate_bytes_per_word(first: bytes, kind: str, columns: Columns) -> float:
    """Return about the number of bytes for each word of a file, by its beginning, which may end anywhere."""
    whole = first[: first.rfind(b"\n") + 1] or first
    if kind == "conllu":
        words: float = len(re.findall(rb"^[0-9]+\t", whole, re.MULTILINE))
    elif kind == "jsonl":
        words = 0
        for line in whole.splitlines():
            try:
                words += _count_words(str(json.loads(line)[columns.text]).encode("utf8", "replace"))
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
    else:
        words = _count_words(whole)
    return max(1.0, len(whole) / words) if words else 6.0


_WORDS = re.compile(rb"[\w\x80-\xff]+|[^\w\s]")
_LONGEST_WORD = 12  # bytes: scripts without spaces, such as Chinese, have words of some 5


def _count_words(text: bytes) -> float:
    """Return about the number of words in a text, punctuation included."""
    return sum(max(1.0, len(word) / _LONGEST_WORD) for word in _WORDS.findall(text))


def _lines(file: BinaryIO, start: int, stop: int | None) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines that begin in a range of bytes, without line ends, each with the byte at which it begins.

    None stands for a line of more than MOST_BYTES.
    """
    at = 0
    if start:
        file.seek(start - 1)
        size, ended = _rest_of_line(file, None if stop is None else stop - start + 1)
        if not ended:
            return
        at = start - 1 + size
    while stop is None or at < stop:
        line, size = _next_line(file)
        if not size:
            return
        text = None if line is None else line.rstrip(b"\r\n")
        yield at, text.removeprefix(BOM) if text and at == 0 else text
        at += size


def _rest_of_line(file: BinaryIO, most: int | None = None) -> tuple[int, bool]:
    """Read on to the end of a line, or `most` bytes. Return the number of bytes, and whether the line ended there.

    A line without an end is not kept in memory, and of the shards that it spans, each reads its own part only.
    """
    size = 0
    while most is None or size < most:
        text = file.readline(_CHUNK if most is None else min(_CHUNK, most - size))
        size += len(text)
        if not text or text.endswith(b"\n"):
            return size, True
    return size, False


def _next_line(file: BinaryIO) -> tuple[bytes | None, int]:
    """Return the next line with its line end, or None if it has more than MOST_BYTES, and its size."""
    line = file.readline(MOST_BYTES + 1)
    if len(line) <= MOST_BYTES:
        return line, len(line)
    size = 0 if line.endswith(b"\n") else _rest_of_line(file)[0]
    return None, len(line) + size


def _raw_units(file: BinaryIO, start: int, stop: int | None) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines, with line ends, of all blocks that begin in a range of bytes, each with its first byte.

    A block is lines up to the next empty line, which belongs to it, or an additional empty line. None stands for a line
    of more than MOST_BYTES.
    """
    at, between = 0, True  # whether a block begins at `at`
    if start:
        back = min(3, start)
        file.seek(start - back)
        before = file.read(back - 1)
        at = start - 1
        last = file.readline(2)  # long enough to see whether the line before the first one in the range is empty
        at += len(last)
        if last and not last.endswith(b"\n"):
            size, ended = _rest_of_line(file, None if stop is None else max(0, stop - at))
            if not ended:
                return
            at += size
        between = _ends_in_empty_line(before + last, whole=start == back)
    in_range = False
    while True:
        if stop is not None and at >= stop and (between or not in_range):
            return
        in_range |= between
        line, size = _next_line(file)
        if not size:
            return
        if in_range:
            yield at, line
        between = line in (b"\n", b"\r\n")
        at += size


def _ends_in_empty_line(before: bytes, *, whole: bool) -> bool:
    """Whether the last line of some bytes is empty. whole (bool): They begin at the beginning of the file."""
    return before.endswith((b"\n\n", b"\n\r\n")) or (whole and before in (b"\n", b"\r\n"))


def _paragraphs(file: BinaryIO, start: int, stop: int | None) -> Iterator[tuple[int, bytes | None]]:
    """Yield the paragraphs that begin in a range, each with its first byte. Their lines are joined by spaces.

    None stands for a paragraph of more than MOST_BYTES.
    """
    lines: list[bytes] = []
    first = size = 0  # of the paragraph so far
    for at, line in chain(_raw_units(file, start, stop), [(0, b"")]):
        text = None if line is None else line.strip(b"\r\n")
        text = text.removeprefix(BOM) if text and at == 0 else text
        if text == b"":
            if size:
                yield first, b" ".join(lines) if size <= MOST_BYTES else None
            lines, size = [], 0
            continue
        first = first if size else at
        size += MOST_BYTES + 1 if text is None else len(text) + 1
        if text is None or size > MOST_BYTES:
            lines = []
        else:
            lines.append(text)


def _read_text(texts: Iterable[tuple[int, bytes | None]], name: str) -> Iterator[Item]:
    for at, line in texts:
        if line is None:
            yield Rejected(f"{name}:{at}", _TOO_LONG)
        elif line.strip():
            try:
                yield Document(f"{name}:{at}", line.decode("utf8"))
            except UnicodeDecodeError as error:
                byte = f"byte {line[error.start]:#04x} at position {error.start}"
                yield Rejected(f"{name}:{at}", f"not UTF-8: {byte} of the document")


def _from_json(line: Document, columns: Columns) -> Document | Rejected | None:
    """Return the document in a line of JSON. See `_from_row`."""
    try:
        return _from_row(json.loads(line.text or ""), columns, line.id)
    except (ValueError, RecursionError) as error:
        return Rejected(line.id, f"not JSON: {error}")


def _from_row(row: object, columns: Columns, place: str) -> Document | Rejected | None:
    """Return the document in a row of named values; None if it is not wanted."""
    if not isinstance(row, Mapping):
        return Rejected(place, f"not a JSON object, but {type(row).__name__}")
    for wanted, value in columns.where:
        if wanted not in row:
            return Rejected(place, f"has no {wanted!r} (--where); has {_listed(row)}")
        if not _has(row[wanted], value):
            return None
    key = columns.id if columns.id is not None else "id"
    name = row.get(key)
    if columns.id is not None and name is None:
        return Rejected(place, f"has no {columns.id!r} (--id-column)")
    own = place if name is None or isinstance(name, dict | list) else " ".join(str(name).split()) or place
    text = row.get(columns.text)
    if not isinstance(text, str):
        found = "has no" if columns.text not in row or text is None else "has no text, but a number or a list, in"
        return Rejected(printable(own), f"{found} {columns.text!r} (--text-column); has {_listed(row)}")
    meta = {str(k): value for k, value in row.items() if k not in (columns.text, key)}
    try:
        # Anything that JSON has no type for, such as a date, becomes text.
        written = json.dumps(meta, ensure_ascii=False, default=str)
        f"{written}{own}{text}".encode()
    except (ValueError, UnicodeEncodeError) as error:
        return Rejected(printable(own), f"can't be written as UTF-8: {error}")
    # JSON has neither NaN nor infinity.
    return Document(own, text, meta=json.loads(written, parse_constant=lambda _: None))


def _has(found: object, value: str) -> bool:
    """Whether a value in a row, or one in its list of values, is written like this.

    Numbers, truth values and objects are written as in JSON, and what JSON has no type for as in the output.
    """
    if isinstance(found, list):
        return any(_has(each, value) for each in found)
    in_json = isinstance(found, bool | int | float | dict | None)
    return (json.dumps(found, default=str) if in_json else str(found)) == value


def _listed(row: Mapping[Any, Any]) -> str:
    names = [repr(name) for name in row]
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "") if names else "nothing"


def _read_parquet(shard: Shard, columns: Columns, name: str) -> Iterator[Item]:
    parquet = import_parquet()
    with open_source(shard.path) as file, _as_unreadable(shard.path, "Parquet"):
        table = parquet.ParquetFile(file)
        at = sum(table.metadata.row_group(k).num_rows for k in range(shard.start))
        groups = list(range(shard.start, shard.stop))
        for batch in table.iter_batches(batch_size=_SAMPLE_ROWS, row_groups=groups) if groups else ():
            for row in batch.to_pylist():
                found = _from_row(row, columns, f"{name}:{at}")
                at += 1
                if found is not None:
                    yield found


def _read_warc(file: BinaryIO, shard: Shard, columns: Columns, name: str) -> Iterator[Item]:
    """Yield the texts of a WARC file: what was extracted already (WET), plain text, and the text of web pages."""
    _check_warc()
    from fastwarc.warc import ArchiveIterator, WarcRecordType
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    kinds = WarcRecordType.conversion | WarcRecordType.resource | WarcRecordType.response
    with _as_unreadable(shard.path, "WARC"):
        if shard.size and not shard.compressed:
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                raise UnreadableInputError(f"{shard.path} ends within a record, so it is incomplete.")
            file.seek(0)
        for number, record in enumerate(ArchiveIterator(file, record_types=kinds)):
            kind = record.http_content_type or record.headers.get("Content-Type") or ""
            kind = kind.partition(";")[0].strip().lower()
            status = 200 if record.http_headers is None else record.http_headers.status_code
            if kind not in _WEB_TEXTS or status != 200:  # error pages are in the language of the server
                continue
            content = record.reader.read()
            try:
                text = content.decode(record.http_charset or "utf8")
            except (UnicodeDecodeError, LookupError):
                text = bytes_to_str(content, detect_encoding(content) or "utf8")
            row = {
                "text": extract_plain_text(text, main_content=True) if "html" in kind else text,
                "id": (record.record_id or "").strip("<>") or None,
                "url": record.headers.get("WARC-Target-URI"),
                "date": record.headers.get("WARC-Date"),
                "language": record.headers.get("WARC-Identified-Content-Language"),
            }
            found = _from_row(row, Columns(where=columns.where), f"{name}:{number}")
            if found is not None:
                yield found


def _read_docs(file: BinaryIO, path: str, name: str, vocab: Vocab) -> Iterator[Item]:
    with _as_unreadable(path, "a .spacy file"):
        docs = DocBin(store_user_data=True).from_bytes(file.read())
        for number, doc in enumerate(docs.get_docs(vocab)):
            own = doc.user_data.get("id")
            yield Document(str(own) if isinstance(own, str | int) else f"{name}:{number}", doc=doc)


@contextmanager
def _as_unreadable(path: str, what: str) -> Iterator[None]:
    """Turn the errors of a reader into UnreadableInputError. Those of the reader's caller are not raised here."""
    try:
        yield
    except (UnreadableInputError, GeneratorExit, MemoryError):
        raise
    except Exception as error:  # of Arrow, zlib, msgpack or spaCy
        raise UnreadableInputError(f"{path} can't be read as {what} ({type(error).__name__}): {error}") from error


@contextmanager
def _as_text(source: str) -> Iterator[None]:
    """Turn the error for a file that is not text at all into UnreadableInputError."""
    try:
        yield
    except ConlluError as error:
        what = str(error)
        raise UnreadableInputError(what if what.startswith(source) else f"{source}: {what}") from error


def _read_conllu(file: BinaryIO, start: int, stop: int | None, name: str) -> Iterator[Item]:
    faults: list[ConlluError] = []
    source = f"{name} from byte {start}" if start else name
    offsets: list[int] = []  # of each line
    lines = cast(BinaryIO, _tracked(_raw_units(file, start, stop), offsets))
    number = 0  # lines before the piece
    with _as_text(source):
        for piece in read_pieces(lines, source, faults.append):
            text = piece.to_bytes() if isinstance(piece, Sentence) else piece
            at = offsets[number] if text and number < len(offsets) else start
            number += text.count(b"\n") + (not text.endswith(b"\n") and text != BOM)
            if offsets and number > 1000:
                del offsets[:number]
                number = 0
            if isinstance(piece, Sentence):
                yield _from_sentence(piece, f"{name}:{at}")
            elif faults:
                yield Rejected(f"{name}:{at}", f"not CoNLL-U: {faults.pop()}")
            else:
                yield piece


def _from_sentence(sentence: Sentence, place: str) -> Document | Rejected:
    try:
        sentence.text()
    except ConlluError as error:
        return Rejected(place, str(error))
    comments = [comment.lstrip("# ") for comment in sentence.comments]
    return Document(sentence.sent_id or place, sentence=sentence, meta={"comments": comments} if comments else {})


def _tracked(lines: Iterator[tuple[int, bytes | None]], offsets: list[int]) -> Iterator[bytes]:
    """Yield lines as `read_pieces` takes them, and note where they begin."""
    for at, line in lines:
        if line is None:
            raise ConlluError(f"the line that begins at byte {at:,} {_TOO_LONG}")
        offsets.append(at)
        yield line
