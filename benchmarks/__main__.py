"""The benchmarks: `python -m benchmarks --help` lists them. Figures are medians and ratios within one run."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from wasabi import table

from .contestants import FLOOR
from .decoding import Result

app = typer.Typer(help="Benchmarks. Figures are medians and ratios within one run.", no_args_is_help=True)
ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("MINDROOT_DATA", ROOT / "../shared/data"))


@app.command()
def decode(
    families: str = typer.Option("parser,uniform,nested,root_half,root_all", help="Input families, by commas"),
    sizes: str = typer.Option("10,25,50,100,200,400,1000", help="Tokens of a sentence, by commas"),
    repeats: int = typer.Option(9, help="Runs of each, in turn"),
    too_long: float = typer.Option(
        0.5, help="Seconds for a batch: a contestant that takes longer is not measured on longer sentences"
    ),
    only: str = typer.Option("", help="Only contestants whose name has one of these in it, by commas"),
    real: int = typer.Option(200, help="Sentences of each file of real scores in the data folder; 0 for none"),
    results: Path = typer.Option(ROOT / "benchmarks/results/decoding.json", help="Where the results are written"),
    plot: Path | None = typer.Option(None, help="Where to plot them (needs matplotlib)"),
) -> None:
    """Time to decode, of every decoder that is installed, over that of numpy's argmax on the same matrices.

    One core, CPU time of the process. The trees are checked for weight and number of roots in the same run.
    """
    from .contestants import CONTESTANTS
    from .decoding import pin_to_one_core, time_decoders, time_score_file, time_threads

    threads = time_threads(50, 10_000, 5 * repeats)
    typer.echo(
        f"10,000 sentences of 50 tokens on two threads: "
        f"{threads.cpu_seconds_of_two / threads.cpu_seconds_of_one:.2f} times the CPU time of one thread, the calling "
        f"thread's part {threads.cpu_seconds_of_caller / threads.cpu_seconds_of_two:.2f} of it; "
        f"{threads.seconds_of_two / threads.seconds_of_one:.2f} times as long by the clock."
    )
    pin_to_one_core()
    contestants = [make() for make in CONTESTANTS]
    if only:
        contestants = [c for c in contestants if any(part in c.name for part in ("argmax", *only.split(",")))]
    for contestant in list(contestants):
        if missing := contestant.missing():
            typer.echo(f"Not measured: {missing}")
            contestants.remove(contestant)
    numbers = [int(n) for n in sizes.split(",")]
    found: list[Result] = []
    for family in families.split(","):
        found += time_decoders(contestants, family, numbers, repeats, too_long)
        typer.echo(_ratios([result for result in found if result.family == family]))
    for path in sorted((DATA / "scores").glob("*.npz")) if real else []:
        found += (rows := time_score_file(contestants, path, real, repeats, too_long))
        typer.echo(_ratios(rows))
    record = {
        "python": platform.python_version(),
        "machine": platform.platform(),
        "versions": [contestant.version() for contestant in contestants],
        "threads": asdict(threads),
        "results": [asdict(result) for result in found],
    }
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text(json.dumps(record, indent=1) + "\n", "utf8")
    if plot:
        from .plots import plot_decoders

        plot_decoders(found, families.split(","), plot)


def _ratios(results: list[Result]) -> str:
    """Times of a family as multiples of argmax, and how many trees are right. The argmax row is microseconds."""
    family = results[0].family
    sizes = list(dict.fromkeys(result.n for result in results))
    cells = {(result.contestant, result.n): result for result in results}
    rows = []
    for name in dict.fromkeys(result.contestant for result in results):
        own = [cells[name, n] for n in sizes if (name, n) in cells]
        floors = {n: cells[FLOOR, n].microseconds for n in sizes}
        times = [
            (
                "-"
                if (name, n) not in cells
                else "fails"
                if cells[name, n].failed
                else f"{cells[name, n].microseconds / (1 if name == FLOOR else floors[n]):.2f}"
            )
            for n in sizes
        ]
        total = sum(result.sentences for result in own)
        rows.append((name, *times, *(f"{sum(getattr(r, what) for r in own)}/{total}" for what in ("one_root", "best"))))
    header = (family, *(str(n) if n else "of argmax" for n in sizes), "one root", "best")
    return "\n" + str(table(rows, header=header, divider=True, aligns=("l", *"r" * (len(sizes) + 2))))


@app.command()
def component(
    length: int = typer.Option(25, help="Tokens of a Doc"),
    docs: int = typer.Option(2000, help="How many of them"),
    repeats: int = typer.Option(9, help="Runs of each, in turn"),
) -> None:
    """Time of `mind_root` on a short Doc: it reads scores, decodes, and writes heads, labels and sentence starts."""
    from .component import time_component
    from .decoding import pin_to_one_core

    pin_to_one_core()
    for name, seconds in time_component(length, docs, repeats).items():
        typer.echo(f"{name}: {seconds * 1e6:.1f} us")


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
        f"Ours takes {whole / parser:.2f} times as long as with spaCy's parser in it; "
        f"mind_root is {times['mind_root'] / whole:.1%} of it."
    )


@app.command()
def installed(
    treebank: str = typer.Option("UD_Afrikaans-AfriBooms", help="UD treebank in the data folder"),
    repeats: int = typer.Option(5, help="Runs of each pipeline over the test set"),
    other: Path | None = typer.Option(None, help="Interpreter of another installation, to measure its pipelines, too"),
    other_configs: Path | None = typer.Option(None, help="Folder of that installation's configs"),
) -> None:
    """Speed and memory of pipelines as installed, each in a fresh process: ours, and spaCy's tok2vec and parser."""
    from .installed import measure_installed

    for name, figures in measure_installed(DATA / "ud" / treebank, repeats, other, other_configs):
        rows = [(figure, f"{value:,.0f}" if value >= 1000 else f"{value:.3g}") for figure, value in figures.items()]
        typer.echo(table(rows, header=("", name), divider=True, aligns=("l", "r"), max_col=60))


