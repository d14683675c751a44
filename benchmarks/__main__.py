"""The benchmarks: `python -m benchmarks growth | pipeline | train`. Figures are medians and ratios within one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import typer
from wasabi import table

app = typer.Typer(help="Benchmarks. Figures are medians and ratios within one run.", no_args_is_help=True)
ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("MINDROOT_DATA", ROOT / "../shared/data"))


@app.command()
def growth(
    short: int = typer.Option(500, help="Length of the short sentences"),
    long: int = typer.Option(2000, help="Length of the long sentences"),
    repeats: int = typer.Option(9, help="Runs of each, in turn"),
) -> None:
    """Time to decode long sentences over time to decode short ones, on the hardest inputs.

    O(n^2) gives the square of the ratio of their lengths.
    """
    from .decoding import time_growth

    rows = [
        (family, f"{of_short * 1e3:.2f}", f"{of_long * 1e3:.2f}", f"{of_long / of_short:.1f}")
        for family, of_short, of_long in time_growth(short, long, repeats)
    ]
    header = ("family", f"ms, n={short}", f"ms, n={long}", "ratio")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "r", "r")))
    typer.echo(f"O(n^2) gives {(long / short) ** 2:.0f}.")


@app.command()
def pipeline(
    config: Path = typer.Option(ROOT / "configs" / "cpu-accurate.cfg", help="Config of our pipeline"),
    length: int = typer.Option(25, help="Tokens of a sentence"),
    sentences: int = typer.Option(320, help="How many of them"),
    repeats: int = typer.Option(9, help="Runs of each, in turn"),
    blis: bool = typer.Option(
        False, help="Let thinc multiply matrices with BLIS, its default, in place of numpy's BLAS"
    ),
) -> None:
    """Time to parse with our pipeline, with spaCy's parser, and in each component of ours."""
    from .pipelines import time_pipelines

    times = time_pipelines(config, length, sentences, repeats, use_blis=blis)
    whole, parser = times["ours"], times["spaCy's parser on our tok2vec"]
    rows = [(name, f"{seconds * 1e6:.0f}", f"{seconds / whole:.1%}") for name, seconds in times.items()]
    typer.echo(table(rows, header=("", "us a sentence", "of ours"), divider=True, aligns=("l", "r", "r")))
    typer.echo(
        f"Ours takes {whole / parser:.2f} times as long as with spaCy's parser in it; mind_root is {times['mind_root'] / whole:.1%} of it."
    )


TREEBANKS = "Afrikaans-AfriBooms,Vietnamese-VTB,Irish-IDT,Kurmanji-MG"
RESULTS = ROOT / "benchmarks" / "results" / "training.jsonl"


@app.command()
def train(
    treebanks: str = typer.Option(TREEBANKS, help="UD treebanks in the data folder, by commas"),
    seeds: int = typer.Option(3, help="Runs of each parser on each treebank"),
    seconds: float = typer.Option(240.0, help="CPU seconds of a run, evaluation on the development set included"),
    results: Path = typer.Option(
        RESULTS, help="Where the runs are noted, one a line; those that are there are not run again"
    ),
    run: bool = typer.Option(True, help="With --no-run, only the table is printed"),
) -> None:
    """Train our default CPU config and spaCy's parser for the same CPU time, and compare them on the test sets.

    Gold tokens and sentences, all tokens counted, one thread, numpy's BLAS. The checkpoint is the one that is best on the
    development set; without one, the last.
    """
    done = _read(results)
    for seed in range(1, seeds + 1):
        for treebank in treebanks.split(","):
            for parser in ("spacy", "mindroot"):
                if run and (treebank, parser, seed) not in done:
                    arguments = [str(DATA / "ud" / f"UD_{treebank}"), parser, str(seed), str(seconds), str(results)]
                    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
                    subprocess.run(
                        [sys.executable, "-m", "benchmarks.training", *arguments], check=True, env=environment, cwd=ROOT
                    )
    typer.echo(_comparison(_read(results)))


def _read(results: Path) -> dict[tuple[str, str, int], dict]:
    if not results.exists():
        return {}
    runs = [json.loads(line) for line in results.read_text("utf8").splitlines()]
    return {(run["treebank"], run["parser"], run["seed"]): run for run in runs}


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


app()
