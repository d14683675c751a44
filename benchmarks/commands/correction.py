"""`python -m benchmarks correction`."""

from __future__ import annotations

import numpy as np
import typer
from wasabi import table

from .options import DATA, ROOT, Results, Run, Seeds, Treebanks

__all__ = ["correction"]


def correction(
    treebanks: Treebanks = "Irish-IDT,Afrikaans-AfriBooms,Vietnamese-VTB",
    first: int = typer.Option(100, help="Sentences whose heads are all known from the start"),
    new: int = typer.Option(400, help="Sentences of which some heads are annotated"),
    steps: int = typer.Option(1500, help="Training steps of each parser"),
    shares: str = typer.Option("0.05,0.1,0.2,0.4", help="Shares of their tokens that are annotated, by commas"),
    orders: str = typer.Option(
        "random tokens,rank --by token,random sentences,rank --by sentence", help="What to annotate, by commas"
    ),
    others: str = typer.Option(
        "left out",
        help='Heads of the other tokens of the new sentences: "left out" of training, or "parsed": those of the best '
        "tree with the annotated heads",
    ),
    seeds: Seeds = 3,
    results: Results = ROOT / "benchmarks/results/correction.jsonl",
    run: Run = True,
) -> None:
    """Simulate annotators who give heads in the order of `spacy mindroot rank`, or at random; and train again."""
    from ..correction import simulate_all, simulated_means
    from ..runs import read_runs

    numbers = [float(share) for share in shares.split(",")]
    settings = {
        "first": first,
        "new": new,
        "steps": steps,
        "seeds": seeds,
        "orders": orders.split(","),
        "shares": numbers,
        "others": others,
    }
    for one in simulate_all(DATA, treebanks.split(","), **settings, results=results) if run else ():
        typer.echo(f"{one.treebank}, {one.order}, {one.share}, seed {one.seed}: UAS {one.uas}")
    groups = simulated_means(read_runs(results))
    columns = sorted({share for _, _, share in groups})
    rows = [
        (
            treebank,
            order,
            *(
                f"{np.mean(groups[treebank, order, share]):.2f}" if (treebank, order, share) in groups else ""
                for share in columns
            ),
        )
        for treebank, order in sorted({(treebank, order) for treebank, order, _ in groups})
    ]
    header = ("treebank", "annotated", *(f"UAS, {share:.0%}" for share in columns))
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "l", *"r" * len(columns))))
