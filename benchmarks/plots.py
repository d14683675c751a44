"""The plot of the decoders: time against sentence length. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path

from .decoding import Result, slope


def plot_decoders(results: list[Result], families: list[str], path: Path) -> None:
    """One panel a family, logarithmic axes; the legend gives the slope from n = 100 on."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(families), figsize=(7 * len(families), 6), sharey=True, squeeze=False)
    names = list(dict.fromkeys(result.contestant for result in results))
    for panel, family in zip(panels[0], families, strict=True):
        for number, name in enumerate(names):
            found = [r for r in results if r.contestant == name and r.family == family and r.n and not r.failed]
            if not found:
                continue
            sizes, times = [r.n for r in found], [r.microseconds for r in found]
            long = [(n, t) for n, t in zip(sizes, times, strict=True) if n >= 100]
            label = name + (f" (slope {slope(*map(list, zip(*long, strict=True))):.2f})" if len(long) > 1 else "")
            ours = name.startswith("ours")
            panel.loglog(sizes, times, label=label, color=f"C{number}" if number < 10 else f"C{number - 10}",
                         linewidth=2.5 if ours else 1.2, marker="o" if ours else ".",
                         linestyle="--" if name.startswith("numpy") else ("-" if number < 10 else ":"))  # fmt: skip
        panel.set(title=family, xlabel="tokens")
        panel.grid(which="major", alpha=0.4)
        panel.legend(fontsize=8)
    panels[0][0].set_ylabel("microseconds a sentence")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
