"""Parses one shard: the part of the work that runs in many processes, on many machines.

A shard is written under a temporary name. Its record, with all counts, is written next. The shard then gets its own
name, and only then it is complete: if the process dies before that, its work is discarded.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from spacy.language import Language
from spacy.tokens import Doc

from ..conllu.rows import Cells
from ..errors import CorpusError
from .documents import Notes, parse_documents, within_limit
from .pipelines import Identity, loaded, this_process, trims_memory
from .reading import Columns, Document, Item, Rejected, read_shard
from .shards import Shard
from .writing import Writer, make_writer

__all__ = [
    "PARTS",
    "RECORDS",
    "Job",
    "OutputError",
    "Record",
    "Settings",
    "WorkerFacts",
    "clean_environment",
    "counted",
    "identify",
    "parse_shard",
]

PARTS = ".mindroot/parts"  # temporary files, in the folder of the output
RECORDS = ".mindroot/records"  # records of complete shards, until they are in the manifest

_BATCH_CHARACTERS = 200_000
_ZONE_WORDS = 100_000  # parsed before the vocabulary is emptied
_LONGEST_REASON = 1000  # characters


class OutputError(CorpusError):
    """The output can't be written. No other shard can be written either."""


@dataclass(frozen=True)
class Settings:
    """The settings that determine the output, besides the pipeline and the input."""

    format: str = "conllu"
    columns: Columns = Columns()
    confidence: bool = False
    kbest: int = 1
    shard_words: int = 200_000

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Settings:
        """Return settings from JSON."""
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
        parsed as a whole. The manifest has their numbers.
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
    rejected: list[tuple[str, str]] | int = 0
    notes: list[tuple[str, str]] | int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    worker: str = ""
    rss: int = 0
    mismatch: str = ""

    def manifest_line(self) -> dict[str, Any]:
        """Return the line of the manifest."""
        line = asdict(self)
        del line["mismatch"]
        return {**line, "rejected": counted(self.rejected), "notes": counted(self.notes)}


def counted(found: list[tuple[str, str]] | int) -> int:
    """Return the number of rejected documents, or of notes, of a record."""
    return found if isinstance(found, int) else len(found)


@dataclass(frozen=True)
class WorkerFacts:
    """The facts about a worker that the command needs.

    malloc_trim (bool): Whether memory is trimmed all the time, which slows parsing down. See `trims_memory`.
    sees_output (bool): Whether the folder of the output is there.
    """

    identity: Identity
    malloc_trim: bool
    sees_output: bool
    worker: str


def identify(model: str, settings: Settings, out: str) -> WorkerFacts:
    """Load the pipeline and return what it is."""
    with loaded(model, confidence=settings.confidence, kbest=settings.kbest) as pipeline:
        return WorkerFacts(
            pipeline.identity,
            trims_memory(),
            (Path(out) / PARTS).is_dir(),
            this_process(),
        )


def clean_environment() -> dict[str, str]:
    """Return the environment that Dask's workers should start with: one thread for products, and nothing else.

    By default, Dask also sets MALLOC_TRIM_THRESHOLD_, with which a parser takes much more CPU time.
    """
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
    return dict.fromkeys(names, "1")


def parse_shard(job: Job) -> Record:
    """Parse a shard and write it. Return what was done.

    RAISES (UnreadableInputError): If the input can't be read. OutputError: if the output can't be written. CorpusError:
        if the pipeline can't be loaded.
    """
    began, cpu_began = time.perf_counter(), time.thread_time()
    shard, settings = job.shard, job.settings
    record = Record(shard.name, job.output, shard.path, shard.start, shard.stop, worker=this_process())
    products = None if job.identity is None else job.identity.products
    with loaded(job.model, confidence=settings.confidence, kbest=settings.kbest, products=products) as pipeline:
        identity = pipeline.identity
        difference = "" if job.identity is None else job.identity.difference(identity)
        if difference:
            return replace(record, mismatch=difference)
        complete = _complete(job)
        if complete is not None:
            return complete
        record.model = f"{identity.model} {identity.version}"
        output = _Output(job)
        try:
            writer = make_writer(settings.format, cast(BinaryIO, output))
            rejected: list[tuple[str, str]] = []
            notes: Notes = []
            record.documents = _parse(pipeline.nlp, shard, settings, writer, rejected, notes)
            writer.close()
            output.finish()
            record.bytes, record.sha256 = output.size, output.digest.hexdigest()
            record.sentences, record.words, record.rejected = writer.sentences, writer.words, rejected
            record.notes = notes
            record.seconds = round(time.perf_counter() - began, 3)
            record.cpu_seconds = round(time.thread_time() - cpu_began, 3)
            record.rss = _resident_bytes()
            output.commit(record)
        finally:
            output.abandon()
    return record


def _complete(job: Job) -> Record | None:
    """Return the record of a shard that is complete already.

    A worker may die after it has completed a shard, but before anybody has fetched its record. Dask then runs the shard
    again.
    """
    try:
        text = (Path(job.out) / RECORDS / f"{job.shard.name}.json").read_text("utf8")
        record = Record(**json.loads(text))
        size = (Path(job.out) / job.output).stat().st_size
    except (OSError, ValueError, TypeError):
        return None
    shard = job.shard
    found = (record.output, record.bytes, record.input, record.start, record.stop)
    return record if found == (job.output, size, shard.path, shard.start, shard.stop) else None


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):  # not Linux
        return 0


