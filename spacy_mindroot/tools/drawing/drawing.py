"""Drawings: pieces of SVG with a size, which can be put side by side, on a card, and into a web page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil
from typing import NamedTuple

from ...escapes import visible
from .layout import text_width
from .style import attributes

__all__ = ["Drawing", "beside", "on_card", "titled", "write_hint", "write_line", "write_text"]

_PADDING, _GAP = 16.0, 8.0  # pixels
_TEXT = 'font-family="Helvetica, Arial, Segoe UI, Noto Sans, sans-serif" font-size="14"'


class Drawing(NamedTuple):
    """A piece of SVG."""

    content: str
    width: float  # in pixels
    height: float
    description: str = ""  # of the picture, for those who don't see it

    def to_svg(self) -> str:
        """Return an `<svg>` element: a file that stands alone, or a part of a web page."""
        size = max(1, ceil(self.width)), max(1, ceil(self.height))
        name = f' aria-label="{escape(visible(self.description))}"' if self.description else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
            f'viewBox="0 0 {size[0]} {size[1]}" {_TEXT} text-anchor="middle" role="img"{name}>{self.content}</svg>'
        )

    def at(self, x: float, y: float) -> str:
        """Return the elements, moved to another place."""
        return f'<g transform="translate({x:.1f},{y:.1f})">{self.content}</g>'


def write_text(
    classes: str, x: float, y: float, text: str, title: str = "", *, hint: str = "", anchor: str = "middle"
) -> str:
    """Return a line of text. The text is escaped, and its control characters are spelled out.

    x, y (float): The middle of the line, or its start or end as `anchor` says; and its base.
    title, hint (str): See `titled`.
    """
    where = "" if anchor == "middle" else f' text-anchor="{anchor}"'  # the middle is that of the whole picture
    shown = f'<text {attributes(classes)}{where} x="{x:.1f}" y="{y:.1f}">{escape(visible(text))}</text>'
    return titled(title, shown, hint)


def titled(title: str, content: str, hint: str = "") -> str:
    """Return elements with a text that appears while the pointer is on them; without, if the text is empty.

    hint (str): The same text from `write_hint`, which appears at once on a web page.
    """
    if not title:
        return content
    lines = "\n".join(escape(visible(line)) for line in title.split("\n"))
    return f'<g class="hover"><title>{lines}</title>{content}{hint}</g>'


def write_hint(title: str, x: float, y: float, width: float) -> str:
    """Return a text that a web page shows in one line, about x, while the pointer is on what has this title.

    width (float): The width of the picture. The line does not leave it, unless it is longer.
    """
    text = title.replace("\n", "  ")
    half = text_width(text, 12.0) / 2
    return write_text("more", max(half, min(x, width - half)), y, text)


def write_line(classes: str, text: str, size: float = 14.0) -> Drawing:
    """Return a line of text as a drawing of its own. `size` is that of its classes in `style.py`, in pixels."""
    width = text_width(text, size)
    return Drawing(write_text(classes, width / 2, size, text), width, 1.5 * size)


def beside(drawings: Iterable[Drawing]) -> Drawing:
    """Return drawings side by side."""
    parts, x, height = [], 0.0, 0.0
    for each in drawings:
        parts.append(each.at(x, 0.0))
        x += each.width + _GAP
        height = max(height, each.height)
    return Drawing("".join(parts), max(0.0, x - _GAP), height)


def on_card(drawings: Sequence[Drawing], description: str = "") -> Drawing:
    """Return drawings one below another, in the middle of a card."""
    width = ceil(max((each.width for each in drawings), default=0.0) + 2 * _PADDING)
    parts, y = [], _PADDING
    for each in drawings:
        parts.append(each.at((width - each.width) / 2, y))
        y += each.height + _GAP
    height = ceil(y - _GAP + _PADDING if drawings else 2 * _PADDING)
    card = f'<rect {attributes("card")} x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"/>'
    return Drawing("\n".join([card, *parts, ""]), width, height, description)
