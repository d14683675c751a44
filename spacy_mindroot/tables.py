"""Tables as text, no wider than the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from textwrap import wrap

from .escapes import visible

__all__ = ["text_table"]

_WIDTH = 120  # where there is no terminal
_NARROW = 8  # columns are not made narrower
_GAP = "   "


def text_table(rows: Sequence[Sequence[object]], header: Sequence[str] = (), aligns: str = "") -> str:
    """Return a table. If it is too wide for the terminal, names are wrapped and texts are cut, the widest first.

    Widths are those of a terminal, where a character of Chinese takes two places. Control characters are spelled out.

    rows (Sequence[Sequence[object]]): The cells.
    header (Sequence[str]): The headings, which are names; none by default.
    aligns (str): A letter for each column: "n" for names, "l" for texts, "r" for numbers, which are never cut. By
        default, the first column has names, and all others have numbers.
    """
    cells = [[_on_one_line(str(cell)) for cell in row] for row in rows]
    columns = len(header) or len(cells[0] if cells else ())
    aligns = aligns or "n" + "r" * (columns - 1)
    widths, least = [], []
    for k, heading in enumerate(header or [""] * columns):
        longest = max((_width(row[k]) for row in cells), default=0)
        words = [*heading.split(), *(word for row in cells if aligns[k] == "n" for word in row[k].split())]
        needed = {"n": 0, "l": min(longest, _NARROW), "r": longest}[aligns[k]]
        widths.append(max(longest, _width(heading)))
        least.append(max([needed, *map(_width, words)]))
    room = shutil.get_terminal_size((_WIDTH, 24)).columns - len(_GAP) * (columns - 1)
    while sum(widths) > room and (wide := [k for k in range(columns) if widths[k] > least[k]]):
        widths[max(wide, key=widths.__getitem__)] -= 1
    lines = [""]
    if header:
        lines += _lines(header, widths, aligns, wrapped="nlr")
        lines.append(_GAP.join("-" * width for width in widths))
    for row in cells:
        lines += _lines(row, widths, aligns, wrapped="n")
    return "\n".join([*lines, ""])


def _lines(row: Sequence[str], widths: Sequence[int], aligns: str, *, wrapped: str) -> list[str]:
    """Return the lines of a row: several if cells are too long, in columns of the kinds that are wrapped."""
    columns = []
    for cell, width, align in zip(row, widths, aligns, strict=True):
        pieces = wrap(cell, width) if align in wrapped and _width(cell) > width else [cell]
        columns.append([_fitted(piece, width, align) for piece in pieces])
    height = max(map(len, columns))
    filled = [[*lines, *[" " * width] * (height - len(lines))] for lines, width in zip(columns, widths, strict=True)]
    return [_GAP.join(line).rstrip() for line in zip(*filled, strict=True)]


def _on_one_line(text: str) -> str:
    """Return a text with its indentation, and one space in place of any other white space."""
    return " " * (len(text) - len(text.lstrip(" "))) + visible(" ".join(text.split()))


def _fitted(text: str, width: int, align: str) -> str:
    """Return a text in a number of places of the terminal."""
    from rich.cells import set_cell_size

    cut = text if _width(text) <= width else f"{set_cell_size(text, width - 3).rstrip()}..."
    space = " " * (width - _width(cut))
    return space + cut if align == "r" else cut + space


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
