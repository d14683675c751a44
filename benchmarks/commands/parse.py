"""`python -m benchmarks parse`."""

from __future__ import annotations

from pathlib import Path

import typer

__all__ = ["parse"]


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
    from ..parse import report

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
