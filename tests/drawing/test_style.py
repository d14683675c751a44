"""Colours: enough contrast in both themes, and a class for every probability."""

from itertools import pairwise

import pytest

from spacy_mindroot.drawing import style


@pytest.mark.parametrize(
    ("probability", "expected"), [(0.0, "p0"), (0.3, "p1"), (0.49, "p1"), (0.7, "p3"), (0.95, "p5"), (1.0, "p5")]
)
def test_classes(probability, expected):
    assert style.probability_class(probability) == expected


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colours", [style._LIGHT, style._DARK])
@pytest.mark.parametrize("name", ["ink", "soft", "plain", *(f"p{k}" for k in range(6))])
def test_text_and_arcs_can_be_read_on_the_card(colours, name):
    dark, light = sorted(luminance(colours[each]) for each in (name, "card"))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_surer_arcs_are_thicker():
    assert all(one < other for one, other in pairwise(style._WIDTHS))


def test_the_key_names_what_is_drawn():
    short, width = style.draw_key(next_best=False)
    long, wider = style.draw_key(next_best=True, gold=True)
    assert "next best head" not in short and "next best head" in long and "head in the file" in long
    assert wider > width and all(f'"arc p{k}"' in short for k in range(6))
