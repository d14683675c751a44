"""Draws the paper's figures 2 and 3: multi-rooted rate and changes by the constraint, against training size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import matplotlib

from .paper import PaperRow, read_paper
from .table import Found

__all__ = ["draw"]

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.transforms import Bbox

_PAPER, _OURS = "#9aa3ad", "#c0392b"


def draw(found: Sequence[Found], out: Path) -> list[Path]:
    """Draw both figures, `multi-rooted.png` and `changes.png`, and return their paths."""
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    _scatter(axes, found, "multi-rooted rate, %", lambda row: row.multi_rooted, Found.multi_rooted)
    axes.legend(loc="upper right")
    multi_rooted = out / "multi-rooted.png"
    figure.savefig(multi_rooted, dpi=150)
    figure, both = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    _scatter(both[0], found, "relative change of UAS, %", lambda row: row.uas, lambda f: f.relative("uas"))
    _scatter(
        both[1], found, "relative change of exact match, %", lambda row: row.exact_match, lambda f: f.relative("uem")
    )
    both[1].legend(loc="upper right")
    changes = out / "changes.png"
    figure.savefig(changes, dpi=150)
    plt.close("all")
    return [multi_rooted, changes]


def _scatter(
    axes: Any,
    found: Sequence[Found],
    name: str,
    of_paper: Callable[[PaperRow], float],
    of_seeds: Callable[[Found], list[float]],
) -> None:
    rows = list(read_paper().values())
    axes.axhline(0, color="#d8dde3", linewidth=1, zorder=0)
    axes.scatter(
        [r.train for r in rows], list(map(of_paper, rows)), s=22, color=_PAPER, label="the paper, 63 treebanks"
    )
    names = {}
    for k, each in enumerate(found):
        values, x = of_seeds(each), each.paper.train
        if not values:
            continue
        axes.plot([x, x], [min(values), max(values)], color=_OURS, linewidth=1.2, alpha=0.6)
        axes.plot([x, x], [of_paper(each.paper), mean(values)], color=_PAPER, linewidth=0.8, linestyle=":", zorder=0)
        axes.scatter(
            x, mean(values), s=34, color=_OURS, label=None if k else "ours: mean, and range over seeds", zorder=3
        )
        names[each.paper.language] = (x, mean(values))
    axes.set_xscale("log")
    axes.set_xlabel("training sentences")
    axes.set_ylabel(name)
    axes.spines[["top", "right"]].set_visible(False)
    _label(axes, names)


def _label(axes: Any, points: dict[str, tuple[float, float]]) -> None:
    """Writes a name next to each point, at the place around it where it covers the fewest names and points."""
    axes.figure.draw_without_rendering()  # places are unknown before
    taken = [
        Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in axes.transData.transform(list(points.values()) or [(1, 1)])
    ]
    for language, point in points.items():
        text = axes.annotate(language, point, xytext=(0, 0), textcoords="offset points", fontsize=8, color=_OURS)
        places = []
        for dx, horizontal in ((6, "left"), (-6, "right")):
            for dy, vertical in ((3, "bottom"), (-3, "top"), (12, "bottom"), (-12, "top")):
                text.set(position=(dx, dy), horizontalalignment=horizontal, verticalalignment=vertical)
                box = text.get_window_extent()
                covered = sum(box.overlaps(other) for other in taken)
                outside = not axes.bbox.fully_overlaps(box)
                places.append((covered + outside, len(places), box, (dx, dy), horizontal, vertical))
        *_, box, position, horizontal, vertical = min(places, key=lambda place: place[:2])
        text.set(position=position, horizontalalignment=horizontal, verticalalignment=vertical)
        taken.append(box)
