"""`python -m benchmarks calibration`."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import table

from .options import DATA, ROOT

__all__ = ["calibration"]


def calibration(
    folder: Path = typer.Option(DATA / "scores", help="Folder of score files with gold heads"),
    figure: Path = typer.Option(ROOT / "docs" / "calibration.png", help="Where the plot goes (needs matplotlib)"),
    seeds: int = typer.Option(2, help="How often the sentences are halved, to calibrate on one half"),
) -> None:
    """Calibration of head probabilities: expected calibration error, and accuracy of the most confident half.

    Then the same after calibration on one half of the sentences, measured on the other half, and head sets.
    """
    from ..calibration import calibrate, cross_fit, plot, reliability

    found = [calibrate(path) for path in sorted(folder.glob("*.npz"))]
    rows = [
        (
            one.treebank,
            f"{100 * one.right.mean():.2f}",
            f"{100 * one.head_prob.mean():.2f}",
            f"{one.accuracy_of_most_confident(0.5):.2f}",
            f"{one.error(one.head_prob):.2f}",
            f"{one.error(one.softmax):.2f}",
        )
        for one in found
    ]
    header = ("treebank", "UAS", "mean head_prob", "UAS of the surer half", "ECE", "ECE softmax")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 5)))
    rows = []
    for path in sorted(folder.glob("*.npz")):
        half = cross_fit(path, seeds)
        errors = (f"{error:.2f}" for error in (half.ece_before, half.ece_after, half.ece_of_perfect))
        figures = (*errors, f"{half.coverage:.1f}", f"{half.size:.2f}")
        rows.append((half.treebank, *figures, f"{half.spearman:.2f}"))
    header = ("on the other half", "ECE", "calibrated", "perfect", "in 90 % head sets", "size", "Spearman of UAS")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 6)))
    for one in found:
        in_use, mean, accuracy, share = reliability(one.head_prob, one.right)
        tenths = [f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}" for tenth in in_use.tolist()]
        rows = [
            (tenth, *(f"{100 * value:.1f}" for value in values))
            for tenth, *values in zip(tenths, share, mean, accuracy, strict=True)
        ]
        header = (one.treebank, "tokens %", "mean head_prob", "right %")
        typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "r", "r")))
    plot(found, figure)
    typer.echo(f"Wrote {figure}.")
