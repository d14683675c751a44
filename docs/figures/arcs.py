"""Draws words with arcs between them as SVG that takes its colours from the page it is in."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

SPACING = 92  # between two words
LEVEL = 34  # height of an arc for each word that it spans
# Chosen arcs are solid and thick, the others dashed or dotted, so that nothing depends on colour alone.
STYLES = {
    "chosen": ("var(--figure-chosen, #0072b2)", "2.5", ""),
    "rival": ("var(--figure-rival, #c04a00)", "2", "7 4"),
    "quiet": ("var(--figure-quiet, #6b7280)", "1.5", "2 4"),
}


class Drawn(NamedTuple):
    """An arc to draw, between two words by their place from 0."""

    head: int
    dependent: int
    text: str
    style: str = "chosen"


def draw(words: Sequence[str], arcs: Sequence[Drawn], *, title: str, boxed: tuple[int, int] | None = None) -> str:
    """Return an SVG of words with arcs from head to dependent.

    title: Describes the picture for those who don't see it.
    boxed: First and last word of a group that is drawn as one node; arcs to and from it start at its words.
    """
    pairs = {(arc.head, arc.dependent) for arc in arcs}
    levels = [_level(arc, pairs) for arc in arcs]
    base = 30 + max(levels, default=1) * LEVEL
    width, height = SPACING * len(words), base + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        f"<title>{escape(title)}</title>",
    ]
    if boxed is not None:
        left, right = _x(boxed[0]) - 34, _x(boxed[1]) + 34
        parts.append(
            f'<rect x="{left}" y="{base + 2}" width="{right - left}" height="28" rx="8" fill="none" '
            f'stroke="{STYLES["quiet"][0]}" stroke-width="1.5"/>'
        )
    for arc, level in zip(arcs, levels, strict=True):
        parts += _arc(arc, base, base - level * LEVEL)
    for place, word in enumerate(words):
        weight = ' font-weight="600"' if place == 0 else ""
        parts.append(
            f'<text x="{_x(place)}" y="{base + 21}" text-anchor="middle" font-size="16"{weight} '
            f'fill="var(--figure-text, #7d8590)">{escape(word)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _x(place: int) -> int:
    return SPACING // 2 + SPACING * place


def _level(arc: Drawn, pairs: set[tuple[int, int]]) -> float:
    back = arc.head > arc.dependent and (arc.dependent, arc.head) in pairs  # of two opposite arcs, one is drawn higher
    return abs(arc.head - arc.dependent) + 0.8 * back


def _arc(arc: Drawn, base: int, top: float) -> list[str]:
    colour, thickness, dashes = STYLES[arc.style]
    towards = 1 if arc.dependent > arc.head else -1
    start, end = _x(arc.head) + 16 * towards, _x(arc.dependent) - 6 * towards
    bend = min(26, abs(end - start) / 2)
    path = (
        f"M {start} {base} C {start} {top + 8}, {start + 6 * towards} {top}, {start + bend * towards:g} {top:g} "
        f"L {end - bend * towards:g} {top:g} C {end - 6 * towards} {top:g}, {end} {top + 8:g}, {end} {base - 8}"
    )
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    middle = (start + end) / 2
    return [
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{thickness}"{dash}/>',
        f'<path d="M {end - 5} {base - 10} L {end + 5} {base - 10} L {end} {base - 1} Z" fill="{colour}"/>',
        f'<text x="{middle:g}" y="{top - 5:g}" text-anchor="middle" font-size="14" fill="{colour}" '
        'stroke="var(--color-background-primary, transparent)" stroke-width="5" paint-order="stroke">'
        f"{escape(arc.text)}</text>",
    ]
