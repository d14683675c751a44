"""Draws two trees of one sentence as SVG: one above the words, the other below, with differences in colour."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

from .escapes import visible

__all__ = ["DrawnTree", "draw_trees"]

# Lengths in pixels.
_CHARACTER, _WIDE, _GAP = 8.0, 15.0, 18.0  # widths of a narrow and a wide character at 14 px, and of a space
_LEVEL, _STEP = 24.0, 7.0  # between the heights of arcs, and between the feet of arcs at one token
_ROOM = 30.0  # beyond the highest arc, for arrows from ROOT
_WORDS = 28.0  # height of the line of words


class DrawnTree(NamedTuple):
    """A tree to draw.

    heads (Sequence[int]): 0 = ROOT. Several tokens may be roots.
    labels (Sequence[str]): The label of each token.
    """

    heads: Sequence[int]
    labels: Sequence[str]


def draw_trees(words: Sequence[str], above: DrawnTree, below: DrawnTree, *, marked: Collection[int] = ()) -> str:
    """Return an `<svg>` element for HTML. Arcs run from head to dependent; those from ROOT come straight from outside.

    Classes for a style sheet: `arc`, `tip` and `label`, each with `above` or `below`, and `word`; all may be `marked`.

    words (Sequence[str]): The tokens.
    marked (Collection[int]): Tokens, from 1, that are marked together with their arcs.
    """
    words = [visible(word) for word in words]
    above, below = (DrawnTree(tree.heads, [visible(label) for label in tree.labels]) for tree in (above, below))
    widths = _widths(words, (above, below))
    centres, right = [], 0.0
    for width in widths:
        centres.append(right + width / 2)
        right += width
    levels = [_levels(tree.heads) for tree in (above, below)]
    heights = [_LEVEL * max(of_tree.values(), default=0) + _ROOM for of_tree in levels]
    middle = heights[0]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="trees" width="{right:.0f}" '
        f'height="{sum(heights) + _WORDS:.0f}">'
    ]
    parts += _arcs("above", above, levels[0], centres, middle, -1.0, heights[0], marked)
    parts += _arcs("below", below, levels[1], centres, middle + _WORDS, 1.0, heights[1], marked)
    for token, (word, x) in enumerate(zip(words, centres, strict=True), 1):
        mark = " marked" if token in marked else ""
        parts.append(f'<text class="word{mark}" x="{x:.1f}" y="{middle + _WORDS / 2 + 5:.1f}">{escape(word)}</text>')
    return "".join([*parts, "</svg>"])


def _widths(words: Sequence[str], trees: Sequence[DrawnTree]) -> list[float]:
    """Return the width of each token, with room for the label of an arc between neighbours."""
    widths = [max(_text_width(word), 24.0) + _GAP for word in words]
    for tree in trees:
        for token, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
            if head and abs(token - head) == 1:
                need = _text_width(label) * 0.85 + 22 - (widths[token - 1] + widths[head - 1]) / 2
                widths[token - 1] += max(0.0, need)
                widths[head - 1] += max(0.0, need)
    return widths


def _arcs(
    side: str,
    tree: DrawnTree,
    levels: dict[int, int],
    centres: Sequence[float],
    base: float,
    sign: float,
    height: float,
    marked: Collection[int],
) -> list[str]:
    """Return the arcs of a tree and their labels, marked ones last, so that they lie over the others.

    side (str): "above" or "below".
    base (float): y of the edge of the words; the arcs grow from there in the direction of `sign`, up to `height`.
    """
    feet = _feet(tree.heads, centres)
    arcs = []
    for token, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
        mark = " marked" if token in marked else ""
        top = base + sign * (_LEVEL * levels[token] if head else height - 4)
        foot = feet[token, token]
        if head:
            start = feet[token, head]
            turn = 6.0 if foot > start else -6.0
            line = (
                f"M{start:.1f},{base:.1f} V{top - sign * 6:.1f} Q{start:.1f},{top:.1f} {start + turn:.1f},{top:.1f} "
                f"H{foot - turn:.1f} Q{foot:.1f},{top:.1f} {foot:.1f},{top - sign * 6:.1f} V{base + sign * 5:.1f}"
            )
            x, y = (start + foot) / 2, top
        else:
            line = f"M{foot:.1f},{top:.1f} V{base + sign * 5:.1f}"
            x, y = foot, top - sign * 6
        tip = f"M{foot - 4:.1f},{base + sign * 7:.1f} L{foot:.1f},{base:.1f} L{foot + 4:.1f},{base + sign * 7:.1f} Z"
        paths = f'<path class="arc {side}{mark}" d="{line}"/><path class="tip {side}{mark}" d="{tip}"/>'
        text = f'<text class="label {side}{mark}" x="{x:.1f}" y="{y + 4:.1f}">{escape(label)}</text>'
        arcs.append((bool(mark), paths + text))
    return [arc for _, arc in sorted(arcs, key=lambda pair: pair[0])]


def _text_width(text: str) -> float:
    return sum(_WIDE if unicodedata.east_asian_width(character) in "WF" else _CHARACTER for character in text)


def _levels(heads: Sequence[int]) -> dict[int, int]:
    """Return the height of the arc to each token, in levels: above all shorter arcs that it overlaps."""
    spans = sorted((abs(token - head), min(token, head), token) for token, head in enumerate(heads, 1) if head)
    highest = [0] * (len(heads) + 2)  # above the gap between token k and k+1
    levels = {}
    for length, low, token in spans:
        level = 1 + max(highest[low : low + length])
        highest[low : low + length] = [level] * length
        levels[token] = level
    return levels


def _feet(heads: Sequence[int], centres: Sequence[float]) -> dict[tuple[int, int], float]:
    """Return the x of both ends of the arc to each token, by (dependent, token at that end).

    The ends lie around the middle of a token, those of the shortest arcs outermost, so that arcs don't cross at
    their feet.
    """
    ends: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for token, head in enumerate(heads, 1):
        if head:
            ends[token].append((1 / (head - token), token))
            ends[head].append((1 / (token - head), token))
        else:
            ends[token].append((0.0, token))
    feet = {}
    for token, arcs in ends.items():
        # From left to right: short arcs to the left, long ones, the arrow from ROOT, long arcs to the right, short
        # ones.
        arcs.sort()
        step = min(_STEP, 36.0 / len(arcs))
        for k, (_, dependent) in enumerate(arcs):
            feet[dependent, token] = centres[token - 1] + step * (k - (len(arcs) - 1) / 2)
    return feet
