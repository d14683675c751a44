"""Parses as LaTeX, for the package tikz-dependency."""

from __future__ import annotations

from collections.abc import Sequence

from ...accuracy import to_latex
from .arcs import Arc, Word
from .layout import levels_of
from .style import look_of

__all__ = ["to_tikz"]

_LEVEL = 3  # height of a level of arcs in ex, which tikz-dependency calls the unit distance
_POINTS = 0.5  # of a line, for each pixel of its width on a screen


def to_tikz(words: Sequence[Word], above: Sequence[Arc], below: Sequence[Arc]) -> str:
    """Return words and arcs as an environment `dependency`. See `arcs.draw_arcs`; their titles are left out."""
    rows = [[word.text for word in words]]
    if any(word.tag for word in words):
        rows.append([rf"{{\footnotesize {_escaped(word.tag)}}}" for word in words])
    if any(word.surface for word in words):
        rows.append([rf"{{\footnotesize {_escaped(word.surface and f'({word.surface})')}}}" for word in words])
    rows[0] = list(map(_escaped, rows[0]))
    arcs = [(arc, "edge below, " * (side == 1)) for side, own in enumerate((above, below)) for arc in own]
    top = 1 + max(levels_of([(arc.head, arc.dependent) for arc in above]), default=0)
    return "\n".join(
        [
            r"\begin{dependency}[label style={draw=none, inner sep=1pt}]",
            r"\begin{deptext}[column sep=1em]",
            *(r" \& ".join(row) + r" \\" for row in rows),
            r"\end{deptext}",
            *(_edge(arc, place, top) for arc, place in arcs),
            r"\end{dependency}",
        ]
    )


def _edge(arc: Arc, place: str, top: int) -> str:
    line, label = look_of(f"arc {arc.classes}"), look_of(f"label {arc.classes}")
    style = f"draw={_colour(line['stroke'])}, line width={_POINTS * float(str(line['stroke-width'])):.2g}pt"
    if "stroke-dasharray" in line:
        style += ", dotted" if "stroke-linecap" in line else ", dashed"
    options = f"[{place}edge style={{{style}}}, label style={{text={_colour(label['fill'])}}}]"
    text = f"{{{_escaped(arc.label)}}}"
    if arc.head:
        return rf"\depedge{options}{{{arc.head}}}{{{arc.dependent}}}{text}"
    options = options.replace("[", f"[edge unit distance={_LEVEL * top}ex, ", 1)  # above all other arcs
    return rf"\deproot{options}{{{arc.dependent}}}{text}"


def _colour(value: object) -> str:
    """Return a colour such as #083d91 as TikZ reads it, without a definition in the preamble."""
    red, green, blue = bytes.fromhex(str(value)[1:])
    return f"{{rgb,255:red,{red};green,{green};blue,{blue}}}"


def _escaped(text: str) -> str:
    return to_latex(text).replace(r"\&", r"\symbol{38}")  # \& ends a word here
