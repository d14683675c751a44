"""The columns of CoNLL-U, and of CoNLL-U Plus, whose header names them in any order and number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

__all__ = [
    "COLUMNS",
    "CONLLU",
    "DEPREL",
    "DEPS",
    "FEATS",
    "FORM",
    "HEAD",
    "ID",
    "LEMMA",
    "MISC",
    "UPOS",
    "XPOS",
    "Columns",
    "read_header",
]

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
NEEDED = (ID, FORM, HEAD, DEPREL)

_HEADER = re.compile(rb"#\s*global\.columns\s*=(.*)", flags=re.DOTALL)


class Columns:
    """The columns of a file: which of them are CoNLL-U's ten, and where they are.

    names (tuple[str]): The name of each column. All others than CoNLL-U's ten are carried along unread, and so are
        further columns after those with a name, whose number may differ by sentence.
    """

    __slots__ = ("_places", "names")

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._places = [self.names.index(name) if name in self.names else None for name in COLUMNS]

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.names)

    def fault(self) -> str:
        """Describe what is wrong with the names; "" if nothing is."""
        missing = [COLUMNS[column] for column in NEEDED if self._places[column] is None]
        if missing:
            return f"without {_listed(missing)}. {_listed([COLUMNS[column] for column in NEEDED])} are needed"
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        return f"with {_listed(twice)} more than once" if twice else ""

    def header(self) -> str:
        """Return the comment that names the columns, without a line end."""
        return f"# global.columns = {' '.join(self.names)}"

    def cells(self, line: bytes) -> list[bytes]:
        """Return the cells of a line that are CoNLL-U's, in CoNLL-U's order and without the line end.

        A column that the file lacks gives "_". The result is empty if the line has fewer columns than names, or more
        and an empty cell: then a tab is likely to be a mistake.
        """
        cells = line.rstrip(b"\r\n").split(b"\t")
        if len(cells) != len(self.names) and (len(cells) < len(self.names) or b"" in cells):
            return []
        return [b"_" if place is None else cells[place] for place in self._places]

    def replaced(self, line: bytes, column: int, cell: bytes) -> bytes:
        """Return a line with another cell in one of CoNLL-U's columns. Where the file lacks it, the line stays."""
        place = self._places[column]
        if place is None:
            return line
        text = line.rstrip(b"\r\n")
        cells = text.split(b"\t")
        cells[place] = cell
        return b"\t".join(cells) + line[len(text) :]


CONLLU = Columns(COLUMNS)  # of files without a header; their lines have no further columns


def read_header(line: bytes) -> Columns | None:
    """Return the columns that a comment names; None if it is not a header."""
    match = _HEADER.match(line)
    return _columns(tuple(match[1].decode("utf8", "replace").split())) if match else None


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> Columns:
    return Columns(names)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
