"""Draws words with arcs above and below them, or two trees. `style.py` has the colours and sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from html import escape
from typing import NamedTuple

from ...escapes import visible
from .drawing import Drawing, titled, write_hint, write_text
from .layout import is_right_to_left, levels_of, place_feet, place_words, text_width
from .style import attributes

__all__ = ["Arc", "Tree", "Word", "draw_arcs", "draw_trees"]

_Hint = Callable[[str, float], str]
_Cell = tuple[str, str, str]  # classes, text and title
Tree = tuple[Iterable[int], Sequence[str]]  # the head, 0 = ROOT, and the label of each token

# Lengths in pixels.
_LEVEL = 27.0  # between the heights of arcs
_ROOM, _EDGE = 34.0, 9.0  # beyond the highest arc, with and without arrows from ROOT
_TURN = 9.0  # radius of the corners of arcs
_LINE, _TAG_LINE = 28.0, 14.0  # heights of the line of words, and of that of their tags
_BRACKET = 6.0  # height of the bracket of a multiword token; its form has the height of a tag
_MARGIN = 3.0
_BELOW_LABEL = 13.0  # where an arrow from ROOT begins if it has a label
_LABEL = 11.5  # font size of labels
_WIDEST = 1180.0  # wider pictures have one word per line
_ROW, _TURNED_LEVEL = 22.0, 13.0  # height of a line with one word, and distance of the arcs beside it
_COLUMN = 9.0  # between the columns of such a picture


class Arc(NamedTuple):
    """An arc to draw. Several arcs may lead to one token."""

    head: int  # 0 for ROOT: the arc comes straight from outside
    dependent: int  # from 1
    label: str = ""
    classes: str = ""  # for a style sheet, separated by spaces
    title: str = ""  # appears while the pointer is on the arc


class Word(NamedTuple):
    """A word to draw."""

    text: str
    classes: str = ""
    title: str = ""
    tag: str = ""  # small text below it
    surface: str = ""  # form of the multiword token that begins with it, which is bracketed below the tags
    covers: int = 1  # number of words of that token


def draw_arcs(
    words: Sequence[Word],
    above: Sequence[Arc],
    below: Sequence[Arc] = (),
    *,
    description: str = "",
    right_to_left: bool | None = None,
    boxed: tuple[int, int] | None = None,
    least: float = 26.0,
    vertical: bool | None = None,
) -> Drawing:
    """Return a drawing of words and arcs. Arcs run from head to dependent; the arrow is at the dependent.

    A vertical drawing has one word per line. The arcs are to the left and to the right of the words, in place of above
    and below, and their labels beside their dependents.

    Classes for `style.py`: `arc`, `tip` and `label`, each with `above` or `below`; `halo`, `word`, `tag`, `box`. Arcs
    and words have their own classes as well. Text is escaped, and its control characters are spelled out.

    above, below (Sequence[Arc]): The arcs above and below the words. Later arcs lie over earlier ones.
    right_to_left (Optional[bool]): Whether the first word is on the right. None: if most letters are written so.
    boxed (Optional[tuple[int, int]]): First and last word of a group that gets a frame.
    least (float): Width of the narrowest words, in pixels.
    vertical (Optional[bool]): Whether the drawing is vertical. None: if it would be too wide for a page or screen.
    """
    words = [
        word._replace(text=visible(word.text), tag=visible(word.tag), surface=visible(word.surface)) for word in words
    ]
    sides = [[arc._replace(label=visible(arc.label)) for arc in arcs] for arcs in (above, below)]
    arcs = [arc for side in sides for arc in side]
    centres, width = place_words(
        [max(text_width(word.text), text_width(word.tag, 10.0), least) for word in words],
        [(arc.head, arc.dependent) for arc in arcs],
        [arc.label for arc in arcs],
    )
    if vertical or (vertical is None and width > _WIDEST):
        return _draw_lines(words, sides, description)
    if right_to_left is None:
        right_to_left = is_right_to_left([word.text for word in words])
    if right_to_left:
        centres = [width - x for x in centres]
    tags = any(word.tag for word in words)
    brackets = any(word.surface for word in words)
    line = _LINE + _TAG_LINE * tags + (_BRACKET + _TAG_LINE) * brackets
    drawn = [_Side(arcs, centres, right_to_left) for arcs in sides]
    heights = [side.height for side in drawn]
    middle = heights[0] + _MARGIN
    parts = []
    if boxed is not None:
        edges = sorted(centres[word - 1] for word in boxed)
        parts.append(
            f'<rect {attributes("box")} x="{edges[0] - 34:.1f}" y="{middle + 1:.1f}" '
            f'width="{edges[1] - edges[0] + 68:.1f}" height="{line - 2:.1f}" rx="8"/>'
        )
    height = sum(heights) + line + 2 * _MARGIN

    def hint(title: str, x: float) -> str:
        return write_hint(title, x, height + 12, width) if title else ""

    parts += drawn[0].paths("above", middle, -1.0, hint) + drawn[1].paths("below", middle + line, 1.0, hint)
    parts += drawn[0].labels("above", middle, -1.0, hint) + drawn[1].labels("below", middle + line, 1.0, hint)
    for word, x in zip(words, centres, strict=True):
        for kind, y, text in (("word", middle + _LINE / 2 + 5, word.text), ("tag", middle + _LINE + 6, word.tag)):
            if text or kind == "word":
                classes = _classes(kind, word.classes)
                parts.append(write_text(classes, x, y, text, word.title, hint=hint(word.title, x)))
    for k, word in enumerate(words):
        if word.surface:
            ends = sorted((centres[k], centres[k + word.covers - 1]))
            top = middle + _LINE + _TAG_LINE * tags
            parts.append(
                f'<path {attributes("bracket")} d="M{ends[0] - 12:.1f},{top:.1f} v{_BRACKET - 2:.0f} '
                f'H{ends[1] + 12:.1f} v{2 - _BRACKET:.0f}"/>'
            )
            parts.append(write_text("tag", sum(ends) / 2, top + _BRACKET + 9, word.surface))
    return Drawing("".join(parts), width, height, description)


def draw_trees(
    words: Sequence[str], above: Tree, below: Tree, *, marked: Collection[int] = (), vertical: bool | None = None
) -> Drawing:
    """Return a drawing of two trees of one sentence. Marked tokens, from 1, and their arcs lie over the others."""
    classes = ["marked" if token in marked else "" for token in range(1, len(words) + 1)]
    heads = ["ROOT", *words]
    sides = [
        [
            Arc(int(head), token, label, kind, f"{heads[head]} → {words[token - 1]}: {label}")
            for token, (head, label, kind) in enumerate(zip(*tree, classes, strict=True), 1)
        ]
        for tree in (above, below)
    ]
    above_words, below_words = (sorted(arcs, key=lambda arc: bool(arc.classes)) for arcs in sides)
    return draw_arcs(list(map(Word, words, classes)), above_words, below_words, vertical=vertical)


def _draw_lines(words: Sequence[Word], sides: Sequence[Sequence[Arc]], description: str) -> Drawing:
    """Return a vertical drawing. See `draw_arcs`."""
    rows = [_MARGIN + _ROW * (k + 0.5) for k in range(len(words))]
    left, right = (_Side(arcs, rows, turned=True) for arcs in sides)
    labels: list[list[list[_Cell]]] = [[[] for _ in words] for _ in sides]
    for side, arcs, own in zip(("above", "below"), sides, labels, strict=True):
        for arc in arcs:
            if arc.label:
                own[arc.dependent - 1].append((_classes("label", side, arc.classes), arc.label, arc.title))
    columns: list[tuple[float, list[list[_Cell]]]] = [
        (1.1 * _LABEL, labels[0]),
        (14.0, [[(_classes("word", word.classes), word.text, word.title)] for word in words]),
        (10.0, [[(_classes("tag", word.classes), word.tag, word.title)] if word.tag else [] for word in words]),
        (10.0, [[("tag", f"({word.surface})", "")] if word.surface else [] for word in words]),
        (1.1 * _LABEL, labels[1]),
    ]
    edge = _MARGIN + left.height
    texts, start = [], edge + _COLUMN
    for size, column in columns:
        end = start
        for y, cells in zip(rows, column, strict=True):
            x = start
            for classes, text, title in cells:
                texts.append((classes, x, y + 5, text, title))
                x += text_width(f"{text} ", size)
                end = max(end, x + _COLUMN)
        start = end
    width = start + right.height + _MARGIN

    def hint(title: str, y: float) -> str:
        return write_text("more", width + _COLUMN, y + 5, title.replace("\n", "  "), anchor="start")

    parts = left.paths("above", edge, -1.0, hint) + right.paths("below", start, 1.0, hint)
    for classes, x, y, text, title in texts:
        parts.append(write_text(classes, x, y, text, title, hint=hint(title, y - 5), anchor="start"))
    return Drawing("".join(parts), width, 2 * _MARGIN + _ROW * len(words), description)


class _Side:
    """The arcs on one side of the words: above or below them, or, if turned, to the left or to the right."""

    def __init__(
        self, arcs: Sequence[Arc], centres: Sequence[float], mirrored: bool = False, *, turned: bool = False
    ) -> None:
        ends = [(arc.head, arc.dependent) for arc in arcs]
        self._arcs = arcs
        self._levels = levels_of(ends)
        self._turned = turned
        self._level = _TURNED_LEVEL if turned else _LEVEL
        if mirrored:  # the layout is that of the words from left to right
            width = max(centres, default=0.0)
            feet = place_feet(ends, self._levels, [width - x for x in centres])
            self._feet = [(width - start, width - end) for start, end in feet]
        else:
            self._feet = place_feet(ends, self._levels, centres, *[0.8 * _ROW] * turned)
        room = _ROOM if any(not arc.head for arc in arcs) else _EDGE
        self.height = self._level * max(self._levels, default=0) + room if arcs else _MARGIN

    def paths(self, side: str, base: float, sign: float, hint: _Hint) -> list[str]:
        """Return the lines and arrows.

        side (str): "above" or "below".
        base, sign (float): The y of the edge of the words, and the direction in which the arcs grow from there; if
            turned, the x.
        hint (Callable): Returns what appears while the pointer is on an arc at this place beside the words.
        """
        parts = []
        across, along = "HV" if self._turned else "VH"

        def at(x: float, y: float) -> str:
            return f"{y:.1f},{x:.1f}" if self._turned else f"{x:.1f},{y:.1f}"

        for k, arc in enumerate(self._arcs):
            start, foot = self._feet[k]
            top = self._top(k, base, sign)
            if arc.head:
                turn = min(_TURN, abs(foot - start) / 2) * (1 if foot > start else -1)
                line = (
                    f"M{at(start, base)} {across}{top - sign * _TURN:.1f} Q{at(start, top)} {at(start + turn, top)} "
                    f"{along}{foot - turn:.1f} Q{at(foot, top)} {at(foot, top - sign * _TURN)} "
                    f"{across}{base + sign * 6:.1f}"
                )
            else:
                top -= sign * _BELOW_LABEL if arc.label and not self._turned else 0.0
                line = f"M{at(foot, top)} {across}{base + sign * 6:.1f}"
            tip = f"M{at(foot - 4, base + sign * 8)} L{at(foot, base)} L{at(foot + 4, base + sign * 8)} Z"
            kinds = [attributes(_classes(kind, side, arc.classes)) for kind in ("arc", "tip")]
            paths = f'<path {kinds[0]} d="{line}"/><path {kinds[1]} d="{tip}"/>'
            if arc.title:  # a broad line that can't be seen, so that the arc is easy to point at
                hit = f'<path {attributes("hit")} d="{line}"/>'
                paths = titled(arc.title, hit + paths, hint(arc.title, (start + foot) / 2))
            parts.append(paths)
        return parts

    def labels(self, side: str, base: float, sign: float, hint: _Hint) -> list[str]:
        """Return the labels, to be drawn over all lines, each on a piece of the background."""
        parts = []
        for k, arc in enumerate(self._arcs):
            if arc.label:
                start, foot = self._feet[k]
                x, y = (start + foot) / 2, self._top(k, base, sign) - (0 if arc.head else sign * 6)
                room = 1.1 * text_width(arc.label, _LABEL) + 3  # it may be in bold type
                parts.append(
                    f'<rect {attributes("halo")} x="{x - room / 2:.1f}" y="{y - 6:.1f}" width="{room:.1f}" '
                    'height="12"/>'
                )
                classes = _classes("label", side, arc.classes)
                parts.append(write_text(classes, x, y + 4, arc.label, arc.title, hint=hint(arc.title, x)))
        return parts

    def _top(self, k: int, base: float, sign: float) -> float:
        return base + sign * (self._level * self._levels[k] if self._arcs[k].head else self.height - 4)


def _classes(*names: str) -> str:
    return escape(" ".join(name for name in names if name))
