"""Fills in the templates of web pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from ...escapes import visible
from .style import page_colours

__all__ = ["TEMPLATES", "fill_template"]

TEMPLATES = Path(__file__).parent / "templates"


def fill_template(path: Path, **values: Any) -> str:
    """Return a page, or a part of one. Text is escaped, and its control characters are spelled out.

    path (Path): A template, in `TEMPLATES` or in another folder. It can extend and include those in `TEMPLATES`.
    **values (Any): Its variables.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([path.parent, TEMPLATES]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    return environment.get_template(path.name).render(page_colours=Markup(page_colours()), **values)
