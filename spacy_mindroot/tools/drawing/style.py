"""The style of pictures: attributes of their elements, and colours for light and for dark pages. Fills in web pages.

Many programs read only part of CSS. So a picture has its colours, for a light page, in attributes of its elements; a
style sheet of a web page, which has precedence over attributes, replaces them where the page is dark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import jinja2
from markupsafe import Markup

from ...escapes import visible

__all__ = [
    "FLOORS",
    "TEMPLATES",
    "THEMES",
    "Theme",
    "attributes",
    "fill_template",
    "for_file",
    "look_of",
    "page_colours",
    "probability_class",
]

Theme = Literal["auto", "light", "dark"]
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")

TEMPLATES = Path(__file__).parent / "templates"

# An arc has the class p5 if its probability is at least the last of these, and so on down to p0.
FLOORS = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95)
# From doubtful to sure: red and orange to blue. Neighbours can be told apart with all kinds of colour vision; where the
# hue does not do it, one is darker. Each has a contrast of at least 4.5 to the card, so that the labels can be read.
_LIGHT = {
    "card": "#ffffff", "page": "#f4f6f8", "edge": "#d5dbe1", "ink": "#1a1f26", "soft": "#5b6570", "plain": "#6b7785",
    "p0": "#8e0038", "p1": "#bf5300", "p2": "#5c4700", "p3": "#0b7f74", "p4": "#2577bd", "p5": "#083d91",
}  # fmt: skip
_DARK = {
    "card": "#161b22", "page": "#0d1117", "edge": "#30363d", "ink": "#e8edf2", "soft": "#9aa5b1", "plain": "#8b97a5",
    "p0": "#ff5f8f", "p1": "#ff9340", "p2": "#ffe680", "p3": "#7fc98f", "p4": "#a9d6ff", "p5": "#4b96ff",
}  # fmt: skip
_WIDTHS = (1.3, 1.5, 1.8, 2.1, 2.5, 2.9)  # of lines from p0 to p5: the surer, the thicker

# The attributes of elements that have all of these classes. Later ones have precedence. Colours are names of _LIGHT.
_LOOKS: list[tuple[str, Mapping[str, object]]] = [
    ("card", {"fill": "card", "stroke": "edge"}),
    ("halo", {"fill": "card"}),
    ("box", {"fill": "none", "stroke": "plain", "stroke-width": 1.5}),
    ("bracket", {"fill": "none", "stroke": "plain", "stroke-width": 1.0}),
    ("word", {"fill": "ink"}),
    ("label", {"fill": "soft", "font-size": 11.5}),
    ("tag", {"fill": "soft", "font-size": 10}),
    ("key", {"fill": "soft", "font-size": 11}),
    ("caption", {"fill": "ink", "font-weight": 600}),
    ("more", {"display": "none", "fill": "ink", "font-size": 12}),  # but page.css shows it
    ("arc", {"fill": "none", "stroke": "plain", "stroke-width": 1.8}),
    ("tip", {"fill": "plain"}),
    ("hit", {"fill": "none", "stroke": "none", "stroke-width": 13, "pointer-events": "stroke"}),
    ("next arc", {"stroke": "soft", "stroke-width": 1.4, "stroke-dasharray": "5 4"}),
    ("next tip", {"fill": "soft"}),
    ("next label", {"font-style": "italic"}),
    ("gold arc", {"stroke": "ink", "stroke-width": 2, "stroke-dasharray": "1.5 3.5", "stroke-linecap": "round"}),
    ("gold tip", {"fill": "ink"}),
    *(
        look
        for k, width in enumerate(_WIDTHS)
        for look in (
            (f"p{k} arc", {"stroke": f"p{k}", "stroke-width": width}),
            (f"p{k} tip", {"fill": f"p{k}"}),
            (f"p{k} label", {"fill": f"p{k}", "font-weight": 600 if k < 4 else 400}),
        )
    ),
    ("marked word", {"font-weight": 700}),
    ("marked label", {"font-weight": 700}),
    ("marked arc", {"stroke-width": 2.8}),
    *(
        look
        for side, colour in (("above", "p0"), ("below", "p5"))
        for look in (
            (f"{side} marked arc", {"stroke": colour}),
            (f"{side} marked tip", {"fill": colour}),
            (f"{side} marked label", {"fill": colour}),
            (f"{side} caption", {"fill": colour}),
        )
    ),
]


@lru_cache(maxsize=4096)
def attributes(classes: str) -> str:
    """Return the attributes of an element, its classes included. See `look_of`."""
    return f'class="{classes}"' + "".join(f' {name}="{value}"' for name, value in look_of(classes).items())


def look_of(classes: str) -> dict[str, object]:
    """Return how an element looks, by the names of SVG, in the colours of a light page.

    classes (str): The classes, separated by spaces, the kind of element first. Their characters are safe in markup.
    """
    names = set(classes.split())
    found: dict[str, object] = {}
    for wanted, look in _LOOKS:
        if names.issuperset(wanted.split()):
            found.update(look)
    return {name: _LIGHT.get(str(value), value) for name, value in found.items()}


def for_file(svg: str, theme: Theme) -> str:
    """Return a picture that stands alone, in the colours of a theme. "auto" is light, since a file follows no page."""
    svg = re.sub('<text class="more".*?</text>', "", svg)
    if theme != "dark":
        return svg
    dark = {colour: _DARK[name] for name, colour in _LIGHT.items()}
    return re.sub(r'((?:fill|stroke)=")(#\w{6})"', lambda found: f'{found[1]}{dark[found[2]]}"', svg)


def page_colours(theme: Theme = "auto") -> str:
    """Return the style sheet that gives the pictures and the text of a page, in `.mindroot`, the colours of a theme.

    theme (Theme): With "auto", a page is as light or dark as the system is, unless it says otherwise in an attribute or
        class, as sites and notebooks do.
    """
    light, dark = ("".join(f"--mr-{name}:{value};" for name, value in of.items()) for of in (_LIGHT, _DARK))
    rules = [f".mindroot{{color-scheme:light dark;{light}}}"]
    if theme == "auto":
        rules += [
            f"@media (prefers-color-scheme:dark){{.mindroot{{{dark}}}}}",
            f'[data-theme="light"] .mindroot,[data-jp-theme-light="true"] .mindroot,.vscode-light .mindroot{{{light}}}',
            f'[data-theme="dark"] .mindroot,[data-jp-theme-light="false"] .mindroot,.vscode-dark .mindroot{{{dark}}}',
        ]
    else:
        rules = [f".mindroot{{color-scheme:{theme};{light if theme == 'light' else dark}}}"]
    for wanted, look in _LOOKS:
        coloured = "".join(f"{name}:var(--mr-{value});" for name, value in look.items() if value in _LIGHT)
        if coloured:
            rules.append(f".mindroot .{'.'.join(wanted.split())}{{{coloured}}}")
    return "\n".join(rules)


def probability_class(probability: float) -> str:
    """Return the class of an arc, "p0" to "p5"."""
    return f"p{sum(probability >= floor for floor in FLOORS) - 1}"


def fill_template(path: Path, *, theme: Theme = "auto", **values: Any) -> str:
    """Return a page, or a part of one. Text is escaped, and its control characters are spelled out.

    A template can extend and include those in `TEMPLATES`.
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
    return environment.get_template(path.name).render(theme=theme, page_colours=Markup(page_colours(theme)), **values)
