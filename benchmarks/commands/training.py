"""`python -m benchmarks train` and `python -m benchmarks losses`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import typer
from wasabi import table

from ..runs import read_runs
from .options import DATA, ROOT, Results, Run, Seconds, Seeds, Treebanks

__all__ = ["losses", "train"]


def train(
    treebanks: Treebanks = "Afrikaans-AfriBooms,Vietnamese-VTB,Irish-IDT,Kurmanji-MG",
    seeds: Seeds = 3,
    seconds: Seconds = 240.0,
    results: Results = ROOT / "benchmarks/results/training.jsonl",
    run: Run = True,
) -> None:
    """Train our default CPU config and spaCy's parser for the same CPU time, and compare them on the test sets.

    Gold tokens and sentences, all tokens counted, one thread, numpy's BLAS. The checkpoint is the best one on the
    development set or, without a development set, the last one.
    """
    if run:
        _train_all(treebanks, ("spacy", "mindroot"), seeds, seconds, results)
    typer.echo(_comparison(_read(results)))


def losses(
    treebanks: Treebanks = "Kurmanji-MG,Upper_Sorbian-UFAL,Kazakh-KTB,Lithuanian-HSE,Marathi-UFAL",
    seeds: Seeds = 3,
    seconds: Seconds = 60.0,
    results: Results = ROOT / "benchmarks/results/losses.jsonl",
    run: Run = True,
) -> None:
    """Train our default CPU config with the head loss, the likelihood of trees, and both, and compare the results.

    As for `train`, on the smallest treebanks.
    """
    if run:
        _train_all(
            treebanks, tuple(f"mindroot, {loss} loss" for loss in ("head", "tree", "both")), seeds, seconds, results
        )
    typer.echo(_comparison(_read(results)))


def _train_all(treebanks: str, parsers: tuple[str, ...], seeds: int, seconds: float, results: Path) -> None:
    """Each run in a process of its own, but those that are noted already."""
    done = _read(results)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for seed in range(1, seeds + 1):
        for treebank in treebanks.split(","):
            for parser in parsers:
                if (treebank, parser, seed) not in done:
                    arguments = [str(DATA / "ud" / f"UD_{treebank}"), parser, str(seed), str(seconds), str(results)]
                    subprocess.run(
                        [sys.executable, "-m", "benchmarks.training", *arguments], check=True, env=environment, cwd=ROOT
                    )


def _read(results: Path) -> dict[tuple[str, str, int], dict]:
    return {(run["treebank"], run["parser"], run["seed"]): run for run in read_runs(results)}


def _comparison(runs: dict[tuple[str, str, int], dict]) -> str:
    groups = defaultdict(list)
    for (treebank, parser, _), found in sorted(runs.items()):
        groups[treebank, parser].append(found)
    rows = []
    for (treebank, parser), found in groups.items():
        mean = {name: np.mean([run["test"][name] for run in found]) for name in found[0]["test"]}
        rows.append(
            (
                treebank,
                parser,
                len(found),
                *(f"{mean[name]:.2f}" for name in ("uas", "las", "uem", "lem")),
                f"{mean['nonprojective_right']:.1f}/{mean['nonprojective']:.0f}",
                f"{mean['single_root']:.0f}",
                f"{np.mean([run['words_per_second'] for run in found]):,.0f}",
                f"{mean['words_per_second']:,.0f}",
            )
        )
    header = (
        "treebank",
        "parser",
        "seeds",
        "UAS",
        "LAS",
        "UEM",
        "LEM",
        "non-proj.",
        "1 root %",
        "words/s train",
        "words/s test",
    )
    return str(table(rows, header=header, divider=True, aligns=("l", "l", *"r" * 9)))
