"""`python -m benchmarks roots`."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import table

from .options import DATA, ROOT

__all__ = ["roots"]


def roots(
    folder: Path = typer.Option(DATA / "scores", help="Folder of score files with gold heads"),
    treebanks: Path = typer.Option(DATA / "ud", help="Folder of the treebanks, for the numbers of training sentences"),
    figure: Path = typer.Option(ROOT / "docs" / "roots.png", help="Where the plot goes (needs matplotlib)"),
) -> None:
    """Probability of several roots, and how many of the best trees without the constraint have several.

    By the scores, and with a calibration that is fitted to the same file. `spacy mindroot audit FILE.npz` prints the
    same for one file.
    """
    from ..roots import auc, measure, plot

    found = []
    for path in sorted(folder.glob("*.npz")):
        files = list((treebanks / f"UD_{path.stem}").glob("*-train.conllu"))
        found.append(measure(path, sum(file.read_text("utf8").count("\n\n") for file in files)))
    found.sort(key=lambda own: -own.training)
    rows = [
        (
            *(own.treebank, f"{own.training:,}", f"{100 * own.multi_rooted.mean():.1f}"),
            *(f"{100 * (own.plain > 0.5).mean():.1f}", f"{100 * own.plain.mean():.1f}"),
            f"{auc(own.plain, own.multi_rooted):.3f}",
            f"{own.calibration.arc_temperature:.2f}, {own.calibration.arc_lapse:.2f}",
            *(f"{100 * (own.calibrated > 0.5).mean():.1f}", f"{100 * own.calibrated.mean():.1f}"),
            f"{auc(own.calibrated, own.multi_rooted):.3f}",
        )
        for own in found
    ]
    header = ("treebank", "train", "multi-rooted %", "> 1/2", "mean", "AUC", "T, lapse", "> 1/2", "mean", "AUC")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 9)))
    plot(found, figure)
    typer.echo(f"Wrote {figure}.")
