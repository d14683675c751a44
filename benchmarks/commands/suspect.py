"""`python -m benchmarks suspect`."""

from __future__ import annotations

import typer

from .options import DATA, ROOT, Results, Run, Treebanks

__all__ = ["suspect"]


def suspect(
    treebanks: Treebanks = "Afrikaans-AfriBooms,Irish-IDT",
    most: int = typer.Option(100_000, help="Sentences of the training part of each"),
    folds: int = typer.Option(5, help="As of `spacy mindroot suspect`"),
    steps: int = typer.Option(600, help="As of `spacy mindroot suspect`"),
    parsers: int = typer.Option(1, help="As of `spacy mindroot suspect`"),
    optimize: str = typer.Option("efficiency", help="As of `spacy mindroot suspect`"),
    seed: int = typer.Option(1, help="Seed of the corrupted heads, the folds and the parsers"),
    results: Results = ROOT / "benchmarks/results/suspect.jsonl",
    run: Run = True,
) -> None:
    """Corrupt 1 % of the gold heads of treebanks, and count how many are among the first 1 % of the suspects."""
    from ..correction import detect
    from ..runs import note_run, read_runs

    for treebank in treebanks.split(",") if run else ():
        (path,) = (DATA / "ud" / f"UD_{treebank}").glob("*-ud-train.conllu")
        found = detect(path, most=most, optimize=optimize, folds=folds, steps=steps, seed=seed, parsers=parsers)
        note_run(results, found)
    for each in read_runs(results):
        typer.echo(", ".join(f"{name} {value}" for name, value in each.items()))