# The options of `train` and `losses`.
Treebanks = Annotated[str, typer.Option(help="UD treebanks in the data folder, by commas")]
Seeds = Annotated[int, typer.Option(help="Runs of each parser on each treebank")]
Seconds = Annotated[float, typer.Option(help="CPU seconds of a run, evaluation on the development set included")]
Results = Annotated[
    Path, typer.Option(help="Where the runs are noted, one a line; those that are there are not run again")
]
Run = Annotated[bool, typer.Option(help="With --no-run, only the table is printed")]


@app.command()
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


@app.command()
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


@app.command()
def inference(repeats: int = typer.Option(7, help="Runs of each, in turn")) -> None:
    """Time for the distribution over trees, against numpy's inverse of the Laplacian; and where that goes wrong."""
    from .inference import time_inference, wrong_sums

    found = list(time_inference(repeats))
    rows = [(n, *(f"{seconds * 1e6:.1f}" for seconds in times.values())) for n, times in found]
    typer.echo(table(rows, header=("us a sentence, n", *found[0][1]), divider=True, aligns=("r",) * 5))
    rows = [(f"{gap:.0f}", f"{ours:.0e}", f"{by_inverse:.0e}") for gap, ours, by_inverse in wrong_sums()]
    header = ("pairs ahead by", "error of a sum, marginals", "numpy.linalg")
    typer.echo(table(rows, header=header, divider=True, aligns=("r",) * 3))


@app.command()
def search(
    scores: Path = typer.Option(DATA / "scores" / "Irish-IDT.npz", help="Score file for the component's switches"),
    repeats: int = typer.Option(7, help="Runs of each, in turn"),
) -> None:
    """Time for the next best and the projective trees beside decoding, and for the switches of mind_root."""
    from .search import time_search, time_switches

    found = list(time_search(repeats))
    rows = [(n, *(f"{seconds * 1e6:.0f}" for seconds in times.values())) for n, times in found]
    typer.echo(table(rows, header=("us a sentence, n", *found[0][1]), divider=True, aligns=("r",) * 5))
    switches = time_switches(scores, repeats)
    rows = [(name, f"{seconds * 1e6:.0f}", f"{seconds / switches['none']:.1f}") for name, seconds in switches.items()]
    header = (f"switches, {scores.stem}", "us a sentence", "ratio")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "r")))


@app.command()
def given(
    seeds: int = typer.Option(5, help="How often a tenth of the tokens is drawn"),
) -> None:
    """Partial annotation: what a tenth of the gold heads, as required arcs, does for the other tokens."""
    from .search import gain_of_given_arcs

    rows = []
    for path in sorted((DATA / "scores").glob("*.npz")):
        before, after, sentences = gain_of_given_arcs(path, seeds)
        rows.append((path.stem, sentences, f"{before:.2%}", f"{after:.2%}", f"{100 * (after - before):+.2f}"))
    header = ("scores", "sentences", "UAS of the others", "with a tenth given", "gain")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "r", "r", "r")))


