"""Draws the worked example of docs/rules.md: its best tree without rules, with two subjects, and the best valid one.

Usage: python -m scripts.rules_picture [OUT.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from spacy_mindroot import decode_labelled

from .demo_picture import picture

OUT = Path(__file__).parents[1] / "docs" / "rules.svg"
WORDS = ["mice", "cats", "chase"]
LABELS = ["root", "nsubj", "obj"]
ARCS = np.array([[1, 0, 2, 9], [1, 3, 0, 9], [9, 1, 1, 0]])  # dependent, head


def label_scores() -> np.ndarray:
    """Return the label scores of the example, (dependents, heads, labels)."""
    scores = np.full((3, 4, 3), -9.0)
    scores[:, 0, 0] = 0
    scores[0, 1:, 1:] = [-1, -2]
    scores[1, 1:, 1:] = [-0.5, -3]
    scores[2, 1:, 1:] = [-5, -5]
    return scores


def draw() -> str:
    """Return the picture as an SVG document."""
    trees = [decode_labelled(ARCS, label_scores(), LABELS, rules={"unique": unique}) for unique in ([], ["nsubj"])]
    captions = (
        f"Without rules: two subjects, weight {trees[0].weight:g}",
        f"At most one subject: weight {trees[1].weight:g}",
    )
    above, below = ((tree.heads.tolist(), tree.labels) for tree in trees)
    return picture(WORDS, above, below, captions)


if __name__ == "__main__":
    (Path(sys.argv[1]) if len(sys.argv) > 1 else OUT).write_text(draw(), "utf8")
