"""The `<svg>` element: every arc and word, with text that can't be markup."""

from xml.etree import ElementTree

from spacy_mindroot.drawing.arcs import Arc, Word, draw_arcs

SVG = "{http://www.w3.org/2000/svg}"


def elements(svg, kind):
    return [e for e in ElementTree.fromstring(svg).iter() if kind in e.get("class", "").split()]


def test_arcs_words_and_titles():
    svg = draw_arcs(
        [Word("<b>", "marked", "a & b", "NOUN"), Word("x")],
        [Arc(0, 1, "root", "sure"), Arc(1, 2, "<i>", "p1", "1 < 2")],
        [Arc(1, 2, "25%", "next")],
        description='say "no"',
    )
    assert [e.text for e in elements(svg, "word")] == [None, "x"]
    assert next(iter(elements(svg, "word"))).find(f"{SVG}title").tail == "<b>"
    assert [e.get("class") for e in elements(svg, "arc")] == ["arc above sure", "arc above p1", "arc below next"]
    assert len(elements(svg, "tip")) == 3 and len(elements(svg, "hit")) == 1
    assert {e.text for e in ElementTree.fromstring(svg).iter(f"{SVG}title")} == {"a & b", "1 < 2"}
    assert ElementTree.fromstring(svg).get("aria-label") == 'say "no"'
    assert [e.get("class") for e in elements(svg, "tag")] == ["tag marked"]


def test_from_right_to_left_is_the_mirror_image():
    words, arcs = [Word("one"), Word("three"), Word("fifty")], [Arc(0, 1), Arc(1, 2), Arc(1, 3)]
    one, other = (draw_arcs(words, arcs, right_to_left=mirrored) for mirrored in (False, True))
    width = float(ElementTree.fromstring(one).get("width")) - 6
    for here, there in zip(elements(one, "word"), elements(other, "word"), strict=True):
        assert abs(float(here.get("x")) + float(there.get("x")) - width) < 1
    start, mirrored = (elements(svg, "arc")[2].get("d").split(",")[0] for svg in (one, other))
    assert abs(float(start[1:]) + float(mirrored[1:]) - width) < 1


def test_control_characters_are_spelled_out():
    svg = draw_arcs([Word("\u202eevil\x00")], [Arc(0, 1, "\u2066")], description="\u202e")
    assert "\u202e" not in svg and "\x00" not in svg and "\u2066" not in svg
    assert elements(svg, "word")[0].text == "\\u202eevil\\u0000"


def test_no_room_is_left_for_arrows_from_root_where_there_are_none():
    words = [Word("a"), Word("b")]
    heights = [
        float(ElementTree.fromstring(draw_arcs(words, [Arc(0, 1)], below)).get("height"))
        for below in ([], [Arc(1, 2)], [Arc(0, 2), Arc(1, 2)])
    ]
    assert heights == sorted(heights) and len(set(heights)) == 3


def test_a_frame_and_wider_words():
    svg = draw_arcs([Word("a"), Word("b"), Word("c")], [], boxed=(2, 3), least=90.0)
    (box,) = elements(svg, "box")
    assert float(box.get("width")) > 110
