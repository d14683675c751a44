"""Pictures of two trees: what is drawn, and that nothing lies on anything else."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from generators import random_tree, zigzag
from spacy_mindroot.tools.drawing.arcs import draw_trees


def parts(drawing, kind):
    return [e for e in ElementTree.fromstring(drawing.to_svg()).iter() if e.get("class", "").split()[:1] == [kind]]


def segments(path):
    """Start, height and end of an arc: M x,y V .. Q .. x,height H x .. ; None for an arrow from ROOT."""
    found = re.match(r"M([\d.-]+),[\d.-]+ V[\d.-]+ Q[\d.-]+,([\d.-]+) .* H[\d.-]+ Q([\d.-]+),", path)
    return None if found is None else tuple(map(float, found.groups()))


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_every_arc_is_drawn_once_on_each_side(n, rng):
    one, other = random_tree(n, rng), random_tree(n, rng)
    changed = (np.flatnonzero(one != other) + 1).tolist()
    labels = [f"l{i}" for i in range(n)]
    svg = draw_trees(["w"] * n, (one.tolist(), labels), (other.tolist(), labels), marked=changed)
    for side in ("above", "below"):
        arcs = [e for e in parts(svg, "arc") if side in e.get("class").split()]
        assert len(arcs) == n
        assert sum("marked" in arc.get("class") for arc in arcs) == len(changed)
    assert sorted(e.text for e in parts(svg, "label")) == sorted(2 * labels)
    assert len(parts(svg, "word")) == n
    words = ["ROOT", *["w"] * n]
    expected = [f"{words[head]} → w: l{i}" for tree in (one, other) for i, head in enumerate(tree.tolist())]
    assert sorted(e.text for e in parts(svg, "more")) == sorted(2 * expected)  # of the line and of its label


@pytest.mark.parametrize("heads", [zigzag(20), *(random_tree(25, np.random.default_rng(k)) for k in range(10))])
def test_no_two_arcs_lie_on_each_other(heads):
    """Two arcs at the same height do not overlap, and no two lines stand at the same place."""
    tree = (heads.tolist(), ["l"] * len(heads))
    drawing = draw_trees(["word"] * len(heads), tree, tree, vertical=False)
    arcs = [e for e in parts(drawing, "arc") if "above" in e.get("class")]
    drawn = [found for arc in arcs if (found := segments(arc.get("d"))) is not None]
    assert len(drawn) == len(heads) - 1
    for i, (start, height, end) in enumerate(drawn):
        for other_start, other_height, other_end in drawn[:i]:
            if height == other_height:
                assert max(start, end) <= min(other_start, other_end) or max(other_start, other_end) <= min(start, end)
    feet = [x for start, _, end in drawn for x in (start, end)]
    assert len(set(feet)) == len(feet)


def test_long_sentences_and_wide_characters_are_drawn():
    heads = [0, *range(1, 300)]
    for vertical in (True, False):
        ElementTree.fromstring(draw_trees(["語"] * 300, *[(heads, ["<x>"] * 300)] * 2, vertical=vertical).to_svg())
    widths = [draw_trees([word], *[([0], ["root"])] * 2).width for word in ("aaaaaa", "語語語語語語")]
    assert widths[1] > widths[0]
