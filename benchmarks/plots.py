"""The plot of the decoders: time against sentence length. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path

from .contestants import FLOOR
from .decoding import Result, slope


def plot_decoders(results: list[Result], families: list[str], path: Path) -> None:
    """One panel a family, logarithmic axes; the legend gives the slope from n = 100 on."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = (len(families) + 1) // 2
    figure, panels = pyplot.subplots(rows, 2, figsize=(17, 5 * rows), sharey=True, squeeze=False)
    names = list(dict.fromkeys(result.contestant for result in results))
    shades = pyplot.get_cmap("tab20").colors
    colours = dict(zip(names, shades[::2] + shades[1::2]))  # noqa: B905
    for panel, family in zip(panels.flat, families, strict=False):
        for name in names:
            found = [r for r in results if r.contestant == name and r.family == family and r.n and not r.failed]
            if not found:
                continue
            sizes, times = [r.n for r in found], [r.microseconds for r in found]
            long = [(n, t) for n, t in zip(sizes, times, strict=True) if n >= 100]
            label = name + (f" (slope {slope(*map(list, zip(*long, strict=True))):.2f})" if len(long) > 1 else "")
            if name == FLOOR:
                look = {"color": "black", "linestyle": "--", "linewidth": 1.2}
            else:
                look = {"color": colours[name], "linewidth": 2.5 if name.startswith("ours") else 1.2, "marker": "."}
            panel.loglog(sizes, times, label=label, **look)
        panel.set(title=family, xlabel="tokens", ylabel="microseconds a sentence")
        panel.grid(which="major", alpha=0.4)
        panel.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for panel in panels.flat[len(families) :]:
        panel.remove()
    figure.tight_layout()
    figure.savefig(path, dpi=75)
