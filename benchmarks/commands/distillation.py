"""`python -m benchmarks distillation`."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import table

from .options import DATA, ROOT, Results, Run, Seeds, Treebanks

__all__ = ["distillation"]


def distillation(
    treebanks: Treebanks = "Irish-IDT,Afrikaans-AfriBooms,Hungarian-Szeged",
    sizes: str = typer.Option("20,100,400", help="Labelled sentences, by commas; the others are raw text"),
    seeds: Seeds = 3,
    results: Results = ROOT / "benchmarks/results/distillation.jsonl",
    work: Path = typer.Option(ROOT / "training" / "distillation", help="Folder for teachers and what they label"),
    workers: int = typer.Option(1, min=1, help="Processes, each with one thread"),
    gpu: bool = typer.Option(False, "--gpu", help="Train on a GPU"),
    lexicons: Path | None = typer.Option(
        None, help="Folder with a lexicon for each treebank, NAME.txt: parsers with it, in place of those without"
    ),
    domains: bool = typer.Option(False, "--domains", help="Further students, of raw text of other domains"),
    figure: Path = typer.Option(ROOT / "docs" / "distill.png", help="Where the plot goes (needs matplotlib)"),
    run: Run = True,
) -> None:
    """Learning curves of distillation: one parser, the mean of three, and students of the three, on development sets.

    All runs but those that are noted already.
    """
    from ..distillation import all_jobs, kinds, means, plot, run_all
    from ..runs import read_runs

    named, counts = treebanks.split(","), [int(size) for size in sizes.split(",")]
    jobs = all_jobs(named, counts, seeds, domains=domains, lexicon=lexicons is not None)
    for one in run_all(DATA, jobs, results, work, lexicons=lexicons, workers=workers, gpu=gpu) if run else ():
        typer.echo(
            f"{one.treebank}, {one.size}, {one.kind}{', lexicon' * one.lexicon}, seed {one.seed}: UAS {one.uas}, "
            f"LAS {one.las}, ECE {one.ece} ({one.calibrated_ece} calibrated), {one.cpu_seconds} CPU s"
        )
    runs = read_runs(results)
    found = {name: means(runs, name) for name in ("uas", "las", "ece", "calibrated_ece", "words_per_second")}
    groups = sorted(found["uas"], key=lambda group: (*group[:3], kinds(group[0], True).index(group[3])))
    rows = [
        (
            *group[:2],
            f"{group[3]}{', lexicon' * group[2]}",
            found["uas"][group][1],
            *(f"{found[name][group][0]:.1f}" for name in ("uas", "las", "ece", "calibrated_ece")),
            f"{found['words_per_second'][group][0]:,.0f}",
        )
        for group in groups
    ]
    header = ("treebank", "sentences", "parser", "runs", "UAS", "LAS", "ECE", "calibrated", "words/CPU s")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "l", *"r" * 6)))
    if plot(runs, figure):
        typer.echo(f"Wrote {figure}.")
