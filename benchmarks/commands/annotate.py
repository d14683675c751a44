"""`python -m benchmarks annotate`."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import table

from .options import DATA, ROOT, Results, Run

__all__ = ["annotate"]


def annotate(
    treebank: str = typer.Option("Irish-IDT", help="UD treebank in the data folder, whose training set is annotated"),
    sentences: int = typer.Option(500, help="Number of its first sentences"),
    every: int = typer.Option(20, help="Sentences between two trainings"),
    work: Path = typer.Option(ROOT / "build" / "annotate", help="Where the file lies that is annotated"),
    results: Results = ROOT / "benchmarks/results/annotate.jsonl",
    browser: bool = typer.Option(True, help="Without, a stand-in for the page takes the same keys"),
    run: Run = True,
) -> None:
    """A simulated annotator works through the real page in a browser, from nothing until all is as in the gold file.

    Decisions and keys per token: plain annotation takes one decision for each, and a parse without alternatives one for
    each arc that is wrong at first. Goes on where it was stopped.
    """
    from ..annotation import HEADER, Done, latency, rows, run_all
    from ..runs import read_runs

    (gold,) = (DATA / "ud" / f"UD_{treebank}").glob("*-ud-train.conllu")
    for done in run_all(gold, sentences, work, results, every, browser=browser) if run else ():
        typer.echo(
            f"{done.number + 1}: {done.tokens} tokens, {done.wrong} wrong, {done.decisions} decisions, "
            f"{done.single} by one key (parser of {done.trained})"
        )
    runs = [Done(**each) for each in read_runs(results)]
    typer.echo(table([*rows(runs, (10, 50, 100, 200, 300, 400))], header=HEADER, divider=True, aligns=("l", *"r" * 8)))
    typer.echo(table([*latency(runs)], header=("length", "decisions", "from key to picture"), aligns=("l", "r", "r")))
