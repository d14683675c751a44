"""`python -m benchmarks given`."""

from __future__ import annotations

import typer
from wasabi import table

from .options import DATA

__all__ = ["given"]


def given(
    seeds: int = typer.Option(5, help="How often a tenth of the tokens is drawn"),
) -> None:
    """Partial annotation: what a tenth of the gold heads, as required arcs, does for the other tokens."""
    from ..search import gain_of_given_arcs

    rows = []
    for path in sorted((DATA / "scores").glob("*.npz")):
        before, after, sentences = gain_of_given_arcs(path, seeds)
        rows.append((path.stem, sentences, f"{before:.2%}", f"{after:.2%}", f"{100 * (after - before):+.2f}"))
    header = ("scores", "sentences", "UAS of the others", "with a tenth given", "gain")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "r", "r", "r")))
