"""Parses one shard: the part of the work that runs in many processes, on many machines."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from spacy.language import Language
from spacy.tokens import Doc

from ..conllu.rows import Cells
from ..doc.extensions import key_at
from .documents import parse_documents, within_limit
from .jobs import Job, Record, Settings, WorkerFacts
from .output import PARTS, OutputError, ShardFile, complete_record
from .pipelines import loaded, this_process, undo_trimming
from .reading import Document, Item, Rejected, read_shard
from .shards import Shard
from .writing import WRITERS, Writer

__all__ = ["dask_setup", "identify", "parse_shard"]

_BATCH_CHARACTERS = 200_000
_ZONE_WORDS = 100_000  # parsed before the vocabulary is emptied
_LONGEST_REASON = 1000  # characters
_HEAD_PROB = key_at("head_prob")[:2]  # what the keys of the probabilities of heads begin with


def identify(model: str, settings: Settings, out: str) -> WorkerFacts:
    """Load the pipeline and return what it is."""
    with loaded(model, confidence=settings.confidence, kbest=settings.kbest) as pipeline:
        sees_output = (Path(out) / PARTS).is_dir()
        return WorkerFacts(pipeline.identity, not undo_trimming(), sees_output, this_process())


def dask_setup(worker: Any) -> None:
    """Ignore Ctrl-C, which a terminal sends to all processes: the command ends its workers itself. Dask calls it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def parse_shard(job: Job) -> Record:
    """Parse a shard and write it. Return what was done.

    RAISES (UnreadableInputError): If the input can't be read. OutputError: if the output can't be written.
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
        complete = complete_record(job)
        if complete is not None:
            return complete
        record.model = f"{identity.model} {identity.version}"
        output = ShardFile(job)
        try:
            writer = WRITERS[settings.format](cast(BinaryIO, output))
            probs = array("d")  # of all heads
            _parse(pipeline.nlp, shard, settings, writer, record, probs)
            writer.close()
            output.finish()
            record.bytes, record.sha256 = output.size, output.digest.hexdigest()
            record.sentences, record.words = writer.sentences, writer.words
            record.expected_uas = round(math.fsum(probs) / len(probs), 6) if probs else None
            record.seconds = round(time.perf_counter() - began, 3)
            record.cpu_seconds = round(time.thread_time() - cpu_began, 3)
            record.rss = _resident_bytes()
            output.commit(record)
        finally:
            output.abandon()
    return record


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):  # not Linux
        return 0


def _parse(
    nlp: Language, shard: Shard, settings: Settings, writer: Writer, record: Record, probs: array[float]
) -> None:
    """Parse and write all documents, count them in the record, and collect the probabilities of their heads."""
    items = within_limit(read_shard(shard, settings.columns, nlp.vocab), nlp.max_length, record.notes)
    # Docs from a file have strings in the vocabulary that all of them need.
    most_words = None if shard.format == "spacy" else _ZONE_WORDS
    done = False
    while not done:
        failure: BaseException | None = None
        with nlp.memory_zone():  # a Doc must not leave it, nor an error, which would leave it open
            try:
                cells = Cells(nlp.vocab.strings)
                before = writer.words
                while not done and (most_words is None or writer.words - before < most_words):
                    batch, done = _next_batch(items, nlp.batch_size)
                    _parse_batch(nlp, batch, writer, cells, record, probs)
                    del batch
            except BaseException as error:
                failure = error
        if failure is not None:
            raise failure


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
    nlp: Language, batch: list[Item], writer: Writer, cells: Cells, record: Record, probs: array[float]
) -> None:
    documents = [item for item in batch if isinstance(item, Document)]
    parsed = iter(parse_documents(nlp, documents, record.notes))
    for item in batch:
        if isinstance(item, bytes):
            writer.add_bytes(item)
            continue
        if isinstance(item, Rejected):
            record.rejected.append((item.id, _short(item.reason)))
            continue
        doc = next(parsed)
        if isinstance(doc, Doc):
            words = writer.words
            try:
                writer.add(item, doc, cells)
            except OutputError:
                raise
            except Exception as error:
                doc = error
            else:
                record.documents += 1
                probs.extend(
                    prob
                    for key, prob in doc.user_data.items()
                    if isinstance(key, tuple) and key[:2] == _HEAD_PROB and prob is not None
                )
                if writer.words == words:
                    record.notes.append((item.id, "has no words"))
        if isinstance(doc, Exception):
            record.rejected.append((item.id, _short(f"{type(doc).__name__}: {str(doc) or 'no message'}")))


def _short(reason: str) -> str:
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} ..."
