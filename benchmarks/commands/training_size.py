"""`python -m benchmarks training-size`."""

from __future__ import annotations

import numpy as np
import typer
from wasabi import table

from .options import DATA, ROOT, Results, Run, Seeds, Treebanks

__all__ = ["training_size"]


def training_size(
    treebanks: Treebanks = "Irish-IDT,Afrikaans-AfriBooms,Vietnamese-VTB",
    sizes: str = typer.Option("20,50,100,200,400,0", help="Training sentences, by commas; 0 for all"),
    seeds: Seeds = 3,
    optimize: str = typer.Option("efficiency", help="Config of init-config: efficiency or accuracy"),
    results: Results = ROOT / "benchmarks/results/training-size.jsonl",
    run: Run = True,
) -> None:
    """Confidence against training size, with each of the three losses; all runs but those that are noted already.

    Parsers see words alone: tags, heads and labels of the test sets are predicted.
    """
    from ..runs import read_runs
    from ..training_size import means, run_all

    numbers = [int(size) for size in sizes.split(",")]
    for one in run_all(DATA, treebanks.split(","), numbers, seeds, optimize, results) if run else ():
        typer.echo(f"{one.treebank}, {one.size or 'all'}, {one.loss}, seed {one.seed}: UAS {one.uas}, ECE {one.ece}")
    runs = read_runs(results)
    names = ("uas", "mean_prob", "ece", "surer_half", "log_loss")
    rows = [
        (treebank, n, loss, len(own), *(f"{np.mean([each[name] for each in own]):.2f}" for name in names))
        for treebank, n, loss, own in means(runs)
    ]
    header = ("treebank", "sentences", "loss", "runs", "UAS", "mean head_prob", "ECE", "surer half", "log loss")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "l", *"r" * 6)))
