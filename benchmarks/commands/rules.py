"""`python -m benchmarks rules`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import typer
from wasabi import table

from .options import DATA

__all__ = ["rules"]


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
    from ..rules import CLASSES, against_stanza, load, measure, read_scored, score_with, time_mind_root, train_and_save

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
