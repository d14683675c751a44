"""`python -m benchmarks inference`."""

from __future__ import annotations

import typer
from wasabi import table

__all__ = ["inference"]


def inference(repeats: int = typer.Option(7, help="Runs of each, in turn")) -> None:
    """Time for the distribution over trees, against numpy's inverse of the Laplacian; and where that goes wrong."""
    from ..inference import time_inference, wrong_sums

    found = list(time_inference(repeats))
    rows = [(n, *(f"{seconds * 1e6:.1f}" for seconds in times.values())) for n, times in found]
    typer.echo(table(rows, header=("us a sentence, n", *found[0][1]), divider=True, aligns=("r",) * 5))
    rows = [(f"{gap:.0f}", f"{ours:.0e}", f"{by_inverse:.0e}") for gap, ours, by_inverse in wrong_sums()]
    header = ("pairs ahead by", "error of a sum, marginals", "numpy.linalg")
    typer.echo(table(rows, header=header, divider=True, aligns=("r",) * 3))
