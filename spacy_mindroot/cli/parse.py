"""`spacy mindroot parse`: parses a corpus into a folder, on one process or many."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from tqdm import tqdm

from ..errors import CorpusError
from ..escapes import printable
from ..tables import text_table
from . import options
from .files import opened_to_write
from .paths import Paths, PathsError, check_paths, model_folder
from .printing import asked, found, say
from .running import command, warn

if TYPE_CHECKING:
    from ..corpora.engine import Engine
    from ..corpora.jobs import ParseSummary

__all__ = ["parse_cli"]

_SHOWN = 5  # drifting shards that are named

Count = StrEnum("Count", "RELATIONS")


@command(tables=True)
def parse_cli(
    model: str = options.model(),
    inputs: list[str] = typer.Argument(..., metavar="IN"),
    out: Path = typer.Option(
        ..., "--out", "--output", "-o", metavar="FOLDER", file_okay=True, callback=options.ending()
    ),
    format: str = typer.Option("conllu", "--format", "-f", metavar="NAME"),
    text_column: str = typer.Option("text", "--text-column", metavar="NAME"),
    id_column: str | None = typer.Option(None, "--id-column", metavar="NAME"),
    paragraphs: bool = typer.Option(False, "--paragraphs"),
    where: list[str] = typer.Option([], "--where", metavar="NAME=VALUE"),
    count: Count | None = typer.Option(None, "--count", metavar="relations"),
    workers: int | None = typer.Option(None, "--workers", "-w", metavar="N", min=1),
    scheduler: str | None = typer.Option(None, "--scheduler", metavar="ADDRESS"),
    shard_words: int = typer.Option(200_000, "--shard-words", metavar="N", min=1),
    part: str | None = typer.Option(None, "--part", metavar="I/N"),
    merge: bool = typer.Option(False, "--merge"),
    retries: int = typer.Option(2, "--retries", metavar="N", min=0),
    confidence: bool = options.confidence("the probability of each head and of each tree"),
    kbest: int = options.kbest(),
    metrics: Path | None = typer.Option(
        None, "--metrics", metavar="FILE", dir_okay=False, callback=options.ending(".json")
    ),
    code: Path | None = options.code(),
    force: bool = typer.Option(False, "--force", "-F"),
) -> None:
    """Parse a corpus, however large, into a folder.

    The input is cut into shards. Each becomes one file, which appears when it is complete. If the command or a worker
    is killed, run the same command again: it parses what is missing.

    FOLDER also gets manifest.json (the pipeline, the settings and the input), manifest.jsonl (each complete shard, with
    its counts and digest), rejected.jsonl (each document that could not be read or parsed, and why) and failed.jsonl
    (each shard that failed). Exit status 1 if a shard failed, or if every document was rejected.

    model: Pipeline that parses: the path of a folder, or the name of an installed package.
    inputs: Files, folders, patterns or URLs (s3://...) of .txt, .jsonl, .conllu, .warc, .wet, .parquet and .spacy; all
        but the last two may be compressed with gzip (.gz) or zstd (.zst, extra `zstd`). WARC needs the extra `warc`.
    out: Folder to write. Run the same command again to go on.
    format: Format of the output: conllu, conllu.gz, spacy, jsonl, parquet, or tokens (Parquet, one word per row).
    text_column: Key or column with the text of a document, in JSON lines or Parquet.
    id_column: Key or column with the id of a document (default: id, if there is one).
    where: Parse only documents that have this value in a key or column, such as lang=en. May be given several times
        (default: all documents).
    count: Write how often each relation occurs (lemma of the head, label, lemma of the dependent, frequency, tab-
        separated) in place of trees (default: write trees).
    paragraphs: Documents in .txt files are separated by empty lines (default: each line is a document).
    workers: Number of processes to parse with. Needs the extra `dask` (default: parse in this process).
    scheduler: Address of a Dask cluster to parse on: tcp://HOST:8786. Needs the extra `dask` (default: none).
    shard_words: About the number of words in a shard, which is one output file.
    part: Parse every Nth shard, from the Ith on, into a folder of its own in FOLDER, as in an array of jobs (default:
        all shards).
    merge: Move what all parts have parsed to FOLDER, as if they had been parsed at once (default: off).
    retries: How often a shard is tried again after its worker has died, or after an error in reading it.
    metrics: File to write counts, times and the memory of each worker to, as JSON (default: none).
    force: Remove what an earlier run has written to FOLDER, and start over (default: off).
    """
    from ..corpora.jobs import Settings
    from ..corpora.parse import run_parse
    from ..corpora.reading import Columns
    from ..corpora.shards import Part
    from ..corpora.sources import local_paths

    pairs = tuple(_pair(text) for text in where)
    columns = Columns(text_column, id_column, paragraphs, pairs)
    settings = Settings(count or format, columns, confidence, kbest, shard_words)
    try:
        if count is not None and format != "conllu":
            raise PathsError("--count writes frequencies, and --format is for trees. Choose one of them.")
        if workers is not None and scheduler is not None:
            raise PathsError("--workers starts processes, and --scheduler uses a cluster. Choose one of them.")
        if merge and (workers is not None or scheduler is not None):
            raise PathsError(
                "--merge moves files in this process: it goes neither with --workers nor with --scheduler."
            )
        reads: dict[str, Paths] = {"MODEL": model_folder(model), "--code": code}
        check_paths(reads, {"--out": out}, made="--out")
        if metrics is not None or asked.json is not None:
            check_paths({"IN": local_paths(inputs), **reads, "--out": out}, {"--metrics": metrics})
        with _engine(workers, scheduler, retries, code) as engine:
            own = None if part is None else Part.from_text(part)
            summary = run_parse(
                *(engine, model, inputs, out, settings),
                part=own,
                merge=merge,
                force=force,
                progress=not asked.quiet,
                warn=warn,
            )
        out = out if own is None else out / own.folder
        if metrics is not None:
            with opened_to_write(metrics) as file:
                file.write(json.dumps(summary.to_json(), indent=1).encode() + b"\n")
    except (KeyboardInterrupt, SystemExit) as error:  # of a signal
        typer.echo("\nInterrupted. What is complete stays; run the same command again to parse the rest.", err=True)
        for note in getattr(error, "__notes__", []):
            typer.echo(note, err=True)
        raise typer.Exit(getattr(error, "code", 128 + signal.SIGINT)) from None
    say(_table(summary))
    found(summary.to_json())
    rejected, failed = printable(out / "rejected.jsonl"), printable(out / "failed.jsonl")
    if summary.rejected:
        warn(f"{_counted(summary.rejected, 'document')} rejected: see {rejected}.")
    if summary.notes:
        notes = _counted(summary.notes, "note")
        warn(f"{notes} on texts or sentences that are too long, or empty: see {rejected}.")
    if where and summary.parsed and not summary.documents and not summary.rejected:
        warn(f"no document was parsed that has {' and '.join(where)}. Look at the values (--where).")
    if summary.drifting:
        shown = ", ".join(f"{name} ({uas:.1%})" for name, (uas, _) in list(summary.drifting.items())[:_SHOWN])
        middle = next(iter(summary.drifting.values()))[1]
        warn(
            f"{_counted(len(summary.drifting), 'shard')} drift{'s' * (len(summary.drifting) == 1)} from the others in "
            f"expected UAS, {middle:.1%} in the median: {shown}{', ...' * (len(summary.drifting) > _SHOWN)}. Look at "
            "the text."
        )
    if summary.failed:
        shards = _counted(summary.failed, "shard")
        raise CorpusError(f"{shards} failed: see {failed}. Run the same command again to try them once more.")
    if summary.rejected and not summary.documents and not summary.complete_before:
        raise CorpusError("every document was rejected.")


@contextmanager
def _engine(workers: int | None, scheduler: str | None, retries: int, code: Path | None) -> Iterator[Engine]:
    from ..corpora.engine import DaskEngine, open_engine

    with open_engine(workers=workers, scheduler=scheduler, retries=retries) as engine:
        if isinstance(engine, DaskEngine):
            client = engine.client
            if code is not None:
                client.upload_file(str(code))  # workers import it, those that start later as well
            if client.dashboard_link and find_spec("bokeh") is not None:  # which Dask does not bring along
                say(f"Dashboard: {client.dashboard_link}", err=True)
            if scheduler is not None and not client.nthreads():
                say("The cluster has no workers yet. Waiting for the first.", err=True)
        yield engine


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--where")
    return name, value


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
        ("Time", tqdm.format_interval(summary.seconds)),
    ]
    if summary.seconds and summary.words:
        rows.append(("Words per second", f"{summary.words / summary.seconds:,.0f}"))
    return text_table(rows)
