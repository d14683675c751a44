"""Adds comments and MISC attributes to a CoNLL-U sentence. Every other byte stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from .columns import CONLLU, MISC, Columns
from .sentence import Sentence

__all__ = ["MarkedWriter", "marked_sentence"]


def marked_sentence(
    sentence: Sentence,
    comments: Mapping[str, object] | None = None,
    misc: Mapping[int, Mapping[str, object]] | None = None,
) -> bytes:
    """Return the lines of a sentence with further comments `# name = value` and further attributes in MISC.

    The comments follow those of the sentence. A comment or attribute of the same name is replaced. White space and `|`
    in values become underscores in MISC; line breaks become spaces in comments. In CoNLL-U Plus without a column MISC,
    no attributes are written.

    sentence (Sentence): The sentence. It does not change.
    comments (Optional[Mapping]): The values, by name.
    misc (Optional[Mapping]): The attributes of each word, from 1: their values by name.
    """
    comments, misc = comments or {}, misc or {}
    lines = list(sentence.lines)
    cells = sentence.column(MISC) if misc else []
    for word, attributes in misc.items():
        place = sentence.line_of(word) - sentence.line
        kept = [each for each in cells[word - 1].split("|") if each != "_" and each.partition("=")[0] not in attributes]
        added = [f"{name}={_clean(str(value))}" for name, value in attributes.items()]
        lines[place] = sentence.columns.replaced(lines[place], MISC, ("|".join(kept + added) or "_").encode("utf8"))
    before = []
    while lines and lines[0].startswith(b"#") and b"\t" not in lines[0]:
        before.append(lines.pop(0))
    end = b"\r\n" if before and before[0].endswith(b"\r\n") else b"\n"
    before = [line for line in before if _name(line) not in comments]
    added_lines = [f"# {name} = {' '.join(str(value).split())}".encode() + end for name, value in comments.items()]
    return b"".join([*before, *added_lines, *lines])


class MarkedWriter:
    """Writes marked sentences in any order, also those of several files, so that the result is CoNLL-U.

    Each sentence ends with an empty line. In CoNLL-U Plus, a header stands where the columns change.

    file (BinaryIO): The file to write to.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._columns: Columns = CONLLU

    def write(
        self,
        sentence: Sentence,
        comments: Mapping[str, object] | None = None,
        misc: Mapping[int, Mapping[str, object]] | None = None,
    ) -> None:
        """Write a sentence with further comments and MISC attributes. See `marked_sentence`."""
        lines = marked_sentence(sentence, comments, misc).splitlines(keepends=True)
        lines = [line for line in lines if not (line.startswith(b"#") and b"global.columns" in line)]
        if sentence.columns is not self._columns:
            self._columns = sentence.columns
            lines.insert(0, self._columns.header().encode("utf8"))
        end = b"\r\n" if lines[0].endswith(b"\r\n") else b"\n"
        if not lines[-1].endswith(b"\n"):
            lines[-1] += end
        if lines[-1].strip():
            lines.append(end)
        self._file.write(b"".join(lines))


def _clean(value: str) -> str:
    return "_".join(value.replace("|", " ").split()) or "_"


def _name(comment: bytes) -> str:
    return comment[1:].partition(b"=")[0].decode("utf8", "replace").strip()
