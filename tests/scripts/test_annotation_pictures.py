"""The pictures of the page `annotate` are made by a run, and the tutorials show them."""

import shutil

import pytest

pytest.importorskip("playwright", reason="needs playwright")
pytest.importorskip("uvicorn", reason="needs the extra annotate")

from benchmarks.annotation import CHROMIUM
from scripts.annotation_pictures import make_all


@pytest.mark.skipif(not any(map(shutil.which, CHROMIUM)), reason="needs Chromium: apt-get install chromium")
def test_all_pictures_are_made(tmp_path, checkout):
    """Without a parser, whose training takes longer than the rest."""
    for made in make_all(tmp_path, lambda page: None):
        assert made.read_bytes().startswith(b"\x89PNG")
        assert (checkout / "docs" / made.name).exists()


def test_the_pictures_are_small_and_on_a_page(checkout):
    pages = "".join(path.read_text("utf8") for path in (checkout / "docs" / "tutorials").glob("*.md"))
    for picture in (checkout / "docs").glob("annotate*.png"):
        assert picture.stat().st_size < 150_000
        assert f"(../{picture.name})" in pages
