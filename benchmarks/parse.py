"""Parsing a corpus in shards: what it costs over `nlp.pipe`, memory, and the limits of the scheduler.

`python -m benchmarks parse MODEL TEXT` prints all of it. TEXT has one document per line, and is repeated.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from spacy.language import Language

from spacy_mindroot.corpora import parse_corpus
from spacy_mindroot.corpora.engine import DaskEngine, local_client
from spacy_mindroot.corpora.jobs import Job, Record, Settings
from spacy_mindroot.corpora.pipelines import loaded
from spacy_mindroot.corpora.shards import Shard

_SAMPLE = 300  # documents that plain `nlp.pipe` parses


@dataclass
class Run:
    """A run of the command: its summary, and the lines of its manifest in the order of completion."""

    summary: dict[str, Any]
    lines: list[dict[str, Any]]

    def memory(self) -> dict[str, list[int]]:
        """Return the resident memory of each worker, in MB: after its first shard, in the middle, at the end."""
        found: dict[str, list[int]] = {}
        for line in self.lines:
            found.setdefault(line["worker"], []).append(line["rss"] >> 20)
        return {worker: [rss[0], rss[len(rss) // 2], rss[-1]] for worker, rss in found.items()}


def repeat(documents: list[str], words: int, count: int, path: Path) -> int:
    """Write documents, again and again, until they have about `count` words. Return the number of documents.

    words (int): The number of words in all documents together.
    """
    wanted = max(1, round(len(documents) * count / words))
    with open(path, "w", encoding="utf8") as file:
        for _, document in zip(range(wanted), cycle(documents), strict=False):
            file.write(f"{document}\n")
    return wanted


def measure_cost(model: str, documents: list[str], pairs: int, **settings: Any) -> Iterator[tuple[float, float]]:
    """Yield CPU microseconds per word of `nlp.pipe`, and of `parse_corpus` in the same process, in turn."""
    with loaded(model) as pipeline:
        nlp = pipeline.nlp
    sample = documents[:_SAMPLE]
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        corpus.write_text("\n".join(sample) + "\n", encoding="utf8")
        for number in range(pairs + 1):
            plain, words = _plain(nlp, sample)
            began = time.process_time()
            parse_corpus(model, corpus, Path(folder) / str(number), **settings)
            ours = time.process_time() - began
            if number:  # the first pair warms up
                yield 1e6 * plain / words, 1e6 * ours / words


def _plain(nlp: Language, texts: list[str]) -> tuple[float, int]:
    began = time.process_time()
    words = sum(len(doc) for doc in nlp.pipe(texts))
    return time.process_time() - began, words


def run_command(model: str, corpus: Path, out: Path, *options: str) -> Run:
    """Run the command in a process of its own."""
    metrics = out.with_suffix(".json")
    command = [sys.executable, "-W", "ignore", "-m", "spacy_mindroot", "parse", model, str(corpus), "--out", str(out)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([*command, "--metrics", str(metrics), *options], check=True, env=env, stdout=subprocess.DEVNULL)
    lines = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]
    finished = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    return Run(json.loads(metrics.read_text()), sorted(lines, key=lambda line: finished[line["output"]]))


_WITH_TRIMMING = """
import sys
from spacy_mindroot.corpora import parse_corpus, pipelines
if sys.argv[4] == "in force":
    pipelines._MALLOC = ()
print(parse_corpus(*sys.argv[1:4]).cpu_seconds)
"""


def _cpu_with_trimming(model: str, corpus: Path, out: Path, name: str) -> float:
    """Return CPU seconds without Dask's MALLOC_TRIM_THRESHOLD_, with it "undone", or with it "in force"."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if name != "without":
        env["MALLOC_TRIM_THRESHOLD_"] = "65536"
    command = [sys.executable, "-W", "ignore", "-c", _WITH_TRIMMING, model, str(corpus), str(out), name]
    return float(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)


