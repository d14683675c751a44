"""The benchmarks: `python -m benchmarks --help` lists them. Figures are medians and ratios within one run."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
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
    treebank: str = typer.Option("UD_Afrikaans-AfriBooms", help="UD treebank in the data folder"),
    rounds: int = typer.Option(3, help="Fresh processes of each contestant, in turn"),
    repeats: int = typer.Option(5, help="Runs over the test set in each process"),
    only: str = typer.Option("", help="Only contestants whose name contains one of these, separated by semicolons"),
    other: Path | None = typer.Option(None, help="Interpreter of another installation, to measure its pipelines, too"),
    other_configs: Path | None = typer.Option(None, help="Folder of that installation's configs"),
    results: Path = typer.Option(ROOT / "benchmarks/results/pipelines.json", help="Where the figures are written"),
    run: bool = typer.Option(True, help="With --no-run, only the table is printed"),
) -> None:
    """Speed and memory of whole pipelines as installed: ours, spaCy's tok2vec and parser, and UDPipe 1.

    Each is trained, loaded and measured in fresh processes, without environment variables that set products or threads.
    """
    from . import pipelines

    found: dict[str, dict[str, list[float]]] = json.loads(results.read_text("utf8")) if not run else {}
    if run:
        chosen = [c for c in pipelines.contestants(other, other_configs) if any(n in c.name for n in only.split(";"))]
        for contestant in list(chosen):
            if why := pipelines.missing(contestant):
                typer.echo(f"Not measured: {why}")
                chosen.remove(contestant)
        for number, name, figures in pipelines.measure_pipelines(chosen, DATA / "ud" / treebank, rounds, repeats):
            speed = figures["sentences, words per CPU second"]
            typer.echo(f"round {number + 1}, {name}: {speed:,.0f} words per CPU second")
            for figure, value in figures.items():
                found.setdefault(name, {}).setdefault(figure, []).append(value)
        results.parent.mkdir(parents=True, exist_ok=True)
        results.write_text(json.dumps(found, indent=1) + "\n", "utf8")
    for figure in pipelines.FIGURES:
        rows = []
        for name, figures in found.items():
            if values := figures.get(figure):
                rows.append((name, *(_rounded(value) for value in (np.median(values), min(values), max(values)))))
        typer.echo(table(rows, header=(figure, "median", "lowest", "highest"), divider=True, aligns=("l", *"rrr")))


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@app.command()
def gpu(
    steps: int = typer.Option(100, help="Training steps on each device"),
    batch: int = typer.Option(64, help="Sentences of a batch"),
    treebank: str = typer.Option("UD_Afrikaans-AfriBooms", help="UD treebank in the data folder"),
    config: Path = typer.Option(ROOT / "configs" / "cpu-accurate.cfg", help="Config of the pipeline"),
) -> None:
    """Layers, losses, training and speed on a GPU (CupyOps) against the CPU (NumpyOps).

    It needs cupy and a CUDA device, and exits with 1 if anything differs or there is no GPU.
    """
    from spacy import util
    from thinc.api import CupyOps, NumpyOps
    from thinc.compat import has_cupy_gpu

    from . import gpu as device
    from .pipelines import read

    if not has_cupy_gpu:
        typer.echo(
            "There is no GPU that cupy finds, so nothing was measured. Install cupy for your version of CUDA "
            "(https://docs.cupy.dev/en/stable/install.html) on a machine with a CUDA device."
        )
        raise typer.Exit(1)
    host, other = NumpyOps(), CupyOps()
    found = list(device.compare(host, other))
    rows = [(name, f"{error:.1e}", "" if error < device.TOLERANCE else "DIFFERS") for name, error in found]
    typer.echo(table(rows, header=("CupyOps against NumpyOps", "largest difference", ""), divider=True))
    gold = read(next((DATA / "ud" / treebank).glob("*-ud-train.conllu")))
    texts = [[token.text for token in doc] for doc in read(next((DATA / "ud" / treebank).glob("*-ud-test.conllu")))]
    rows = []
    for ops in (host, other):
        nlp, losses, training = device.train(util.load_config(config), gold, ops, steps, batch)
        _, parsing, transfers = device.predict(nlp, texts, ops, batch)
        figures = (losses[0], losses[-1], training, parsing)
        rows.append((type(ops).__name__, *(f"{figure:,.0f}" for figure in figures), f"{transfers:.2f}"))
    header = ("", "first loss", f"loss {steps}", "words/s in training", "words/s parsing", "transfers per batch")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 5)))
    if any(error >= device.TOLERANCE for _, error in found):
        raise typer.Exit(1)


# The options of `train` and `losses`.
Treebanks = Annotated[str, typer.Option(help="UD treebanks in the data folder, by commas")]
Seeds = Annotated[int, typer.Option(help="Runs of each parser on each treebank")]
Seconds = Annotated[float, typer.Option(help="CPU seconds of a run, evaluation on the development set included")]
Results = Annotated[
    Path, typer.Option(help="Where the runs are noted, one a line; those that are there are not run again")
]
Run = Annotated[bool, typer.Option(help="With --no-run, only the table is printed")]


@app.command()
def parse(
    model: str = typer.Argument(..., help="Pipeline"),
    text: Path = typer.Argument(..., help="Text file with one document per line, which is repeated"),
    words: int = typer.Option(2_000_000, help="Words to parse with no, one and two workers"),
    pairs: int = typer.Option(5, help="Pairs of runs of nlp.pipe and parse_corpus"),
    shards: int = typer.Option(500, help="Shards of one word each, to measure what a shard costs"),
    scheduler_shards: int = typer.Option(200_000, help="Shards that take no time, to measure the scheduler"),
    scheduler_seconds: float = typer.Option(300, help="When to stop measuring the scheduler"),
) -> None:
    """Cost, memory and limits of `spacy mindroot parse`."""
    from .parse import report

    for line in report(
        model,
        text,
        words=words,
        pairs=pairs,
        shards=shards,
        scheduler_shards=scheduler_shards,
        scheduler_seconds=scheduler_seconds,
    ):
        print(line, flush=True)


@app.command()
def chaos(
    model: str = typer.Argument(..., help="Pipeline"),
    text: Path = typer.Argument(..., help="Text file with one document per line"),
    words: int = typer.Option(2000, help="Words per shard"),
    kills: int = typer.Option(20, help="Runs in which a worker is killed"),
    command_kills: int = typer.Option(5, help="Runs in which the command is killed, and repeated"),
    seed: int = typer.Option(0, help="Of the times"),
) -> None:
    """Kill workers and the command at random times; the outputs must be the same, byte for byte."""
    from .chaos import chaos as run

    lines = list(run_and_print(run(model, text, words=words, kills=kills, command_kills=command_kills, seed=seed)))
    raise typer.Exit(any("DIFFERS" in line for line in lines))


def run_and_print(lines: Iterable[str]) -> Iterator[str]:
    """Print lines as they come."""
    for line in lines:
        print(line, flush=True)
        yield line


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
def rules(
    pairs: list[Path] = typer.Argument(None, help="PIPELINE GOLD, in turn: trained pipelines, and CoNLL-U files"),
    times: bool = typer.Option(False, help="Measure the time of `mind_root` with the pipelines"),
    models: Path | None = typer.Option(None, help="Train our scorer, keep it in this folder, and use its scores"),
    seconds: float = typer.Option(60.0, help="CPU seconds of training"),
    only: str = typer.Option("", help="Only treebanks whose name has one of these in it, by commas"),
    stanza: Path | None = typer.Option(None, help="Unpacked wheel of Stanza, to compare with its repair"),
) -> None:
    """Trees under rules: violations, accuracy, certified optimality and time, by treebank.

    Uses the pipelines given, or the score files in the data folder, or our own scorer with the scores of all labels.
    """
    from .rules import CLASSES, against_stanza, load, measure, read_scored, score_with, time_mind_root, train_and_save

    if pairs and len(pairs) % 2:
        raise typer.BadParameter("give a gold file for each pipeline.")
    given = list(zip(pairs[::2], pairs[1::2], strict=True)) if pairs else None
    paths = sorted((DATA / "scores").glob("*.npz"))
    if only:
        paths = [path for path in paths if any(part in path.stem for part in only.split(","))]
    differences: dict[str, list[float]] = defaultdict(list)
    for path, gold in given or [(path, DATA) for path in paths]:
        nlp, title = None, path.stem
        if given is not None:
            nlp, title = load(path), f"{path.name} {gold.stem}"
        elif models is not None:
            source = DATA / "ud" / f"UD_{path.stem}"
            (gold,) = source.glob("*-ud-test.conllu")
            nlp = train_and_save(source, models, seconds)
        names, sentences, learnt = read_scored(path, DATA / "ud") if nlp is None else score_with(nlp, gold)
        found = measure(names, sentences, learnt)
        rows = []
        for name, outcome in found.items():
            counts = (outcome.of_class(kind) for kind in CLASSES)
            if name == "gold":
                rows.append((name, *[""] * 6, *counts))
                continue
            differences[name].append(outcome.las - found["single-rooted"].las)
            rows.append(
                (
                    name,
                    f"{outcome.uas:.2f}",
                    f"{outcome.las:.2f}",
                    f"{outcome.certified}/{outcome.sentences}",
                    f"{np.mean(outcome.nodes):.2f}, {max(outcome.nodes)}",
                    f"{1e6 * np.mean(outcome.seconds):.0f}",
                    f"{1e3 * max(outcome.seconds):.1f}",
                    *counts,
                )
            )
        header = (title, "UAS", "LAS", "certified", "nodes: mean, most", "us", "worst ms", *CLASSES)
        typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 11), max_col=18))
        if nlp is not None and times:
            for setting, mean, worst, stream in time_mind_root(nlp, gold):
                typer.echo(
                    f"mind_root, rules = {setting}: {1e6 * mean:.0f} us per sentence, worst {1e3 * worst:.1f} ms; "
                    f"in a stream {1e6 * stream:.0f} us"
                )
        if stanza is not None:
            typer.echo(f"Against Stanza: {against_stanza(names, sentences, stanza)}")
    for name, values in differences.items():
        typer.echo(f"{name}: LAS {np.mean(values):+.3f} against single-rooted, mean of {len(values)} treebanks")


@app.command()
def validator(
    only: str = typer.Option("", help="Only treebanks whose name has one of these in it, by commas"),
) -> None:
    """Errors of the UD validator (`udvalidate`), level 3: of gold trees, single-rooted trees, and trees under rules."""
    from .rules import CLASSES, validated

    for path in sorted((DATA / "scores").glob("*.npz")):
        if only and not any(part in path.stem for part in only.split(",")):
            continue
        rows = [(way, *(found[kind] for kind in CLASSES), found.total()) for way, found in validated(path, DATA / "ud")]
        header = (path.stem, *CLASSES, "all")
        typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 6), max_col=18))


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


@app.command()
def training_size(
    treebanks: Treebanks = "Irish-IDT,Afrikaans-AfriBooms,Vietnamese-VTB",
    sizes: str = typer.Option("20,50,100,200,400,0", help="Training sentences, by commas; 0 for all"),
    seeds: Seeds = 3,
    optimize: str = typer.Option("efficiency", help="Config of init-config: efficiency or accuracy"),
    results: Results = ROOT / "benchmarks/results/training-size.jsonl",
    figure: Path = typer.Option(ROOT / "docs" / "training-size.png", help="Where the plot goes (needs matplotlib)"),
    run: Run = True,
) -> None:
    """Confidence against training size, with each of the three losses; all runs but those that are noted already.

    Parsers see words alone: tags, heads and labels of the test sets are predicted.
    """
    from .training_size import means, plot, read_runs, run_all

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
    plot(runs, figure)
    typer.echo(f"Wrote {figure}.")


@app.command()
def correction(
    treebanks: Treebanks = "Irish-IDT,Afrikaans-AfriBooms,Vietnamese-VTB",
    first: int = typer.Option(100, help="Sentences whose heads are all known from the start"),
    new: int = typer.Option(400, help="Sentences of which some heads are annotated"),
    steps: int = typer.Option(1500, help="Training steps of each parser"),
    shares: str = typer.Option("0.05,0.1,0.2,0.4", help="Shares of their tokens that are annotated, by commas"),
    orders: str = typer.Option(
        "random tokens,rank --by token,random sentences,rank --by sentence", help="What to annotate, by commas"
    ),
    seeds: Seeds = 3,
    results: Results = ROOT / "benchmarks/results/correction.jsonl",
    run: Run = True,
) -> None:
    """Simulate annotators who give heads in the order of `spacy mindroot rank`, or at random; and train again."""
    from .correction import simulate_all, simulated_means
    from .training_size import read_runs

    numbers = [float(share) for share in shares.split(",")]
    settings = {
        "first": first,
        "new": new,
        "steps": steps,
        "seeds": seeds,
        "orders": orders.split(","),
        "shares": numbers,
    }
    for one in (
        simulate_all(DATA, treebanks.split(","), **settings, orders=orders.split(","), results=results) if run else ()
    ):
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


@app.command()
def suspect(
    treebanks: Treebanks = "Afrikaans-AfriBooms,Irish-IDT",
    most: int = typer.Option(100_000, help="Sentences of the training part of each"),
    folds: int = typer.Option(5, help="As of `spacy mindroot suspect`"),
    steps: int = typer.Option(600, help="As of `spacy mindroot suspect`"),
    optimize: str = typer.Option("efficiency", help="As of `spacy mindroot suspect`"),
    seed: int = typer.Option(1, help="Seed of the corrupted heads, the folds and the parsers"),
    results: Results = ROOT / "benchmarks/results/suspect.jsonl",
    run: Run = True,
) -> None:
    """Corrupt 1 % of the gold heads of treebanks, and count how many are among the first 1 % of the suspects."""
    from .correction import detect
    from .training_size import read_runs

    for treebank in treebanks.split(",") if run else ():
        (path,) = (DATA / "ud" / f"UD_{treebank}").glob("*-ud-train.conllu")
        found = detect(path, most=most, optimize=optimize, folds=folds, steps=steps, seed=seed)
        results.parent.mkdir(parents=True, exist_ok=True)
        with open(results, "a", encoding="utf8") as file:
            file.write(json.dumps(asdict(found)) + "\n")
    for each in read_runs(results):
        typer.echo(", ".join(f"{name} {value}" for name, value in each.items()))


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


if __name__ == "__main__":
    app()
