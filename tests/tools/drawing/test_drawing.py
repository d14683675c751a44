"""Files with pictures as other programs see them: pixels of what CairoSVG, librsvg and Inkscape draw."""

import io
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import spacy
from PIL import Image
from spacy.tokens import Doc

from spacy_mindroot import render
from spacy_mindroot.tools.drawing.drawing import Drawing, beside, on_card, write_line
from spacy_mindroot.tools.drawing.style import _DARK, _LIGHT

ROOT = Path(__file__).parents[3]
SHIPPED = sorted(
    path.relative_to(ROOT) for name in ("assets", "docs/figures", "docs") for path in (ROOT / name).glob("*.svg")
)


def with_cairo(svg):
    return pytest.importorskip("cairosvg").svg2png(svg)


def with_librsvg(svg):
    return run("rsvg-convert", "/dev/stdin", input=svg)


def with_inkscape(svg):
    return run("inkscape", "--pipe", "--export-type=png", "--export-filename=-", input=svg)


def run(program, *arguments, input):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return subprocess.run([program, *arguments], input=input, capture_output=True, check=True, timeout=120).stdout


def pixels(svg, draw):
    """The pixels on a magenta background, (height, width, 3)."""
    image = Image.open(io.BytesIO(draw(svg.encode()))).convert("RGBA")
    ground = Image.new("RGBA", image.size, "#ff00ff")
    return np.asarray(Image.alpha_composite(ground, image))[..., :3].astype(int)


def near(found, colour, tolerance=0):
    wanted = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return np.abs(found - wanted).max(axis=-1) <= tolerance


def share(found, colour, tolerance=0):
    return near(found, colour, tolerance).mean()


def has_fonts(draw):
    text = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="30"><text y="25" font-size="24">words</text></svg>'
    )
    return not near(pixels(text, draw), "#ff00ff").all()


@pytest.fixture(scope="module")
def parse():
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("mind_root", config={"keep_scores": True, "confidence": True})
    doc = Doc(nlp.vocab, words=["They", "left", "quite\ufffe", "early\uffff"], pos=["PRON", "VERB", "ADV", "ADV"])
    doc._.arc_scores = [np.log([[1e-9, 1e-9, 0.99, 1e-9, 1e-9], [0.99, 1e-9, 1e-9, 1e-9, 1e-9],
                                [1e-9, 1e-9, 0.4, 1e-9, 0.6], [1e-9, 0.1, 0.8, 0.1, 1e-9]])]  # fmt: skip
    return parser(doc)


@pytest.mark.parametrize("draw", [with_cairo, with_librsvg, with_inkscape])
@pytest.mark.parametrize(("theme", "vertical"), [("light", False), ("dark", False), ("auto", True)])
def test_a_parse_has_the_colours_that_it_should_have(parse, theme, vertical, draw):
    colours = _DARK if theme == "dark" else _LIGHT
    found = pixels(render(parse, form="svg", theme=theme, vertical=vertical), draw)
    assert share(found, colours["card"]) > 0.7 and share(found, "#000000") < 0.001
    assert share(found, "#ff00ff") < 0.01  # nothing but the corners of the card is left blank
    for colour in ("p5", "p2", "soft"):  # sure and doubtful arcs; dashed arcs
        assert share(found, colours[colour]) > 0.0001, colour
    if has_fonts(draw):
        lines = np.flatnonzero(near(found, colours["ink"], 40).any(axis=1))  # words
        assert len(lines) >= 8 and 0.2 < lines.mean() / len(found) < 0.8


@pytest.mark.parametrize("path", SHIPPED, ids=str)
def test_shipped_pictures_are_drawn(path):
    svg = (ROOT / path).read_text("utf8")
    assert "var(" not in svg and "<style" not in svg and "@media" not in svg
    found = pixels(svg, with_cairo)
    assert share(found, _LIGHT["card"]) > 0.6 and share(found, "#000000") < 0.001
    assert share(found, _LIGHT["p5"]) > 0.001


def test_there_are_shipped_pictures():
    assert {"assets/parse.svg", "docs/rules.svg", "docs/figures/tree.svg"} <= {path.as_posix() for path in SHIPPED}


def test_drawings_are_put_together():
    one, other = Drawing("<g id='one'/>", 30, 10), Drawing("<g id='other'/>", 50, 20)
    row = beside([one, other])
    assert (row.width, row.height) == (88, 20) and beside([]) == ("", 0, 0, "")
    card = on_card([one, row], "two")
    assert (card.width, card.height) == (88 + 32, 10 + 8 + 20 + 32) and 'aria-label="two"' in card.to_svg()
    assert "translate(45.0,16.0)\"><g id='one'/>" in card.content and on_card([]).height == 32
    assert write_line("key", "abc", 28).width == 2 * write_line("key", "abc", 14).width
