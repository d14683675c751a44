"""`python -m benchmarks chaos`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import typer

__all__ = ["chaos"]


def chaos(
    model: str = typer.Argument(..., help="Pipeline"),
    text: Path = typer.Argument(..., help="Text file with one document per line"),
    words: int = typer.Option(2000, help="Words per shard"),
    kills: int = typer.Option(20, help="Runs in which a worker is killed"),
    command_kills: int = typer.Option(5, help="Runs in which the command is killed, and repeated"),
    seed: int = typer.Option(0, help="Of the times"),
) -> None:
    """Kill workers and the command at random times; the outputs must be the same, byte for byte."""
    from ..chaos import chaos as run

    lines = list(run_and_print(run(model, text, words=words, kills=kills, command_kills=command_kills, seed=seed)))
    raise typer.Exit(any("DIFFERS" in line for line in lines))


def run_and_print(lines: Iterable[str]) -> Iterator[str]:
    """Print lines as they come."""
    for line in lines:
        print(line, flush=True)
        yield line
