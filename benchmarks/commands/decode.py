"""`python -m benchmarks decode`."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from pathlib import Path

import typer
from wasabi import table

from ..contestants import FLOOR
from ..decoding import Result
from .options import DATA, ROOT

__all__ = ["decode"]


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
    from ..contestants import CONTESTANTS
    from ..decoding import pin_to_one_core, time_decoders, time_score_file, time_threads

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
    lines = json.dumps(record).replace('}, {"contestant"', '},\n{"contestant"')
    results.write_text(lines + "\n", "utf8")
    if plot:
        from ..plots import plot_decoders

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