@app.command()
def confidence(
    treebanks: Treebanks = "Lithuanian-HSE,Marathi-UFAL,Kurmanji-MG,Upper_Sorbian-UFAL,Kazakh-KTB,Irish-IDT,"
    "Afrikaans-AfriBooms,Vietnamese-VTB",
    seeds: Annotated[int, typer.Option(help="Runs on each treebank")] = 1,
    steps: Annotated[int, typer.Option(help="Training steps of a run")] = 400,
    results: Results = ROOT / "benchmarks/results/confidence.jsonl",
    run: Run = True,
) -> None:
    """Train our small CPU config with calibration, and measure its probabilities and head sets on the test sets.

    Gold tokens and sentences; everything else is predicted, and all tokens count. Calibration errors are in points,
    without and with calibration.
    """
    lines = results.read_text("utf8").splitlines() if results.exists() else []
    done = {(one["treebank"], one["seed"], one["steps"]) for one in map(json.loads, lines)}
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for seed in range(seeds if run else 0):
        for treebank in treebanks.split(","):
            if (treebank, seed, steps) not in done:
                arguments = [str(DATA / "ud" / f"UD_{treebank}"), str(seed), str(steps), str(results)]
                command = [sys.executable, "-W", "ignore", "-m", "benchmarks.confidence", *arguments]
                subprocess.run(command, check=True, env=environment, cwd=ROOT)
    rows = []
    for one in map(json.loads, results.read_text("utf8").splitlines() if results.exists() else []):
        errors = [" -> ".join(f"{value:.1f}" for value in one[name]) for name in ("head_ece", "label_ece", "las_ece")]
        figures = [f"{one[name]:.1f}" for name in ("uas", "las")]
        sets = [f"{one['coverage']:.1f}", f"{one['set_size']:.2f}"]
        ranking = [f"{one['spearman']:.2f}", f"{one['surer_half']:+.1f}"]
        rows.append((one["treebank"], one["seed"], one["steps"], *figures, *errors, *sets, *ranking))
    header = (
        *("treebank", "seed", "steps", "UAS", "LAS", "ECE heads", "ECE labels", "ECE both"),
        *("in 90 % sets", "size", "Spearman", "surer half"),
    )
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 11)))


@app.command()
def calibration(
    folder: Path = typer.Option(DATA / "scores", help="Folder of score files with gold heads"),
    figure: Path = typer.Option(ROOT / "docs" / "calibration.png", help="Where the plot goes (needs matplotlib)"),
    seeds: int = typer.Option(2, help="How often the sentences are halved, to calibrate on one half"),
) -> None:
    """Calibration of head probabilities: expected calibration error, and accuracy of the most confident half.

    Then the same after calibration on one half of the sentences, measured on the other half, and head sets.
    """
    from .calibration import calibrate, cross_fit, plot, reliability

    found = [calibrate(path) for path in sorted(folder.glob("*.npz"))]
    rows = [
        (
            one.treebank,
            f"{100 * one.right.mean():.2f}",
            f"{100 * one.head_prob.mean():.2f}",
            f"{one.accuracy_of_most_confident(0.5):.2f}",
            f"{one.error(one.head_prob):.2f}",
            f"{one.error(one.softmax):.2f}",
        )
        for one in found
    ]
    header = ("treebank", "UAS", "mean head_prob", "UAS of the surer half", "ECE", "ECE softmax")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 5)))
    rows = []
    for path in sorted(folder.glob("*.npz")):
        half = cross_fit(path, seeds)
        errors = (f"{error:.2f}" for error in (half.ece_before, half.ece_after, half.ece_of_perfect))
        figures = (*errors, f"{half.coverage:.1f}", f"{half.size:.2f}")
        rows.append((half.treebank, *figures, f"{half.spearman:.2f}"))
    header = ("on the other half", "ECE", "calibrated", "perfect", "in 90 % head sets", "size", "Spearman of UAS")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 6)))
    for one in found:
        in_use, mean, accuracy, share = reliability(one.head_prob, one.right)
        tenths = [f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}" for tenth in in_use.tolist()]
        rows = [
            (tenth, *(f"{100 * value:.1f}" for value in values))
            for tenth, *values in zip(tenths, share, mean, accuracy, strict=True)
        ]
        header = (one.treebank, "tokens %", "mean head_prob", "right %")
        typer.echo(table(rows, header=header, divider=True, aligns=("l", "r", "r", "r")))
    plot(found, figure)
    typer.echo(f"Wrote {figure}.")


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
