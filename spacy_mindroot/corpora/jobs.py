"""The records that go between the command and its workers, into the folder of the output, and back to the caller."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .documents import Notes
from .pipelines import Identity
from .reading import Columns
from .shards import Shard

__all__ = ["Job", "ParseSummary", "Record", "Settings", "WorkerFacts", "WorkerSummary"]


@dataclass(frozen=True)
class Settings:
    """The settings that determine the output, besides the pipeline and the input."""

    format: str = "conllu"
    columns: Columns = Columns()
    confidence: bool = False
    kbest: int = 1
    shard_words: int = 200_000

    @property
    def ending(self) -> str:
        """The suffix of the names of the shards."""
        return {"tokens": "tokens.parquet", "relations": "relations.tsv"}.get(self.format, self.format)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Settings:
        """Return settings, of which `asdict` has been written as JSON."""
        columns = {**data["columns"], "where": tuple(map(tuple, data["columns"].get("where", ())))}
        return cls(**{**data, "columns": Columns(**columns)})


@dataclass(frozen=True)
class Job:
    """A shard to parse."""

    shard: Shard
    model: str
    settings: Settings
    out: str
    output: str
    identity: Identity | None  # the pipeline that must be used


@dataclass
class Record:
    """A complete shard, as in the manifest."""

    shard: str
    output: str
    input: str
    start: int
    stop: int
    bytes: int = 0
    sha256: str = ""
    model: str = ""
    documents: int = 0
    sentences: int = 0
    words: int = 0
    expected_uas: float | None = None  # the mean probability of the heads; None without probabilities
    rejected: list[tuple[str, str]] = field(default_factory=list)  # pairs of id and reason: not in the output
    notes: Notes = field(default_factory=list)  # not parsed as a whole
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    worker: str = ""  # the process
    rss: int = 0  # resident memory in bytes, when it had finished
    mismatch: str = ""  # how the pipeline differs from the one that must be used; then nothing was written

    def manifest_line(self) -> dict[str, Any]:
        """Return the line of the manifest, which has only the numbers of `rejected` and `notes`."""
        line = asdict(self)
        del line["mismatch"]
        if self.expected_uas is None:
            del line["expected_uas"]
        return {**line, "rejected": len(self.rejected), "notes": len(self.notes)}


@dataclass(frozen=True)
class WorkerFacts:
    """The facts about a worker that the command needs."""

    identity: Identity
    malloc_trim: bool  # whether memory is trimmed all the time, which slows parsing down: see `undo_trimming`
    sees_output: bool  # whether the folder of the output is there
    worker: str


@dataclass
class WorkerSummary:
    """The work of one process, and its resident memory in bytes after its first and last shard, and at most."""

    shards: int = 0
    words: int = 0
    cpu_seconds: float = 0.0
    first_rss: int = 0
    last_rss: int = 0
    most_rss: int = 0

    def add(self, record: Record) -> None:
        """Count a shard."""
        self.shards += 1
        self.words += record.words
        self.cpu_seconds = round(self.cpu_seconds + record.cpu_seconds, 3)
        self.first_rss = self.first_rss or record.rss
        self.last_rss = record.rss
        self.most_rss = max(self.most_rss, record.rss)


@dataclass
class ParseSummary:
    """A summary of a run of `parse_corpus`.

    Attributes
    ----------
    shards : int
        The number of shards of the corpus.
    complete_before : int
        Shards that earlier runs had completed.
    parsed, failed : int
        Shards that this run has parsed, and shards that failed. `failed.jsonl` has the reasons.
    documents, sentences, words : int
        What is in the shards of this run.
    rejected : int
        Documents of this run that could not be read or parsed. `rejected.jsonl` has the reasons.
    notes : int
        Texts of this run that were parsed in parts, sentences without a tree because they are too long for the scorer,
        and documents without words. They are in `rejected.jsonl`, too.
    seconds, cpu_seconds : float
        The time that the run took, and the CPU time that its shards took.
    workers : dict of str to WorkerSummary
        The processes that parsed.
    drifting : dict of str to pair of float
        Shards whose expected UAS is far from that of the others, and both figures. Needs `confidence`.
    """

    shards: int = 0
    complete_before: int = 0
    parsed: int = 0
    failed: int = 0
    documents: int = 0
    sentences: int = 0
    words: int = 0
    rejected: int = 0
    notes: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    workers: dict[str, WorkerSummary] = field(default_factory=dict)
    drifting: dict[str, tuple[float, float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON."""
        rate = self.words / self.seconds if self.seconds else 0.0
        return {**asdict(self), "words_per_second": round(rate, 1)}

    def add(self, record: Record) -> None:
        """Count a shard."""
        self.parsed += 1
        self.documents += record.documents
        self.sentences += record.sentences
        self.words += record.words
        self.rejected += len(record.rejected)
        self.notes += len(record.notes)
        self.cpu_seconds = round(self.cpu_seconds + record.cpu_seconds, 3)
        self.workers.setdefault(record.worker, WorkerSummary()).add(record)
