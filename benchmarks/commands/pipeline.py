"""`python -m benchmarks pipeline`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import typer
from wasabi import table

from .options import DATA, ROOT

__all__ = ["pipeline"]


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
    from .. import pipelines

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
        results.write_text(json.dumps(found) + "\n", "utf8")
    for figure in pipelines.FIGURES:
        rows = []
        for name, figures in found.items():
            if values := figures.get(figure):
                rows.append((name, *(_rounded(value) for value in (np.median(values), min(values), max(values)))))
        typer.echo(table(rows, header=(figure, "median", "lowest", "highest"), divider=True, aligns=("l", *"rrr")))


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
