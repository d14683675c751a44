"""The file of a shard, which is there when it is complete, with its record, or not at all.

It is written under a temporary name. Its record, with all counts, is written next. The file then gets its own name, and
only then the shard is complete: if the process dies before that, its work is discarded.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import CorpusError
from .jobs import Job, Record
from .pipelines import this_process

__all__ = ["PARTS", "RECORDS", "OutputError", "ShardFile", "complete_record", "write_synced"]

PARTS = ".mindroot/parts"  # temporary files, in the folder of the output
RECORDS = ".mindroot/records"  # records of complete shards, until they are in the manifest


class OutputError(CorpusError):
    """The output can't be written. No other shard can be written either."""


class ShardFile(io.RawIOBase):
    """The file of a shard, to write to. An OSError becomes an OutputError."""

    def __init__(self, job: Job) -> None:
        self.out = Path(job.out)
        self.target = self.out / job.output
        self.record = _record_of(job)
        self.part = self.out / PARTS / f"{job.shard.name}-{this_process()}-{uuid.uuid4().hex[:8]}"
        self.digest = hashlib.sha256()
        self.size = 0
        with _as_output_error(self.out):
            self._file: BinaryIO = open(self.part, "wb", buffering=1 << 20)  # noqa: SIM115

    def write(self, data: Any) -> int:
        """Write bytes."""
        with _as_output_error(self.out):
            self._file.write(data)
        self.digest.update(data)
        size = len(memoryview(data).cast("B")) if len(data) else 0
        self.size += size
        return size

    def writable(self) -> bool:
        """Return True. Arrow asks."""
        return True

    def tell(self) -> int:
        """Return the number of bytes that have been written."""
        return self.size

    def finish(self) -> None:
        """Bring all that has been written to the disk."""
        with _as_output_error(self.out):
            _sync(self._file)
            self._file.close()

    def commit(self, record: Record) -> None:
        """Write the record, and give the file its name."""
        with _as_output_error(self.out):
            write_synced(self.part.with_name(self.part.name + ".json"), self.record, json.dumps(asdict(record)))
            os.replace(self.part, self.target)

    def abandon(self) -> None:
        """Remove what is still there under a temporary name."""
        with suppress(OSError):
            self._file.close()
        for path in (self.part, self.part.with_name(self.part.name + ".json")):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def complete_record(job: Job) -> Record | None:
    """Return the record of a shard that is complete already.

    A worker may die before anybody has fetched the record of its last shard. Dask then runs the shard again.
    """
    try:
        record = Record(**json.loads(_record_of(job).read_text("utf8")))
        size = (Path(job.out) / job.output).stat().st_size
    except (OSError, ValueError, TypeError):
        return None
    shard = job.shard
    found = (record.output, record.bytes, record.input, record.start, record.stop)
    return record if found == (job.output, size, shard.path, shard.start, shard.stop) else None


def write_synced(temporary: Path, path: Path, text: str) -> None:
    """Write a file that appears under its name when all of it is on the disk."""
    with open(temporary, "wb") as file:
        file.write(text.encode())
        _sync(file)
    os.replace(temporary, path)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _record_of(job: Job) -> Path:
    return Path(job.out) / RECORDS / f"{job.shard.name}.json"


@contextmanager
def _as_output_error(out: Path) -> Iterator[None]:
    """Turn OSError into OutputError, with the folder, the machine and what to do."""
    try:
        yield
    except OSError as error:
        hint = "Run the same command again to go on."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = f"Free some space. {hint}"
        elif error.errno == errno.ENOENT:
            hint = f"All workers need this folder under the same path. {hint}"
        raise OutputError(
            f"{out} can't be written to by {this_process()}: {error.strerror or error}. {hint}"
        ) from error
