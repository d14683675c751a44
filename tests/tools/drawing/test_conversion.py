"""Pictures as PDF and PNG."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

from spacy_mindroot.errors import MissingPackageError
from spacy_mindroot.tools.drawing.conversion import convert

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20" fill="#2577bd"/></svg>'
)


def test_formats():
    pytest.importorskip("cairosvg", reason="CairoSVG is not installed", exc_type=(ImportError, OSError))
    assert convert(SVG, ".pdf").startswith(b"%PDF")
    image = Image.open(io.BytesIO(convert(SVG, ".png"))).convert("RGB")
    assert image.size == (60, 40)  # sharp on screens with small pixels
    assert (np.asarray(image) == [0x25, 0x77, 0xBD]).all()


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'spacy-mindroot\[pictures\]'"):
        convert(SVG, ".png")
