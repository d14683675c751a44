"""`python -m benchmarks confidence`."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from wasabi import table

from .options import DATA, ROOT, Results, Run, Treebanks

__all__ = ["confidence"]


def confidence(
    treebanks: Treebanks = "Lithuanian-HSE,Marathi-UFAL,Kurmanji-MG,Upper_Sorbian-UFAL,Kazakh-KTB,Irish-IDT,"
    "Afrikaans-AfriBooms,Vietnamese-VTB",
    models: Path | None = typer.Option(
        None, help="Folder of trained pipelines, TREEBANK-mindroot-SEED, as `python -m scripts.pipelines compare` saves"
    ),
    seeds: Annotated[int, typer.Option(help="Runs on each treebank")] = 1,
    steps: Annotated[
        int, typer.Option(help="Training steps of a run, without --models; 0: as init-config gives them")
    ] = 0,
    results: Results = ROOT / "benchmarks/results/confidence.jsonl",
    run: Run = True,
) -> None:
    """Calibrate pipelines, and measure their probabilities and head sets on the test sets.

    With --models, pipelines are loaded, and treebanks without one are left out; otherwise they are trained as by
    `spacy mindroot build`. Gold tokens and sentences; everything else is predicted, and all tokens count. Calibration
    errors are in points: without calibration, with it, and by chance, for perfect probabilities of so few tokens.
    """
    from ..runs import read_runs

    origin, steps = ("trained", steps) if models is None else ("loaded", 0)
    done = {(one["treebank"], one["origin"], one["seed"], one["steps"]) for one in read_runs(results)}
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for seed, treebank in product(range(seeds if run else 0), treebanks.split(",")):
        arguments = [str(DATA / "ud" / f"UD_{treebank}"), str(seed), str(steps), str(results)]
        if models is not None:
            model = models / f"{treebank}-mindroot-{seed}"
            if not (model / "meta.json").exists():
                typer.echo(f"There is no {model} (yet).")
                continue
            arguments.append(str(model))
        if (treebank, origin, seed, steps) not in done:
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.confidence", *arguments]
            subprocess.run(command, check=True, env=environment, cwd=ROOT)
    rows = []
    for one in read_runs(results):
        errors = [" / ".join(f"{value:.1f}" for value in one[name]) for name in ("head_ece", "label_ece", "las_ece")]
        figures = [f"{one[name]:.1f}" for name in ("uas", "las")]
        sets = [f"{one['coverage']:.1f}", f"{one['set_size']:.2f}"]
        ranking = [f"{one['spearman']:.2f}", f"{one['surer_half']:+.1f}"]
        method = f"{one['method']}, {one['calibration_sentences']}"
        which = (one["treebank"], one["origin"], one["seed"], one["steps"] or "")
        rows.append((*which, method, *figures, *errors, *sets, *ranking))
    header = (
        *("treebank", "pipeline", "seed", "steps", "calibrated on, sentences"),
        *("UAS", "LAS", "ECE heads", "ECE labels", "ECE both"),
        *("in 90 % sets", "size", "Spearman", "surer half"),
    )
    typer.echo(table(rows, header=header, divider=True, aligns=(*"ll", *"rr", "l", *"r" * 9), max_col=60))
