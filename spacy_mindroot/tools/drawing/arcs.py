"""Draws words with arcs above and below them, or two trees. `style.py` has the colours and sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import NamedTuple

from ...escapes import visible
from .drawing import Drawing, titled, write_text
from .layout import is_right_to_left, levels_of, place_feet, place_words, text_width
from .style import attributes

__all__ = ["Arc", "Tree", "Word", "draw_arcs", "draw_trees"]

Tree = tuple[Iterable[int], Sequence[str]]  # the head, 0 = ROOT, and the label of each token

# Lengths in pixels.
_LEVEL = 27.0  # between the heights of arcs
_ROOM, _EDGE = 34.0, 9.0  # beyond the highest arc, with and without arrows from ROOT
_TURN = 9.0  # radius of the corners of arcs
_LINE, _TAG_LINE = 28.0, 14.0  # heights of the line of words, and of that of their tags
_MARGIN = 3.0
_BELOW_LABEL = 13.0  # where an arrow from ROOT begins if it has a label
_LABEL = 11.5  # font size of labels


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


def draw_arcs(
    words: Sequence[Word],
    above: Sequence[Arc],
    below: Sequence[Arc] = (),
    *,
    description: str = "",
    right_to_left: bool | None = None,
    boxed: tuple[int, int] | None = None,
    least: float = 26.0,
) -> Drawing:
    """Return a drawing of words and arcs. Arcs run from head to dependent; the arrow is at the dependent.

    Classes for `style.py`: `arc`, `tip` and `label`, each with `above` or `below`; `halo`, `word`, `tag`, `box`. Arcs
    and words have their own classes as well. Text is escaped, and its control characters are spelled out.

    above, below (Sequence[Arc]): The arcs above and below the words. Later arcs lie over earlier ones.
    right_to_left (Optional[bool]): Whether the first word is on the right. None: if most letters are written so.
    boxed (Optional[tuple[int, int]]): First and last word of a group that gets a frame.
    least (float): Width of the narrowest words, in pixels.
    """
    words = [word._replace(text=visible(word.text), tag=visible(word.tag)) for word in words]
    sides = [[arc._replace(label=visible(arc.label)) for arc in arcs] for arcs in (above, below)]
    arcs = [arc for side in sides for arc in side]
    centres, width = place_words(
        [max(text_width(word.text), text_width(word.tag, 10.0), least) for word in words],
        [(arc.head, arc.dependent) for arc in arcs],
        [arc.label for arc in arcs],
    )
    if right_to_left is None:
        right_to_left = is_right_to_left([word.text for word in words])
    if right_to_left:
        centres = [width - x for x in centres]
    tags = any(word.tag for word in words)
    line = _LINE + _TAG_LINE * tags
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
    parts += drawn[0].paths("above", middle, -1.0) + drawn[1].paths("below", middle + line, 1.0)
    parts += drawn[0].labels("above", middle, -1.0) + drawn[1].labels("below", middle + line, 1.0)
    for word, x in zip(words, centres, strict=True):
        parts.append(write_text(_classes("word", word.classes), x, middle + _LINE / 2 + 5, word.text, word.title))
        if word.tag:
            parts.append(write_text(_classes("tag", word.classes), x, middle + _LINE + 6, word.tag, word.title))
    return Drawing("".join(parts), width, sum(heights) + line + 2 * _MARGIN, description)


def draw_trees(words: Sequence[str], above: Tree, below: Tree, *, marked: Collection[int] = ()) -> Drawing:
    """Return a drawing of two trees of one sentence. Marked tokens, from 1, and their arcs lie over the others."""
    classes = ["marked" if token in marked else "" for token in range(1, len(words) + 1)]
    sides = [
        [
            Arc(int(head), token, label, kind)
            for token, (head, label, kind) in enumerate(zip(*tree, classes, strict=True), 1)
        ]
        for tree in (above, below)
    ]
    above_words, below_words = (sorted(arcs, key=lambda arc: bool(arc.classes)) for arcs in sides)
    return draw_arcs(list(map(Word, words, classes)), above_words, below_words)


class _Side:
    """The arcs on one side of the words."""

    def __init__(self, arcs: Sequence[Arc], centres: Sequence[float], mirrored: bool) -> None:
        ends = [(arc.head, arc.dependent) for arc in arcs]
        self._arcs = arcs
        self._levels = levels_of(ends)
        if mirrored:  # the layout is that of the words from left to right
            width = max(centres, default=0.0)
            feet = place_feet(ends, self._levels, [width - x for x in centres])
            self._feet = [(width - start, width - end) for start, end in feet]
        else:
            self._feet = place_feet(ends, self._levels, centres)
        room = _ROOM if any(not arc.head for arc in arcs) else _EDGE
        self.height = _LEVEL * max(self._levels, default=0) + room if arcs else _MARGIN

    def paths(self, side: str, base: float, sign: float) -> list[str]:
        """Return the lines and arrows.

        side (str): "above" or "below".
        base, sign (float): The y of the edge of the words, and the direction in which the arcs grow from there.
        """
        parts = []
        for k, arc in enumerate(self._arcs):
            start, foot = self._feet[k]
            top = self._top(k, base, sign)
            if arc.head:
                turn = min(_TURN, abs(foot - start) / 2) * (1 if foot > start else -1)
                line = (
                    f"M{start:.1f},{base:.1f} V{top - sign * _TURN:.1f} Q{start:.1f},{top:.1f} "
                    f"{start + turn:.1f},{top:.1f} H{foot - turn:.1f} Q{foot:.1f},{top:.1f} "
                    f"{foot:.1f},{top - sign * _TURN:.1f} V{base + sign * 6:.1f}"
                )
            else:
                top -= sign * _BELOW_LABEL if arc.label else 0.0
                line = f"M{foot:.1f},{top:.1f} V{base + sign * 6:.1f}"
            tip = (
                f"M{foot - 4:.1f},{base + sign * 8:.1f} L{foot:.1f},{base:.1f} L{foot + 4:.1f},{base + sign * 8:.1f} Z"
            )
            kinds = [attributes(_classes(kind, side, arc.classes)) for kind in ("arc", "tip")]
            paths = f'<path {kinds[0]} d="{line}"/><path {kinds[1]} d="{tip}"/>'
            if arc.title:  # a broad line that can't be seen, so that the arc is easy to point at
                hit = f'<path {attributes("hit")} d="{line}"/>'
                paths = titled(arc.title, hit + paths)
            parts.append(paths)
        return parts

    def labels(self, side: str, base: float, sign: float) -> list[str]:
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
                parts.append(write_text(_classes("label", side, arc.classes), x, y + 4, arc.label, arc.title))
        return parts

    def _top(self, k: int, base: float, sign: float) -> float:
        return base + sign * (_LEVEL * self._levels[k] if self._arcs[k].head else self.height - 4)


def _classes(*names: str) -> str:
    return escape(" ".join(name for name in names if name))
