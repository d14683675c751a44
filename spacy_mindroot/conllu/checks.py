"""Checks what a line of CoNLL-U may be, and describes each fault."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..trees import MISSING
from .columns import CONLLU, FORM, Columns, read_header

__all__ = ["NUMBERS", "RANGE", "VALUES", "Checks", "shown"]

NUMBERS = [b"%d" % number for number in range(1000)]  # in their only valid spelling; grows with the longest sentence
VALUES = {cell: number for number, cell in enumerate(NUMBERS)} | {b"_": MISSING}
RANGE = re.compile(rb"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY_NODE = re.compile(rb"(0|[1-9][0-9]*)\.([1-9][0-9]*)")
_INTEGER = re.compile(rb"-?[0-9]{1,18}")
_PROSE = " If this file is a text, parse it first: spacy mindroot parse MODEL FILE --out FOLDER."
_EMPTY_FORM = 'has an empty FORM. Write "_" where there is none.'


class Checks:
    """Checks the lines that are not plain words, and collects faults as pairs of line number and description."""

    def __init__(self, columns: Columns) -> None:
        self.faults: list[tuple[int, str]] = []
        self._columns = columns
        self._begun = False  # no comments from here on
        self._range = (0, 0)  # first and last word of the latest multiword token
        self._range_line = 0
        self._empty_node = (0, 0)

    def head(self, cell: bytes, line: int) -> int:
        """Return the head in a cell that is not a number in its only valid spelling within the sentence."""
        if _INTEGER.fullmatch(cell):
            head = int(cell)
            return head if head >= 0 else head - 1  # -1 is out of range, not missing
        if RANGE.fullmatch(cell):
            reason = "a multiword token. HEAD is one of its words, or 0."
        elif _EMPTY_NODE.fullmatch(cell):
            reason = "an empty node. HEAD is a word, or 0; only DEPS has heads that are empty nodes."
        else:
            reason = "not a number."
        self.faults.append((line, f"has HEAD {shown(cell)}, which is {reason}"))
        return MISSING

    def other_line(self, text: bytes, cells: list[bytes], number: int, line: int) -> bool:
        """Check any line except a good one of the next word, `number`. Return whether it is that word, with a fault."""
        if text in (b"\n", b"\r\n"):
            return False
        if text.startswith(b"#") and not (len(cells) == 10 and cells[0][:1].isdigit()):
            if self._begun or number > 1:
                self.faults.append((line, "is a comment inside a sentence. Comments come before the first word."))
            elif b"global.columns" in text and read_header(text) not in (None, self._columns):
                self.faults.append((line, "is a header that must be the first line of the file."))
            return False
        self._begun = True
        if not text.strip():
            self.faults.append((line, "is white space. An empty line, with nothing in it, ends a sentence."))
        elif len(cells) != 10:
            fault = _wrong_number(text, self._columns)
            is_prose = line == 1 and b"\t" not in text and "separated by spaces" not in fault
            self.faults.append((line, fault + is_prose * _PROSE))
        elif match := RANGE.fullmatch(cells[0]):
            self._multiword_token(int(match[1]), int(match[2]), cells, number, line)
        elif match := _EMPTY_NODE.fullmatch(cells[0]):
            self._check_empty_node((int(match[1]), int(match[2])), cells[0], number, line)
        elif cells[0] == NUMBERS[number]:
            self.faults.append((line, _EMPTY_FORM))
            return True
        else:
            self.faults.append((line, f"has ID {shown(cells[0])}, but the next word is {number}."))
        return False

    def _multiword_token(self, first: int, last: int, cells: list[bytes], number: int, line: int) -> None:
        fault = ""
        if last < first:
            fault = f"a reversed range: the first word of the multiword token {first}-{last} comes after its last."
        elif first <= self._range[1]:
            fault = "which overlaps the multiword token {}-{} before it.".format(*self._range)
        elif first != number:
            fault = f"but the next word is {number}."
        if fault:
            self.faults.append((line, f"has ID {shown(cells[0])}, {fault}"))
            return
        self._range, self._range_line = (first, last), line
        if not cells[FORM]:
            self.faults.append((line, _EMPTY_FORM))

    def _check_empty_node(self, node: tuple[int, int], cell: bytes, number: int, line: int) -> None:
        follows = (number - 1, self._empty_node[1] + 1 if self._empty_node[0] == number - 1 else 1)
        first, last = self._range
        if node != follows:
            expected = f"{follows[0]}.{follows[1]}"
            self.faults.append((line, f"has ID {shown(cell)}; an empty node here is {expected}."))
        elif first == number:
            what = f"has ID {shown(cell)}, but the empty node belongs before the multiword token {first}-{last}."
            self.faults.append((line, what))
        self._empty_node = node

    def widths(self, words: Sequence[tuple[int, int]]) -> None:
        """Check that all words of a sentence have the same number of columns: those are its lines and their numbers."""
        for line, width in words:
            if width != words[0][1]:
                what = f"has {width} columns, but the first word of its sentence has {words[0][1]}."
                self.faults.append((line, what))

    def end(self, words: int) -> None:
        """Check what can only be known at the end of the sentence."""
        if self._range[1] > words and not self.faults:
            what = f"is a multiword token up to word {self._range[1]}, but the sentence has {words} words."
            self.faults.append((self._range_line, what))


def _wrong_number(text: bytes, columns: Columns) -> str:
    """Describe a line with the wrong number of columns, with the most likely reason."""
    cells = text.rstrip(b"\r\n").split(b"\t")
    found, expected = len(cells), len(columns)
    says = "separated by tabs" if columns is CONLLU else "by the header `# global.columns`"
    hint = ""
    if found > expected:
        if not any(cells[expected:]):
            hint = "; there is a tab at its end"
        elif not cells[0]:
            hint = "; there is a tab at its beginning"
        elif b"" in cells:
            hint = "; there are two tabs in a row"
        elif columns is CONLLU:
            hint = (
                "; a file with other columns, such as CoNLL-U Plus, needs their names in its first line: "
                "# global.columns = ID FORM ... (columns after those need no name, and may differ by sentence)"
            )
    elif len(text.split()) == expected:
        hint = "; columns may be separated by spaces here"
    elif columns is CONLLU and not cells[0].strip().replace(b"-", b"").replace(b".", b"").isdigit():
        hint = "; it has no ID, so a line break in a cell of the line before may be the reason"
    return f"has {found} column{'s' if found > 1 else ''}, expected {expected} ({says}){hint}."


def shown(cell: bytes) -> str:
    return repr(cell[:40].decode("utf8", "replace"))
