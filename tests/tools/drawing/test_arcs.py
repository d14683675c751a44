"""The drawing: every arc and word, with text that can't be markup."""

import re
from xml.etree import ElementTree

import pytest

from spacy_mindroot.tools.drawing.arcs import Arc, Word, draw_arcs

SVG = "{http://www.w3.org/2000/svg}"


def elements(drawing, kind):
    return [e for e in ElementTree.fromstring(drawing.to_svg()).iter() if kind in e.get("class", "").split()]


def test_arcs_words_and_titles():
    svg = draw_arcs(
        [Word("<b>", "marked", "a & b", "NOUN"), Word("x")],
        [Arc(0, 1, "root", "sure"), Arc(1, 2, "<i>", "p1", "1 < 2")],
        [Arc(1, 2, "25%", "next")],
        description='say "no"',
    )
    assert [e.text for e in elements(svg, "word")] == ["<b>", "x"]
    assert [e.get("class") for e in elements(svg, "arc")] == ["arc above sure", "arc above p1", "arc below next"]
    assert len(elements(svg, "tip")) == 3 and len(elements(svg, "hit")) == 1
    root = ElementTree.fromstring(svg.to_svg())
    titled = {group.find(f"{SVG}title").text: [e.get("class") for e in group][1:] for group in root.iter(f"{SVG}g")}
    assert titled == {"a & b": ["tag marked", "more"], "1 < 2": ["label above p1", "more"]}
    assert {e.text for e in elements(svg, "more")} == {"a & b", "1 < 2"}
    assert root.get("aria-label") == 'say "no"'
    assert [e.get("class") for e in elements(svg, "tag")] == ["tag marked"]


@pytest.mark.parametrize("vertical", [True, False])
def test_hints_are_where_nothing_else_is(vertical):
    """Below the picture, or to its right, on the line of the word."""
    title = "a text that is longer than the picture is wide, and has two\nlines"
    svg = draw_arcs([Word("a", title=title), Word("b", title="b")], [Arc(2, 1, "x", title="c")], vertical=vertical)
    for hint in elements(svg, "more"):
        x, y = float(hint.get("x")), float(hint.get("y"))
        assert (x > svg.width) if vertical else (svg.height < y < svg.height + 16), hint.text
    lines = {hint.text: float(hint.get("y")) for hint in elements(svg, "more")}
    assert set(lines) == {title.replace("\n", "  "), "b", "c"} and (lines["b"] > lines["c"]) is vertical


def test_a_vertical_drawing_has_a_line_for_each_word():
    words = [Word("They", tag="PRON"), Word("left"), Word("early")]
    below = [Arc(1, 3, "25%", "next"), Arc(2, 3, "obj", "gold")]
    svg = draw_arcs(words, [Arc(2, 1, "nsubj"), Arc(0, 2, "root"), Arc(2, 3, "advmod")], below, vertical=True)
    wide = draw_arcs([Word("word")] * 40, [])
    assert wide.height > wide.width and draw_arcs([Word("word")] * 40, [], vertical=False).width > 1180
    rows = [float(word.get("y")) for word in elements(svg, "word")]
    assert rows == sorted(rows) and len({word.get("x") for word in elements(svg, "word")}) == 1
    found = {e.text: (float(e.get("x")), float(e.get("y"))) for e in elements(svg, "label")}
    (left,) = {x for text, (x, _) in found.items() if text in ("nsubj", "root", "advmod")}
    assert [found[text][1] for text in ("nsubj", "root", "advmod")] == rows
    assert left < float(elements(svg, "word")[0].get("x")) < found["25%"][0] < found["obj"][0] < svg.width
    for arc, tip in zip(elements(svg, "arc"), elements(svg, "tip"), strict=True):
        points = [tuple(map(float, point.split(","))) for point in re.findall(r"[-\d.]+,[-\d.]+", tip.get("d"))]
        sign = -1 if "above" in arc.get("class") else 1  # the point of the arrow is at the words
        assert (points[0][0] - points[1][0]) * sign == 8 and points[0][0] == points[2][0]
        assert min(abs(points[1][1] - row + 5) for row in rows) < 11
        assert all(0 <= float(x) <= svg.width for x in re.findall(r"H([-\d.]+)", arc.get("d")))


def test_from_right_to_left_is_the_mirror_image():
    words, arcs = [Word("one"), Word("three"), Word("fifty")], [Arc(0, 1), Arc(1, 2), Arc(1, 3)]
    one, other = (draw_arcs(words, arcs, right_to_left=mirrored) for mirrored in (False, True))
    width = one.width
    for here, there in zip(elements(one, "word"), elements(other, "word"), strict=True):
        assert abs(float(here.get("x")) + float(there.get("x")) - width) < 1
    start, mirrored = (elements(svg, "arc")[2].get("d").split(",")[0] for svg in (one, other))
    assert abs(float(start[1:]) + float(mirrored[1:]) - width) < 1


def test_control_characters_are_spelled_out():
    svg = draw_arcs([Word("\u202eevil\x00")], [Arc(0, 1, "\u2066")], description="\u202e")
    assert not {"\u202e", "\x00", "\u2066"} & set(svg.to_svg())
    assert elements(svg, "word")[0].text == "\\u202eevil\\u0000"


def test_no_room_is_left_for_arrows_from_root_where_there_are_none():
    words = [Word("a"), Word("b")]
    heights = [draw_arcs(words, [Arc(0, 1)], below).height for below in ([], [Arc(1, 2)], [Arc(0, 2), Arc(1, 2)])]
    assert heights == sorted(heights) and len(set(heights)) == 3


def test_a_frame_and_wider_words():
    svg = draw_arcs([Word("a"), Word("b"), Word("c")], [], boxed=(2, 3), least=90.0)
    (box,) = elements(svg, "box")
    assert float(box.get("width")) > 110


def test_an_arrow_from_root_begins_at_its_label():
    for side in ((-1, [Arc(0, 1, "root")], []), (1, [], [Arc(0, 1, "root")])):
        outwards, *arcs = side
        drawing = draw_arcs([Word("a")], *arcs)
        ((line,), (label,), (halo,)) = (elements(drawing, kind) for kind in ("arc", "label", "halo"))
        start = float(line.get("d").split(",")[1].split()[0])
        top = float(halo.get("y"))
        assert (start - float(label.get("y"))) * outwards < 0 and not top < start < top + float(halo.get("height"))


def test_titles_have_several_lines():
    svg = draw_arcs([Word("a", title="1\n2\x00\n<3>")], []).to_svg()
    assert "<title>1\n2\\u0000\n&lt;3&gt;</title>" in svg
