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
    """Return a table. If it is too wide for the terminal, headings are wrapped and texts are cut, the widest first.

    Widths are those of a terminal, where a character of Chinese takes two places. Control characters are spelled out.

    rows (Sequence[Sequence[object]]): The cells.
    header (Sequence[str]): The headings; none by default.
    aligns (str): A letter for each column: "l" for texts, "r" for numbers, which are never cut. By default, the first
        column has texts, and all others have numbers.
    """
    from rich.cells import cell_len

    cells = [[visible(" ".join(str(cell).split())) for cell in row] for row in rows]
    columns = len(header) or len(cells[0])
    aligns = aligns or "l" + "r" * (columns - 1)
    longest = [max((cell_len(row[k]) for row in cells), default=0) for k in range(columns)]
    widths, least = [], []
    for k, heading in enumerate(header or [""] * columns):
        widths.append(max(longest[k], cell_len(heading)))
        needed = longest[k] if aligns[k] == "r" else min(longest[k], _NARROW)
        least.append(max([needed, *map(cell_len, heading.split())]))
    room = shutil.get_terminal_size((_WIDTH, 24)).columns - len(_GAP) * (columns - 1)
    while sum(widths) > room and (wide := [k for k in range(columns) if widths[k] > least[k]]):
        widths[max(wide, key=widths.__getitem__)] -= 1
    lines = []
    if header:
        wrapped = [wrap(heading, width) for heading, width in zip(header, widths, strict=True)]
        for number in range(max(map(len, wrapped))):
            lines.append([heading[number] if number < len(heading) else "" for heading in wrapped])
        lines.append(["-" * width for width in widths])
    return "\n".join(["", *(_line(row, widths, aligns) for row in lines + cells), ""])


def _line(row: Sequence[str], widths: Sequence[int], aligns: str) -> str:
    from rich.cells import cell_len, set_cell_size

    shown = []
    for cell, width, align in zip(row, widths, aligns, strict=True):
        cut = cell if cell_len(cell) <= width else f"{set_cell_size(cell, width - 3).rstrip()}..."
        space = " " * (width - cell_len(cut))
        shown.append(space + cut if align == "r" else cut + space)
    return _GAP.join(shown).rstrip()
