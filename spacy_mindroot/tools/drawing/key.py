"""The key of pictures with probabilities."""

from __future__ import annotations

from .drawing import Drawing, write_line
from .style import FLOORS, attributes

__all__ = ["draw_key"]

_LINE = 24.0  # length of the lines, in pixels


def draw_key(*, next_best: bool = True, gold: bool = False) -> list[Drawing]:
    """Return the entries of the key.

    next_best, gold (bool): Whether there are arcs from next best heads, and from those of a file.
    """
    entries = [(f"p{k}", f"≥ {floor:.0%}" if k else f"< {FLOORS[1]:.0%}") for k, floor in enumerate(FLOORS)][::-1]
    entries += [("next", "next best head")] * next_best + [("gold", "head in the file")] * gold
    return [write_line("key", "Probability of the head:", 11), *(_entry(*entry) for entry in entries)]


def _entry(classes: str, text: str) -> Drawing:
    name = write_line("key", text, 11)
    line = f'<path {attributes(f"arc {classes}")} d="M0,8 h{_LINE:.0f}"/>'
    return Drawing(line + name.at(_LINE + 6, 0), _LINE + 6 + name.width, name.height)