def measure_overhead(model: str, shards: int, workers: int) -> float:
    """Return seconds per shard of a corpus whose shards have one word each."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        corpus.write_text("Yes\n" * shards, encoding="utf8")
        done = run_command(model, corpus, Path(folder) / "out", "--workers", str(workers), "--shard-words", "1").summary
    assert done["failed"] == 0, done
    return float(done["seconds"] / done["parsed"])


def trivial(job: Job) -> Record:
    """Return the record of a shard without having parsed it."""
    return Record(job.shard.name, job.output, job.shard.path, job.shard.start, job.shard.stop)


class _Trivial(DaskEngine):
    """Runs shards that take no time, and as many at once as a large cluster would."""

    task = staticmethod(trivial)
    pretended = 1

    def _count_workers(self) -> None:
        self.workers = self.pretended


def measure_scheduler(shards: int, pretended_workers: int, seconds: float) -> tuple[int, float, float]:
    """Return shards, seconds and the CPU seconds of client and scheduler, for shards that take no time.

    pretended_workers (int): Twice as many shards are with the scheduler at a time; two workers take them.
    seconds (float): When to stop, if they are not done.
    """
    with local_client(2, 2) as client:
        engine = _Trivial(client)
        engine.pretended = pretended_workers
        began, cpu_began = time.perf_counter(), time.process_time()
        done = 0
        for _ in engine.run(_jobs(shards), lambda: None):
            done += 1
            if time.perf_counter() - began > seconds:
                break
        return done, time.perf_counter() - began, time.process_time() - cpu_began


def _jobs(shards: int) -> Iterable[Job]:
    for number in range(shards):
        shard = Shard(f"000000.{number:06}", "/corpus.txt", "text", False, number, number + 1, 1)
        yield Job(shard, "model", Settings(), "/out", f"{shard.name}.corpus.conllu", None)


def report(
    model: str, text: Path, *, words: int, pairs: int, shards: int, scheduler_shards: int, scheduler_seconds: float
) -> Iterator[str]:
    """Measure everything, and yield lines to print."""
    documents = [line for line in text.read_text(encoding="utf8").splitlines() if line.strip()]
    with loaded(model) as pipeline:
        total = sum(len(pipeline.nlp.make_doc(document)) for document in documents)
    for kind in ("conllu", "jsonl", "parquet", "spacy"):
        found = list(measure_cost(model, documents, pairs, format=kind))
        ratio = statistics.median(ours / plain for plain, ours in found)
        plain = statistics.median(plain for plain, _ in found)
        yield f"{kind}: {ratio:.3f} times the CPU of nlp.pipe ({plain:.1f} us per word)"
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        repeat(documents, total, words, corpus)
        runs = {}
        for workers in (0, 1, 2):
            options = ["--workers", str(workers)] if workers else []
            run = runs[workers] = run_command(model, corpus, Path(folder) / f"out-{workers}", *options)
            done = run.summary
            yield (
                f"{workers or 'no'} workers: {done['words']:,} words, {done['shards']} shards, "
                f"{done['seconds']:.0f} s, "
                f"{done['words_per_second']:,.0f} words/s, {1e6 * done['cpu_seconds'] / done['words']:.1f} CPU us per "
                f"word; MB after the first shard, in the middle, at the end: {list(run.memory().values())}"
            )
        efficiency = runs[1].summary["seconds"] / runs[2].summary["seconds"] / 2
        yield f"efficiency of two workers over one: {efficiency:.2f}"
        small = Path(folder) / "small.txt"
        repeat(documents, total, min(words, 100_000), small)
        cpu: dict[str, list[float]] = {}
        for number in range(6):
            name = ("without", "undone", "in force")[number % 3]
            cpu.setdefault(name, []).append(_cpu_with_trimming(model, small, Path(folder) / f"m{number}", name))
        for name in ("undone", "in force"):
            ratio = sum(cpu[name]) / sum(cpu["without"])
            yield f"MALLOC_TRIM_THRESHOLD_=65536, as Dask sets it, {name}: {ratio:.2f} times the CPU"
    for workers in (1, 2):
        yield f"overhead per shard, {workers} workers: {1000 * measure_overhead(model, shards, workers):.1f} ms"
    for pretended in (2, 500):
        done, seconds, cpu_seconds = measure_scheduler(scheduler_shards, pretended, scheduler_seconds)
        yield (
            f"{done:,} trivial shards, {2 * pretended} at a time: {done / seconds:,.0f} per second, "
            f"{1000 * cpu_seconds / done:.2f} ms of CPU each in scheduler and client"
        )