class _Output:
    """The file of a shard, under a temporary name until it is complete. Errors become OutputError."""

    def __init__(self, job: Job) -> None:
        self.out = Path(job.out)
        self.target = self.out / job.output
        self.record = self.out / RECORDS / f"{job.shard.name}.json"
        self.part = self.out / PARTS / f"{job.shard.name}-{this_process()}-{uuid.uuid4().hex[:8]}"
        self.digest = hashlib.sha256()
        self.size = 0
        self._file: BinaryIO | None = None
        with self._errors():
            self._file = open(self.part, "wb", buffering=1 << 20)  # noqa: SIM115

    def _errors(self) -> _AsOutputError:
        return _AsOutputError(self.out)

    def write(self, data: Any) -> int:
        """Write bytes."""
        assert self._file is not None
        with self._errors():
            self._file.write(data)
        self.digest.update(data)
        size = len(memoryview(data).cast("B")) if len(data) else 0
        self.size += size
        return size

    def flush(self) -> None:
        """Do nothing: `finish` does it."""

    @property
    def closed(self) -> bool:
        """Whether the file is closed. Arrow asks."""
        return self._file is None or self._file.closed

    def tell(self) -> int:
        """Return the number of bytes that have been written."""
        return self.size

    def finish(self) -> None:
        """Bring all that has been written to the disk."""
        assert self._file is not None
        with self._errors():
            _sync(self._file)
            self._file.close()

    def commit(self, record: Record) -> None:
        """Write the record, and give the file its name."""
        with self._errors():
            temporary = self.part.with_name(self.part.name + ".json")
            with open(temporary, "wb") as file:
                file.write(json.dumps(asdict(record)).encode())
                _sync(file)
            os.replace(temporary, self.record)
            os.replace(self.part, self.target)

    def abandon(self) -> None:
        """Remove what is still there under a temporary name."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        for path in (self.part, self.part.with_name(self.part.name + ".json")):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


class _AsOutputError:
    """Turns OSError into OutputError, with the folder, the machine and what to do."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, OSError):
            hint = "Run the same command again to go on."
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                hint = f"Free some space. {hint}"
            elif error.errno == errno.ENOENT:
                hint = f"All workers need this folder under the same path. {hint}"
            raise OutputError(
                f"{self.out} can't be written to by {this_process()}: {error.strerror or error}. {hint}"
            ) from error


def _parse(
    nlp: Language,
    shard: Shard,
    settings: Settings,
    writer: Writer,
    rejected: list[tuple[str, str]],
    notes: Notes,
) -> int:
    """Parse and write all documents. Return the number of those that were written."""
    items = within_limit(read_shard(shard, settings.columns, nlp.vocab), nlp.max_length, notes)
    most = nlp.batch_size
    # Docs from a file have strings in the vocabulary that all of them need.
    most_words = None if shard.format == "spacy" else _ZONE_WORDS
    documents = 0
    done = False
    while not done:
        failure: BaseException | None = None
        with nlp.memory_zone():  # a Doc must not leave it, nor an error, which would leave it open
            try:
                cells = Cells(nlp.vocab.strings)
                before = writer.words
                while not done and (most_words is None or writer.words - before < most_words):
                    batch, done = _next_batch(items, most)
                    documents += _parse_batch(nlp, batch, writer, cells, rejected, notes)
                    del batch
            except BaseException as error:
                failure = error
        if failure is not None:
            raise failure
    return documents


def _next_batch(items: Iterator[Item], most: int) -> tuple[list[Item], bool]:
    """Return the next documents, and whether they are the last."""
    batch: list[Item] = []
    characters = 0
    for item in items:
        batch.append(item)
        if isinstance(item, Document):
            characters += len(item.text) if item.text is not None else 1
        if len(batch) >= most or characters >= _BATCH_CHARACTERS:
            return batch, False
    return batch, True


def _parse_batch(
    nlp: Language, batch: list[Item], writer: Writer, cells: Cells, rejected: list[tuple[str, str]], notes: Notes
) -> int:
    documents = [item for item in batch if isinstance(item, Document)]
    parsed = iter(parse_documents(nlp, documents, notes))
    written = 0
    for item in batch:
        if isinstance(item, bytes):
            writer.add_bytes(item)
            continue
        if isinstance(item, Rejected):
            rejected.append((item.id, _short(item.reason)))
            continue
        doc = next(parsed)
        if isinstance(doc, Doc):
            words = writer.words
            try:
                writer.add(item, doc, cells)
                written += 1
                if writer.words == words:
                    notes.append((item.id, "has no words"))
                continue
            except OutputError:
                raise
            except Exception as error:
                doc = error
        rejected.append((item.id, _reason(doc)))
    return written


def _reason(error: Exception) -> str:
    return _short(f"{type(error).__name__}: {str(error) or 'no message'}")


def _short(reason: str) -> str:
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} ..."
