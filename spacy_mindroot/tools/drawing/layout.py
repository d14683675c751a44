"""Computes where words and arcs of a picture go, in pixels. Text is measured without a browser, from its characters."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence

__all__ = ["Ends", "is_right_to_left", "levels_of", "place_feet", "place_words", "text_width"]

Ends = tuple[int, int]  # the two tokens that an arc connects: (head, dependent), from 1; head 0 is ROOT

_GAP = 20.0  # between two words
_FOOT = 7.0  # between the feet of arcs at one token
_LABEL = 12.5  # font size of a label, with something to spare
# Widths of characters at 14 px: those of common sans-serif fonts, rounded up.
_WIDTHS = dict.fromkeys("iljftI.,:;!'|()[]", 4.6) | dict.fromkeys('rs-"*/\\ ', 6.2) | dict.fromkeys("mwMW@%—…", 12.6)
_USUAL, _CAPITAL, _WIDE = 8.2, 9.8, 15.0


def text_width(text: str, size: float = 14.0) -> float:
    """Return an estimate of the width of a text. Marks that combine with the character before them have none."""
    return sum(map(_character_width, text)) * size / 14.0


def _character_width(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    category = unicodedata.category(character)
    return 0.0 if category in ("Mn", "Me", "Cf") else _CAPITAL if category == "Lu" else _USUAL


def is_right_to_left(words: Sequence[str]) -> bool:
    """Whether more letters of the words belong to a script that is written from right to left than to others."""
    letters = [unicodedata.bidirectional(character) for word in words for character in word if character.isalpha()]
    return sum(kind in ("R", "AL") for kind in letters) > len(letters) / 2


def place_words(widths: Sequence[float], arcs: Sequence[Ends], labels: Sequence[str]) -> tuple[list[float], float]:
    """Return the x of the middle of each word and the width of all, with room for labels between neighbours."""
    room = [width + _GAP for width in widths]
    for (head, dependent), label in zip(arcs, labels, strict=True):
        if head and abs(dependent - head) == 1:
            need = text_width(label, _LABEL) + 26.0 - (room[dependent - 1] + room[head - 1]) / 2
            room[dependent - 1] += max(0.0, need)
            room[head - 1] += max(0.0, need)
    for (head, dependent), label in zip(arcs, labels, strict=True):
        if not head and dependent in (1, len(room)):  # so that the label of the root does not leave the picture
            room[dependent - 1] = max(room[dependent - 1], text_width(label, _LABEL) + 6.0)
    centres, right = [], 0.0
    for width in room:
        centres.append(right + width / 2)
        right += width
    return centres, right


def levels_of(arcs: Sequence[Ends]) -> list[int]:
    """Return the height of each arc, in levels from 1: above all shorter ones that it overlaps. From ROOT, it is 0."""
    spans = sorted((abs(d - h), min(d, h), k) for k, (h, d) in enumerate(arcs) if h)
    highest = [0] * (max((max(arc) for arc in arcs), default=0) + 2)  # above the gap between token k and k+1
    levels = [0] * len(arcs)
    for length, low, k in spans:
        level = 1 + max(highest[low : low + length])
        highest[low : low + length] = [level] * length
        levels[k] = level
    return levels


def place_feet(
    arcs: Sequence[Ends], levels: Sequence[int], centres: Sequence[float], room: float = 36.0
) -> list[tuple[float, float]]:
    """Return the x of both ends of each arc: at its head and at its dependent, where it has the arrow.

    The ends lie around the middle of a token, those of the shortest arcs outermost, so that arcs don't cross at their
    feet. An arc from ROOT comes straight from outside: both ends are at the dependent.

    levels (Sequence[int]): See `levels_of`. Of two arcs between the same tokens, the lower one is the outermost.
    """
    ends: dict[int, list[tuple[float, int, int, int]]] = defaultdict(list)
    for k, (head, dependent) in enumerate(arcs):
        if not head:
            ends[dependent].append((0.0, 0, k, 1))
            continue
        for here, there, end in ((head, dependent, 0), (dependent, head, 1)):
            side = 1 if there > here else -1
            ends[here].append((1 / (there - here), -side * levels[k], k, end))
    feet = [[0.0, 0.0] for _ in arcs]
    for token, at in ends.items():
        # From left to right: short arcs to the left, long ones, the arrow from ROOT, long arcs to the right, short
        # ones.
        at.sort()
        step = min(_FOOT, room / len(at))
        for place, (_, _, k, end) in enumerate(at):
            feet[k][end] = centres[token - 1] + step * (place - (len(at) - 1) / 2)
    for k, (head, _) in enumerate(arcs):
        if not head:
            feet[k][0] = feet[k][1]
    return [(start, end) for start, end in feet]
