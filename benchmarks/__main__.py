"""`python -m benchmarks growth`: how the time to decode a sentence grows with its length on the hardest inputs."""

from __future__ import annotations

import time

import numpy as np
import typer
from wasabi import table

from spacy_mindroot import decode_batch

from .families import FAMILIES, sentences

app = typer.Typer(help="Benchmarks. Figures are medians and ratios within one run.", no_args_is_help=True)


@app.callback()
def main() -> None:
    """Benchmarks. Figures are medians and ratios within one run."""


@app.command()
def growth(
    short: int = typer.Option(500, help="Length of the short sentences"),
    long: int = typer.Option(2000, help="Length of the long sentences"),
    repeats: int = typer.Option(9, help="Runs of each, in turn"),
) -> None:
    """Time for long sentences over time for short ones. O(n^2) gives the square of the ratio of their lengths."""
    rows = []
    for family in FAMILIES:
        batches = {n: sentences(family, n, count=2) for n in (short, long)}
        times: dict[int, list[float]] = {short: [], long: []}
        for _ in range(repeats + 1):
            for n, batch in batches.items():
                began = time.thread_time()
                decode_batch(batch)
                times[n].append((time.thread_time() - began) / len(batch))
        of_short, of_long = (float(np.median(times[n][1:])) for n in (short, long))
        rows.append((family, f"{of_short * 1e3:.2f}", f"{of_long * 1e3:.2f}", f"{of_long / of_short:.1f}"))
    typer.echo(
        table(
            rows,
            header=("family", f"ms, n={short}", f"ms, n={long}", "ratio"),
            divider=True,
            aligns=("l", "r", "r", "r"),
        )
    )
    typer.echo(f"O(n^2) gives {(long / short) ** 2:.0f}.")


app()
