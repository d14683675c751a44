"""Pictures in formats other than SVG."""

from __future__ import annotations

from ...errors import MissingPackageError

__all__ = ["convert"]

_SCALE = 2.0  # pixels of a PNG file for each pixel of the picture


def convert(svg: str, kind: str) -> bytes:
    """Return a picture as ".pdf" or ".png".

    RAISES (MissingPackageError): If CairoSVG, or the library cairo, is not installed.
    """
    try:
        import cairosvg
    except (ImportError, OSError) as error:  # OSError: cairo is missing
        raise MissingPackageError(
            f"Pictures in PDF or PNG need CairoSVG ({error}): pip install 'spacy-mindroot[pictures]'. It needs the "
            "library cairo. Or write an SVG file, which librsvg and Inkscape convert."
        ) from error
    if kind == ".pdf":
        return bytes(cairosvg.svg2pdf(svg.encode()))
    return bytes(cairosvg.svg2png(svg.encode(), scale=_SCALE))
