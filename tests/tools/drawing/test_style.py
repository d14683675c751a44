"""Colours: enough contrast in both themes, neighbours that differ, and a class for every probability."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from spacy_mindroot.tools.drawing import style

# Linear RGB as people see it who lack one kind of cones (Machado, Oliveira and Fernandes 2009).
VISION = {
    "all": np.eye(3),
    "no green": [[0.3673, 0.8607, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "no red": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


@pytest.mark.parametrize(
    ("probability", "expected"), [(0.0, "p0"), (0.3, "p1"), (0.49, "p1"), (0.7, "p3"), (0.95, "p5"), (1.0, "p5")]
)
def test_classes(probability, expected):
    assert style.probability_class(probability) == expected


def linear(colour):
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour, vision):
    """A colour in CIELAB, whose distances are those that people see."""
    x, y, z = np.cbrt(TO_XYZ @ np.clip(VISION[vision] @ linear(colour), 0.01, 1) / TO_XYZ.sum(axis=1))
    return np.array([116 * y, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("colours", [style._LIGHT, style._DARK])
@pytest.mark.parametrize("name", ["ink", "soft", "plain", *(f"p{k}" for k in range(6))])
def test_text_and_arcs_can_be_read_on_the_card(colours, name):
    dark, light = sorted(TO_XYZ[1] @ linear(colours[each]) for each in (name, "card"))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("colours", [style._LIGHT, style._DARK])
@pytest.mark.parametrize(("vision", "least"), [("all", 25), ("no green", 15), ("no red", 15)])
def test_neighbours_can_be_told_apart(colours, vision, least):
    for one, other in pairwise(lab(colours[f"p{k}"], vision) for k in range(6)):
        assert np.linalg.norm(one - other) >= least


def test_surer_arcs_are_thicker():
    assert all(one < other for one, other in pairwise(style._WIDTHS))


def test_attributes_have_literal_colours_and_the_page_replaces_each_of_them():
    element = ElementTree.fromstring(f"<path {style.attributes('arc above p2')}/>")
    assert element.attrib == {
        "class": "arc above p2", "fill": "none", "stroke": style._LIGHT["p2"], "stroke-width": "1.8"
    }  # fmt: skip
    assert 'fill="#' in style.attributes("label below next") and "var(" not in style.attributes("word")
    sheet = style.page_colours()
    for wanted, look in style._LOOKS:
        for name, value in look.items():
            if value in style._LIGHT:
                rule = next(
                    line for line in sheet.splitlines() if line.startswith(f".mindroot .{'.'.join(wanted.split())}{{")
                )
                assert f"{name}:var(--mr-{value})" in rule
    assert style._LIGHT.keys() == style._DARK.keys()
