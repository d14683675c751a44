"""`spacy mindroot parse`: parses a corpus into a folder, on one process or many."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from wasabi import table

from ..corpora.engine import DaskEngine, Engine, open_engine
from ..corpora.jobs import ParseSummary, Settings
from ..corpora.parse import run_parse
from ..corpora.progress import duration
from ..corpora.reading import Columns
from ..corpora.sources import local_paths
from .corpora import warn
from .files import PathsError, check_paths, errors_as_messages, model_folder, opened_to_write, printable
from .signals import raised_signals

__all__ = ["run"]


class _Interrupted(BaseException):
    """SIGINT, SIGTERM or SIGHUP."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run(
    model: str,
    inputs: Sequence[str],
    out: Path,
    *,
    format: str,
    text_column: str,
    id_column: str | None,
    paragraphs: bool,
    workers: int | None,
    scheduler: str | None,
    shard_words: int,
    retries: int,
    confidence: bool,
    kbest: int,
    metrics: Path | None,
    code: Path | None,
    force: bool,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot parse --help`."""
    columns = Columns(text_column, id_column, paragraphs)
    settings = Settings(format, columns, confidence, kbest, shard_words)
    try:
        with raised_signals(("SIGINT", "SIGTERM", "SIGHUP"), _Interrupted), errors_as_messages():
            if workers is not None and scheduler is not None:
                raise PathsError("--workers starts processes, and --scheduler uses a cluster. Choose one of them.")
            check_paths({"MODEL": model_folder(model)}, {"--out": out}, made="--out")
            if metrics is not None:
                check_paths(
                    {"IN": local_paths(inputs), "MODEL": model_folder(model), "--out": out, "--code": code},
                    {"--metrics": metrics},
                )
            with _engine(workers, scheduler, retries, code) as engine:
                summary = run_parse(engine, model, inputs, out, settings, force=force, progress=True, warn=warn)
            if metrics is not None:
                with opened_to_write(metrics) as file:
                    file.write(json.dumps(summary.to_json(), indent=1).encode() + b"\n")
    except _Interrupted as error:
        typer.echo("\nInterrupted. What is complete stays; run the same command again to parse the rest.", err=True)
        for note in getattr(error, "__notes__", []):
            typer.echo(note, err=True)
        raise typer.Exit(128 + error.number) from None
    with errors_as_messages():
        typer.echo(_table(summary))
        if summary.rejected:
            warn(f"{_counted(summary.rejected, 'document')} rejected: see {printable(out / 'rejected.jsonl')}.")
        if summary.notes:
            warn(
                f"{_counted(summary.notes, 'note')} on texts or sentences that are too long, or empty: see "
                f"{printable(out / 'rejected.jsonl')}."
            )
        if summary.failed:
            typer.secho(
                f"Error: {_counted(summary.failed, 'shard')} failed: see {printable(out / 'failed.jsonl')}. Run the "
                "same command again to try them once more.",
                fg="red",
                err=True,
            )
            raise typer.Exit(1)
        if summary.rejected and not summary.documents and not summary.complete_before:
            typer.secho("Error: every document was rejected.", fg="red", err=True)
            raise typer.Exit(1)


@contextmanager
def _engine(workers: int | None, scheduler: str | None, retries: int, code: Path | None) -> Iterator[Engine]:
    with open_engine(workers=workers, scheduler=scheduler, retries=retries) as engine:
        if isinstance(engine, DaskEngine):
            if code is not None:
                engine.client.upload_file(str(code))  # workers import it, those that start later as well
            link = _dashboard(engine.client)
            if link:
                typer.echo(f"Dashboard: {link}", err=True)
            if scheduler is not None and not engine.client.nthreads():
                typer.echo("The cluster has no workers yet. Waiting for the first.", err=True)
        yield engine


def _dashboard(client: Any) -> str:
    """Return the address of the dashboard; "" if there is none. It needs a package that Dask does not bring along."""
    return str(client.dashboard_link or "") if find_spec("bokeh") is not None else ""


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name}{'s' if number != 1 else ''}"


def _table(summary: ParseSummary) -> str:
    rows = [
        ("Shards", f"{summary.shards:,}"),
        ("Complete before", f"{summary.complete_before:,}"),
        ("Parsed now", f"{summary.parsed:,}"),
        ("Documents", f"{summary.documents:,}"),
        ("Sentences", f"{summary.sentences:,}"),
        ("Words", f"{summary.words:,}"),
        ("Rejected documents", f"{summary.rejected:,}"),
        ("Failed shards", f"{summary.failed:,}"),
        ("Time", duration(summary.seconds)),
    ]
    if summary.seconds and summary.words:
        rows.append(("Words per second", f"{summary.words / summary.seconds:,.0f}"))
    return str(table(rows, aligns=("l", "r"), max_col=60))
