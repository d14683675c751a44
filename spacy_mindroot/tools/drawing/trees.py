"""Draws two trees of one sentence: one above the words, the other below, with the arcs that differ marked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from .arcs import Arc, Word, draw_arcs
from .drawing import Drawing
from .layout import is_right_to_left

__all__ = ["DrawnTree", "draw_trees"]


class DrawnTree(NamedTuple):
    """A tree to draw.

    heads (Sequence[int]): 0 = ROOT. Several tokens may be roots.
    labels (Sequence[str]): The label of each token.
    """

    heads: Sequence[int]
    labels: Sequence[str]


def draw_trees(words: Sequence[str], above: DrawnTree, below: DrawnTree, *, marked: Collection[int] = ()) -> Drawing:
    """Return a drawing. Arcs run from head to dependent; those from ROOT come straight from outside.

    words (Sequence[str]): The tokens.
    marked (Collection[int]): Tokens, from 1, that are marked together with their arcs.
    """
    return draw_arcs(
        [Word(word, "marked" if token in marked else "") for token, word in enumerate(words, 1)],
        _arcs(above, marked),
        _arcs(below, marked),
        right_to_left=is_right_to_left(words),
    )


def _arcs(tree: DrawnTree, marked: Collection[int]) -> list[Arc]:
    """Return the arcs of a tree, marked ones last, so that they lie over the others."""
    arcs = [
        Arc(head, token, label, "marked" if token in marked else "")
        for token, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1)
    ]
    return sorted(arcs, key=lambda arc: bool(arc.classes))
