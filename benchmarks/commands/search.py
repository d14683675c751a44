"""`python -m benchmarks search`."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import table

from .options import DATA

__all__ = ["search"]


def search(
    scores: Path = typer.Option(DATA / "scores" / "Irish-IDT.npz", help="Score file for the component's switches"),
    repeats: int = typer.Option(7, help="Runs of each, in turn"),
) -> None:
    """Time for the next best and the projective trees beside decoding, and for the switches of mind_root."""
    from ..search import time_search, time_switches

    found = list(time_search(repeats))
    rows = [(n, *(f"{seconds * 1e6:.0f}" for seconds in times.values())) for n, times in found]
    typer.echo(table(rows, header=("us a sentence, n", *found[0][1]), divider=True, aligns=("r",) * 5))
    switches = time_switches(scores, repeats)
    rows = [(name, f"{seconds * 1e6:.0f}", f"{seconds / switches['none']:.1f}") for name, seconds in switches.items()]
    header = (f"switches, {scores.stem}", "us a sentence", "ratio")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "r")))
