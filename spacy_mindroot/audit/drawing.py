"""Two trees of one sentence as a picture (SVG): one above the words, the other below, with what differs in colour."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

_CHARACTER, _WIDE, _GAP = 8.0, 15.0, 18.0  # widths of a narrow and a wide character at 14 px, and between words
_LEVEL, _STEP = 24.0, 7.0  # between the heights of arcs, and between arcs that meet at a token
_ROOM = 30.0  # for arrows from ROOT, beyond the highest arc
_WORDS = 28.0  # height of the line of words


class DrawnTree(NamedTuple):
    """A tree to draw.

    heads (Sequence[int]): 0 = ROOT; several tokens may be roots.
    labels (Sequence[str]): Of each token.
    """

    heads: Sequence[int]
    labels: Sequence[str]


def draw_trees(words: Sequence[str], above: DrawnTree, below: DrawnTree, *, marked: Collection[int] = ()) -> str:
    """An `<svg>` element for HTML. Arcs run from head to dependent, those from ROOT straight from outside.

    Its classes, for a style sheet: `arc` and `label`, with `above` or `below`, and `marked` or not; `word`, `marked` or not.

    words (Sequence[str]): The tokens.
    marked (Collection[int]): Tokens (from 1) whose arcs are marked.
    """
    widths = [max(_text_width(word), 24.0) + _GAP for word in words]
    # Room between neighbours for the label of the arc that joins them.
    for tree in (above, below):
        for token, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
            if head and abs(token - head) == 1:
                need = _text_width(label) * 0.85 + 22 - (widths[token - 1] + widths[head - 1]) / 2
                widths[token - 1] += max(0.0, need)
                widths[head - 1] += max(0.0, need)
    centres, right = [], 0.0
    for width in widths:
        centres.append(right + width / 2)
        right += width
    levels = [_levels(tree.heads) for tree in (above, below)]
    heights = [_LEVEL * max(of_tree.values(), default=0) + _ROOM for of_tree in levels]
    middle = heights[0]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="trees" width="{right:.0f}" height="{sum(heights) + _WORDS:.0f}">'
    ]
    sides = [("above", above, levels[0], middle, -1.0), ("below", below, levels[1], middle + _WORDS, 1.0)]
    for side, tree, of_tree, base, sign in sides:
        feet = _feet(tree.heads, centres)
        arcs = []
        for token, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
            mark = " marked" if token in marked else ""
            top = base + sign * (_LEVEL * of_tree[token] if head else heights[0 if sign < 0 else 1] - 4)
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
            tip = (
                f"M{foot - 4:.1f},{base + sign * 7:.1f} L{foot:.1f},{base:.1f} L{foot + 4:.1f},{base + sign * 7:.1f} Z"
            )
            arcs.append(
                (bool(mark), f'<path class="arc {side}{mark}" d="{line}"/><path class="tip {side}{mark}" d="{tip}"/>')
            )
            arcs.append(
                (bool(mark), f'<text class="label {side}{mark}" x="{x:.1f}" y="{y + 4:.1f}">{escape(label)}</text>')
            )
        parts += [arc for _, arc in sorted(arcs, key=lambda pair: pair[0])]  # marked ones over the others
    for token, (word, x) in enumerate(zip(words, centres, strict=True), 1):
        mark = " marked" if token in marked else ""
        parts.append(f'<text class="word{mark}" x="{x:.1f}" y="{middle + _WORDS / 2 + 5:.1f}">{escape(word)}</text>')
    return "".join([*parts, "</svg>"])


def _text_width(text: str) -> float:
    return sum(_WIDE if unicodedata.east_asian_width(character) in "WF" else _CHARACTER for character in text)


def _levels(heads: Sequence[int]) -> dict[int, int]:
    """How high the arc to each token is drawn: over all shorter ones that it overlaps, so that no two lie on each other."""
    spans = sorted((abs(token - head), min(token, head), token) for token, head in enumerate(heads, 1) if head)
    highest = [0] * (len(heads) + 2)  # over each gap between token k and k+1
    levels = {}
    for length, low, token in spans:
        level = 1 + max(highest[low : low + length])
        highest[low : low + length] = [level] * length
        levels[token] = level
    return levels


def _feet(heads: Sequence[int], centres: Sequence[float]) -> dict[tuple[int, int], float]:
    """Where the arc to a token stands, at either end: by (dependent, dependent or head).

    Around the middle of a token, the shortest arcs outermost, so that they don't cross the longer ones.
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
        # From the left: short arcs to the left, long ones, the arrow from ROOT, long arcs to the right, short ones.
        arcs.sort()
        step = min(_STEP, 36.0 / len(arcs))
        for k, (_, dependent) in enumerate(arcs):
            feet[dependent, token] = centres[token - 1] + step * (k - (len(arcs) - 1) / 2)
    return feet
