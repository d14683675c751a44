"""Adds comments and attributes of MISC to sentences, and writes sentences of any files one after the other.

Nothing else edits comments or MISC, or decides where a sentence ends. Every other byte stays as it is.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from typing import BinaryIO

from .columns import CONLLU, MISC, Columns, read_header
from .sentence import BOM, Sentence, closed, columns_named

__all__ = ["SentenceWriter", "marked_sentence", "with_attributes"]


def with_attributes(cell: str, attributes: Mapping[str, object]) -> str:
    """Return a cell of MISC with further attributes, by name. They replace those of the same name; None removes them.

    Each is put where it belongs in alphabetical order, as the guidelines have it. White space and `|` in values become
    underscores.
    """
    found = [each for each in cell.split("|") if each != "_" and each.partition("=")[0] not in attributes]
    for name, value in ((name, value) for name, value in attributes.items() if value is not None):
        insort(found, f"{name}={_clean(str(value))}", key=lambda each: each.partition("=")[0].lower())
    return "|".join(found) or "_"


def marked_sentence(
    sentence: Sentence,
    comments: Mapping[str, object] | None = None,
    misc: Mapping[int, Mapping[str, object]] | None = None,
) -> bytes:
    """Return the lines of a sentence with further comments `# name = value` and further attributes in MISC.

    The comments follow those of the sentence. A comment or attribute of the same name is replaced; None removes it.
    Line breaks in comments become spaces. In CoNLL-U Plus without a column MISC, no attributes are written.

    sentence (Sentence): The sentence. It does not change.
    comments (Optional[Mapping]): The values, by name.
    misc (Optional[Mapping]): The attributes of each word, from 1. See `with_attributes`.
    """
    return b"".join(_marked_lines(sentence, comments or {}, misc or {}))


def _marked_lines(
    sentence: Sentence, comments: Mapping[str, object], misc: Mapping[int, Mapping[str, object]]
) -> list[bytes]:
    lines = list(sentence.lines)
    cells = sentence.column(MISC) if misc else []
    for word, attributes in misc.items():
        place = sentence.line_of(word) - sentence.line
        cell = with_attributes(cells[word - 1], attributes).encode("utf8")
        lines[place] = sentence.columns.replaced(lines[place], MISC, cell)
    first = sentence.first_row
    before = [line for line in lines[:first] if _name(line) not in comments]
    added = [
        f"# {name} = {' '.join(str(value).split())}".encode() + sentence.line_end
        for name, value in comments.items()
        if value is not None
    ]
    return [*before, *added, *lines[first:]]


class SentenceWriter:
    """Writes sentences in any order, also those of several files, so that the result is CoNLL-U.

    Each sentence ends with an empty line. In CoNLL-U Plus, a header stands wherever the columns change.

    file (BinaryIO): The file to write to.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._columns: Columns = CONLLU
        self._begun = False

    def write(
        self,
        sentence: Sentence,
        comments: Mapping[str, object] | None = None,
        misc: Mapping[int, Mapping[str, object]] | None = None,
    ) -> bytes:
        """Write a sentence with further comments and MISC attributes, and return the bytes. See `marked_sentence`."""
        lines = _marked_lines(sentence, comments or {}, misc or {})
        own = [line for line in lines[: sentence.first_row] if read_header(line)]
        if own and (own[0] is lines[0] or not self._begun):  # where it stands, a reader finds it
            self._columns = sentence.columns
        else:
            lines = [line for line in lines if line not in own]
            self.use(sentence.columns, sentence.line_end)
        return self._write(closed(b"".join(lines)))

    def use(self, columns: Columns, end: bytes = b"\n") -> None:
        """Write a header if the next sentence has other columns than the last."""
        if columns is not self._columns:
            self._columns = columns
            self._write(columns.header().encode("utf8") + end)

    def write_between(self, between: bytes) -> None:
        """Write what is between the sentences of a file, but no byte order mark. See `read_pieces`."""
        between = between.removeprefix(BOM)
        lines = between.splitlines(keepends=True)
        self._columns = columns_named(lines, self._columns, "", 1) or self._columns
        self._write(closed(between) if between.strip() else between)

    def _write(self, text: bytes) -> bytes:
        self._begun = self._begun or bool(text)
        self._file.write(text)
        return text


def _clean(value: str) -> str:
    return "_".join(value.replace("|", " ").split()) or "_"


def _name(comment: bytes) -> str:
    return comment[1:].partition(b"=")[0].decode("utf8", "replace").strip()
