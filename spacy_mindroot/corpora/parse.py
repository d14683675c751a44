"""Parses a corpus: plans it, runs what is missing, keeps the manifest, and shows how far it is."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..errors import CorpusError, CountError
from ..escapes import printable
from .drift import drifting
from .engine import Engine, open_engine
from .folder import OutputFolder
from .jobs import Job, ParseSummary, Settings, WorkerFacts
from .merging import Parts
from .pipelines import Identity
from .reading import WITH_COLUMNS, Columns, check_packages, estimate_bytes_per_word
from .shards import Part, Shard, Source, import_parquet, plan_sources, same_sources
from .sources import Found, find_files, looks_wrapped
from .writing import WRITERS

__all__ = ["Progress", "parse_corpus", "run_parse"]

_LINE_SECONDS = 60.0  # between two lines of progress where there is no terminal


def parse_corpus(
    model: str | Path,
    inputs: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    client: Any = None,
    workers: int | None = None,
    format: str = "conllu",
    text_column: str = "text",
    id_column: str | None = None,
    paragraphs: bool = False,
    where: Mapping[str, str] | None = None,
    confidence: bool = False,
    kbest: int = 1,
    shard_words: int = 200_000,
    part: str | None = None,
    merge: bool = False,
    retries: int = 2,
    force: bool = False,
    progress: bool = False,
) -> ParseSummary:
    """Parse a corpus shard by shard, and return a summary. `spacy mindroot parse` does the same.

    A run that is interrupted or killed can be repeated with the same arguments: it parses what is missing. It may run
    in this process, in processes of its own, or on the workers of any Dask cluster.

    Parameters
    ----------
    model : str or Path
        Name of a package, or path of a folder: a pipeline that every worker can load.
    inputs : str, Path, or sequence of them
        Files, folders, patterns (``corpus/*.jsonl``) and URLs (``s3://...``).
    out : str or Path
        The folder to write. All workers must see it under the same path.
    client : distributed.Client, optional
        The client of a cluster. Without it, shards are parsed in this process.
    workers : int, optional
        Number of processes to start on this machine, instead of a client.
    format : str
        ``"conllu"``, ``"conllu.gz"``, ``"spacy"``, ``"jsonl"``, ``"parquet"``, ``"tokens"`` or ``"relations"``.
    text_column, id_column : str
        Keys in JSON lines, or columns in Parquet, with the text and the id of a document. If `id_column` is None, it is
        ``"id"``, if there is one.
    paragraphs : bool
        Whether documents in text files are separated by empty lines. If False, each line is a document.
    where : mapping of str to str, optional
        Names and values of keys or columns. Documents that have another value are left out.
    confidence : bool
        Whether to write the probability of each head and each tree.
    kbest : int
        Number of best trees to write for each sentence.
    shard_words : int
        About the number of words in a shard.
    part : str, optional
        ``"17/1000"`` parses every 1000th shard, from the 17th on, into a folder of its own in `out`.
    merge : bool
        Whether to move what all parts have parsed to `out`, as if it had been parsed at once, in place of parsing.
    retries : int
        How often a shard is tried again after an error in reading it and, with `workers`, after its worker has died.
        On a cluster of your own, its setting ``distributed.scheduler.allowed-failures`` is used for the latter.
    force : bool
        Whether to remove what an earlier run has written to `out` and start over.
    progress : bool
        Whether to show the progress on standard error.

    Returns
    -------
    ParseSummary
        The counts. Failed shards and rejected documents raise no error.

    Raises
    ------
    CountError
        If a number is too small.
    CorpusError
        If there is no input, if the folder has parses of another pipeline, of other input or with other settings, if
        workers have different pipelines, or if the output can't be written.
    """
    columns = Columns(text_column, id_column, paragraphs, tuple((where or {}).items()))
    settings = Settings(format, columns, confidence, kbest, shard_words)
    given = [str(path) for path in ([inputs] if isinstance(inputs, str | Path) else inputs)]
    if merge and (workers is not None or client is not None):
        raise CorpusError("merge=True moves files in this process. It goes neither with workers nor with a client.")
    with open_engine(workers=workers, client=client, retries=retries) as engine:
        own = None if part is None else Part.from_text(part)
        return run_parse(
            engine, str(model), given, Path(out), settings, part=own, merge=merge, force=force, progress=progress
        )


def run_parse(
    engine: Engine,
    model: str,
    inputs: Sequence[str],
    out: Path,
    settings: Settings,
    *,
    part: Part | None = None,
    merge: bool = False,
    force: bool = False,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
) -> ParseSummary:
    """Parse a corpus on an engine. See `parse_corpus`."""
    _check_settings(settings)
    if merge and (force or part is not None):
        raise CorpusError("--merge moves what all parts have parsed. It goes neither with --part nor with --force.")
    found = find_files(inputs, warn)
    _check_paths(found, out)
    _check_columns(found, settings)
    model = os.path.abspath(model) if os.path.exists(model) else model
    if merge:
        return _merge(engine, model, out, settings, found, progress)
    check_packages(found)
    out = out if part is None else out / part.folder
    first = next((file for file in found if file.format == "text"), None)
    if first is not None and not settings.columns.paragraphs and looks_wrapped(first):
        warn(
            f"{printable(first.path)} seems to have paragraphs of several lines, and each line is parsed as a "
            "document. With --paragraphs, a document ends at an empty line."
        )
    if settings.ending.endswith("parquet"):
        import_parquet()
    with OutputFolder(out, part) as folder:
        resumed = folder.begun and not force
        if resumed:
            _check_same(folder, settings, found)
        facts = engine.identify(model, settings, str(folder.path))
        _check_facts(facts, folder, warn)
        identity = facts.identity
        if resumed:
            assert folder.identity is not None
            _check_pipeline(folder, identity)
            identity = folder.identity
            sources = [
                replace(source, path=file.path) if source.digest else _planned([file], settings)[0]
                for source, file in zip(folder.sources, found, strict=True)
            ]
        else:
            folder.start_over()
            sources = _planned(found, settings)
        folder.begin(identity, settings, sources)
        return _run(engine, model, folder, progress)


def _merge(
    engine: Engine, model: str, out: Path, settings: Settings, found: Sequence[Found], progress: bool
) -> ParseSummary:
    """Move what all parts have parsed to the folder of the output."""
    if not out.is_dir():
        raise CorpusError(f"There is no folder {out}, so there are no parts to merge.")
    with OutputFolder(out) as folder:
        parts = Parts(folder.path)
        parts.lead(folder)
        _check_same(folder, settings, found)
        assert folder.identity is not None
        _check_pipeline(folder, engine.identify(model, settings, str(folder.path)).identity)
        if not folder.begun:  # so nothing is left behind
            parts.check_complete(folder)
        folder.begin(folder.identity, folder.settings, folder.sources)
        parts.check_complete(folder)
        summary = _run(parts, "", folder, progress)
        parts.remove()
    return summary


def _planned(found: Sequence[Found], settings: Settings) -> list[Source]:
    return plan_sources(
        found, settings.shard_words, lambda first, kind: estimate_bytes_per_word(first, kind, settings.columns)
    )


def _check_settings(settings: Settings) -> None:
    if settings.format not in WRITERS:
        raise CorpusError(f"The format is {settings.format!r}. It must be one of {', '.join(WRITERS)}.")
    for name, value in (("shard_words", settings.shard_words), ("kbest", settings.kbest)):
        if value < 1:
            raise CountError(f"{name} is {value}. It must be 1 or more.")
    if settings.kbest > 1 and settings.format in ("relations", "tokens"):
        raise CorpusError(f"The format {settings.format} has the best tree of each sentence only, so kbest must be 1.")


def _check_columns(found: Sequence[Found], settings: Settings) -> None:
    without = next((file.path for file in found if file.format not in WITH_COLUMNS), None)
    if settings.columns.where and without is not None:
        raise CorpusError(f"--where chooses documents by their columns, and {without} has none.")
    formats, columns, default = {file.format for file in found}, settings.columns, Columns()
    if (columns.text, columns.id) != (default.text, default.id) and not formats & {"jsonl", "parquet"}:
        raise CorpusError("--text-column and --id-column are for JSON lines and Parquet, and the input has neither.")
    if columns.paragraphs and "text" not in formats:
        raise CorpusError("--paragraphs is for .txt files, and the input has none.")


def _check_paths(found: Sequence[Found], out: Path) -> None:
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(out)):  # of a Path, one slash is left
        raise CorpusError(f"--out {out} is a URL. Output goes to a folder, which all workers see under the same path.")
    folder = os.path.abspath(out)
    inside = next((file.path for file in found if file.path.startswith(folder + os.sep)), None)
    if inside is not None:
        raise CorpusError(f"{inside} is in --out, so the output would be input as well. Choose another folder.")


def _check_same(folder: OutputFolder, settings: Settings, found: Sequence[Found]) -> None:
    """Raise CorpusError unless settings and input are those of the run that has begun the folder."""
    before, now = asdict(folder.settings), asdict(settings)
    for name in now:
        if before.get(name) != now[name]:
            then = f"{name} = {_shown(before.get(name))}"
            raise _other_run(folder, f"was begun with {then}, and this run has {_shown(now[name])}")
    difference = same_sources(folder.sources, found)
    if difference:
        raise _other_run(folder, f"was begun with other input: {difference}")


def _check_pipeline(folder: OutputFolder, identity: Identity) -> None:
    """Raise CorpusError unless a pipeline is the one whose parses the folder has, or gets from its parts."""
    assert folder.identity is not None
    difference = folder.identity.difference(identity)
    if difference:
        raise _other_run(folder, f"has parses of another pipeline: {difference}")


def _other_run(folder: OutputFolder, how: str) -> CorpusError:
    return CorpusError(f"{folder.path} {how}. Choose another folder, or start over with --force.")


def _shown(value: object) -> str:
    return ", ".join(f"{k} {v!r}" for k, v in value.items()) if isinstance(value, dict) else repr(value)


def _check_facts(facts: WorkerFacts, folder: OutputFolder, warn: Callable[[str], None]) -> None:
    if not facts.sees_output:
        raise CorpusError(
            f"Worker {facts.worker} does not see {folder.path}. Choose a folder that all machines see under the same "
            "path."
        )
    if facts.malloc_trim:
        warn(
            f"Worker {facts.worker} has the variable MALLOC_TRIM_THRESHOLD_, which Dask sets. Parsing may take 1.5 "
            "times as much CPU time with it. Start the workers without it (in Dask's configuration: "
            "distributed.nanny.pre-spawn-environ)."
        )


def _run(engine: Engine, model: str, folder: OutputFolder, show: bool) -> ParseSummary:
    began = time.perf_counter()
    summary = ParseSummary()
    size = done_size = 0
    for shard in folder.shards():
        summary.shards += 1
        size += shard.size
        if shard.name in folder.complete:
            summary.complete_before += 1
            done_size += shard.size
    failed: list[tuple[Shard, str]] = []
    progress = Progress(summary, size, done_size, shown=show)
    jobs = (
        Job(shard, model, folder.settings, str(folder.path), folder.output_of(shard), folder.identity)
        for shard in folder.remaining()
    )
    try:
        for outcome in engine.run(jobs, lambda: progress.update(engine.workers)):
            shard, record = outcome.job.shard, outcome.record
            if record is not None and record.mismatch:
                raise CorpusError(
                    f"Worker {record.worker} has another pipeline than this run: {record.mismatch}. Install the same "
                    "on all workers, and run the same command again."
                )
            if record is None:
                failed.append((shard, outcome.reason))
                summary.failed += 1
            else:
                folder.add(record)
                summary.add(record)
            progress.done_size += shard.size
            progress.update(engine.workers)
        folder.finish(failed)
        summary.drifting = drifting(folder.complete.values())
    finally:
        progress.close()
        summary.seconds = round(time.perf_counter() - began, 3)
    return summary


class Progress:
    """Shows the state of a run on standard error: a bar on a terminal, one line per minute elsewhere.

    size, done_size (int): Bytes of input, of all shards and of those that are finished, in this run or before it.
    """

    def __init__(self, summary: ParseSummary, size: int = 0, done_size: int = 0, *, shown: bool = True) -> None:
        self.summary = summary
        self.size, self.done_size = size, done_size
        self._began = self._last = time.monotonic()
        self._before = done_size  # finished by earlier runs
        self._bar: Any = None
        self._shown = shown and sys.stderr is not None
        if self._shown and sys.stderr.isatty():
            form = "{percentage:3.0f}%|{bar}| {desc}"
            self._bar = tqdm(total=size, initial=done_size, bar_format=form, leave=False)

    def update(self, workers: int) -> None:
        """Show the state, if it is time to."""
        if not self._shown:
            return
        now = time.monotonic()
        if self._bar is not None:
            self._bar.n = self.done_size
            self._bar.set_description_str(self.line(workers), refresh=True)
        elif now - self._last >= _LINE_SECONDS:
            self._last = now
            share = self.done_size / self.size if self.size else 1.0
            print(f"{share:4.0%}  {self.line(workers)}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()

    def line(self, workers: int) -> str:
        """Return the state in words."""
        summary = self.summary
        finished = summary.complete_before + summary.parsed + summary.failed
        seconds = max(time.monotonic() - self._began, 1e-9)
        parts = [
            f"{summary.words:,} words",
            f"{summary.words / seconds:,.0f} words/s",
            f"{workers} worker{'s' if workers != 1 else ''}",
            f"{finished:,} of {summary.shards:,} shards",
        ]
        if summary.rejected:
            parts.append(f"{summary.rejected:,} rejected")
        if summary.failed:
            parts.append(f"{summary.failed:,} failed")
        done = self.done_size - self._before
        if done:
            parts.append(f"{tqdm.format_interval(seconds / done * (self.size - self.done_size))} left")
        return ", ".join(parts)
