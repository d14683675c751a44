"""`python -m benchmarks repair`."""

from __future__ import annotations

import typer
from wasabi import table

from .options import DATA, ROOT, Results, Run, Treebanks

__all__ = ["repair"]


def repair(
    treebanks: Treebanks = "Irish-IDT,Hungarian-Szeged,Afrikaans-AfriBooms",
    shares: str = typer.Option("0.01,0.05,0.2", help="Shares of the heads that are damaged, by commas"),
    model: str | None = typer.Option(None, help="Pipeline that is the prior, in place of one trained on each treebank"),
    steps: int = typer.Option(600, help="Training steps of each parser"),
    seed: int = typer.Option(1, help="Seed of the damage and of the training"),
    results: Results = ROOT / "benchmarks/results/repair.jsonl",
    run: Run = True,
) -> None:
    """Damage heads of test sets, and count those that are right after repair, with a parser as prior and without."""
    from ..repair import METHODS, run_all
    from ..runs import read_runs

    numbers = [float(share) for share in shares.split(",")]
    for one in run_all(DATA, treebanks.split(","), numbers, model, steps, seed, results) if run else ():
        typer.echo(f"{one.treebank}, {one.share:.0%}: {one.uas}")
    rows = [
        (each["treebank"], each["parser"], f"{each['share']:.0%}", each["malformed"], *map(each["uas"].get, METHODS))
        for each in read_runs(results)
    ]
    header = ("treebank", "prior", "damaged", "malformed (%)", *(f"UAS, {name}" for name in METHODS))
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "l", *"r" * (len(header) - 2))))
