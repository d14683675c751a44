"""Draws the figures of the page on the algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spacy_mindroot.tools.drawing.arcs import Arc, Word, draw_arcs
from spacy_mindroot.tools.drawing.drawing import on_card

# Chosen arcs are solid and thick, the others dashed, so that nothing depends on colour alone.
_CLASSES = {"chosen": "p5", "rival": "next p1"}


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
    drawing = draw_arcs(
        [Word(word, "marked" if place == 0 else "") for place, word in enumerate(words)],
        [Arc(arc.head + 1, arc.dependent + 1, arc.text, _CLASSES[arc.style]) for arc in arcs],
        boxed=None if boxed is None else (boxed[0] + 1, boxed[1] + 1),
        least=70.0,
    )
    return on_card([drawing], description=title).to_svg() + "\n"
