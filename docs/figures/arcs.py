"""Draws the figures of the page on the algorithm. They take their colours from the page that they are in."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from spacy_mindroot.drawing.arcs import Arc, Word, draw_arcs

# Chosen arcs are solid and thick, the others dashed, so that nothing depends on colour alone.
_STYLES = {
    "chosen": ("var(--figure-chosen, #0072b2)", "2.5", "none"),
    "rival": ("var(--figure-rival, #c04a00)", "2", "7 4"),
}
_STYLE = (
    ".figure-arcs text{font:15px system-ui,sans-serif;text-anchor:middle;fill:var(--figure-text,#7d8590)}"
    ".figure-arcs .box{fill:none;stroke:var(--figure-quiet,#6b7280);stroke-width:1.5}"
    ".figure-arcs text.root{font-weight:600}"
    ".figure-arcs text.label{font-size:14px;paint-order:stroke;stroke:var(--color-background-primary,Canvas);"
    "stroke-width:7px}"
) + "".join(
    f".figure-arcs .{name}.arc{{fill:none;stroke:{colour};stroke-width:{width};stroke-dasharray:{dashes}}}"
    f".figure-arcs .{name}.tip,.figure-arcs text.{name}.label{{fill:{colour}}}"
    for name, (colour, width, dashes) in _STYLES.items()
)


class Drawn(NamedTuple):
    """An arc to draw, between two words by their place from 0."""

    head: int
    dependent: int
    text: str
    style: str = "chosen"


def draw(words: Sequence[str], arcs: Sequence[Drawn], *, title: str, boxed: tuple[int, int] | None = None) -> str:
    """Return an SVG of words with arcs from head to dependent. The first word is ROOT.

    title: Describes the picture for those who don't see it.
    boxed: First and last word of a group that is drawn as one node; arcs to and from it start at its words.
    """
    svg = draw_arcs(
        [Word(f"{word}", "root" if place == 0 else "") for place, word in enumerate(words)],
        [Arc(arc.head + 1, arc.dependent + 1, arc.text, arc.style) for arc in arcs],
        classes="figure-arcs",
        description=title,
        boxed=None if boxed is None else (boxed[0] + 1, boxed[1] + 1),
        least=70.0,
    )
    opening, _, rest = svg.partition(">")
    return f"{opening}>\n<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n{rest}\n"
