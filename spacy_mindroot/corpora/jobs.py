"""The records that go between the command and its workers, and into the folder of the output."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .documents import Notes
from .pipelines import Identity
from .reading import Columns
from .shards import Shard

__all__ = ["Job", "Record", "Settings", "WorkerFacts"]


@dataclass(frozen=True)
class Settings:
    """The settings that determine the output, besides the pipeline and the input."""

    format: str = "conllu"
    columns: Columns = Columns()
    confidence: bool = False
    kbest: int = 1
    shard_words: int = 200_000

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Settings:
        """Return settings, of which `asdict` has been written as JSON."""
        return cls(**{**data, "columns": Columns(**data["columns"])})


@dataclass(frozen=True)
class Job:
    """A shard to parse.

    output (str): The name of the file to write, in the folder `out`.
    identity (Optional[Identity]): The pipeline that must be used.
    """

    shard: Shard
    model: str
    settings: Settings
    out: str
    output: str
    identity: Identity | None


@dataclass
class Record:
    """A complete shard, as in the manifest.

    rejected, notes (list): Pairs of id and reason, of documents that are not in the output, and of those that were not
        parsed as a whole.
    mismatch (str): How this process's pipeline differs from the one that must be used. Then nothing was written.
    worker (str), rss (int): The process, and its resident memory in bytes, when it had finished.
    """

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
    rejected: list[tuple[str, str]] = field(default_factory=list)
    notes: Notes = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    worker: str = ""
    rss: int = 0
    mismatch: str = ""

    def manifest_line(self) -> dict[str, Any]:
        """Return the line of the manifest, which has only the numbers of `rejected` and `notes`."""
        line = asdict(self)
        del line["mismatch"]
        return {**line, "rejected": len(self.rejected), "notes": len(self.notes)}


@dataclass(frozen=True)
class WorkerFacts:
    """The facts about a worker that the command needs.

    malloc_trim (bool): Whether memory is trimmed all the time, which slows parsing down. See `undo_trimming`.
    sees_output (bool): Whether the folder of the output is there.
    """

    identity: Identity
    malloc_trim: bool
    sees_output: bool
    worker: str
