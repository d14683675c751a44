"""Parts of a corpus that were parsed each by itself, and how they become the output of one run.

Each part has a folder of its own in the folder of the output, with a manifest of its own. Merging moves the shards,
each with its record, as a worker leaves them: whenever it is killed, a shard is complete in one of the two folders.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from ..errors import CorpusError
from .engine import Engine, Outcome
from .folder import OutputFolder
from .jobs import Job, Record
from .output import PARTS, RECORDS, write_synced
from .shards import Part

__all__ = ["Parts"]

_SHOWN = 5  # parts that a message names


class Parts(Engine):
    """The parts in the folder of an output, and an engine that moves their shards in place of parsing them.

    RAISES (CorpusError): If they do not belong together, or if one is being parsed.
    """

    def __init__(self, out: Path) -> None:
        self.folders: dict[Part, Path] = {}
        self._first: OutputFolder | None = None
        self._records: dict[str, tuple[Path, Record]] = {}  # by shard
        self._failed: dict[str, str] = {}  # reasons, by shard
        for path in sorted(out.iterdir()):
            part = Part.of_folder(path.name)
            if part is not None and path.is_dir():
                self._read(path, part)

    def _read(self, path: Path, part: Part) -> None:
        if path.is_symlink():
            raise CorpusError(f"{path} is a symbolic link, which this command never makes. Remove it.")
        with OutputFolder(path, part) as folder:
            if not folder.begun:
                return
            first = self._first = self._first or folder
            if next(iter(self.folders), part).total != part.total:
                raise CorpusError(f"{first.path} and {path} divide the corpus in different ways. Remove one of them.")
            _check_together(first, folder)
            self.folders[part] = path
            self._records |= {record.shard: (path, record) for record in folder.records()}
            self._failed |= folder.failed()

    def lead(self, folder: OutputFolder) -> None:
        """Let the folder of the output be about what the parts are about, unless an earlier merge has done so."""
        if not folder.begun and self._first is None:
            raise CorpusError(f"There are no parts in {folder.path}. Parse them first, with --part.")
        if self._first is None:
            return
        if folder.begun:
            _check_together(folder, self._first)
        else:
            folder.identity, folder.settings = self._first.identity, self._first.settings
            folder.sources = self._first.sources

    def check_complete(self, folder: OutputFolder) -> None:
        """Raise CorpusError if there are shards that no part has parsed or tried to parse."""
        total = next((part.total for part in self.folders), 1)
        missing = {
            number % total + 1
            for number, shard in enumerate(folder.shards())
            if shard.name not in folder.complete
            and not self._has(shard.name, folder.output_of(shard))
            and shard.name not in self._failed
        }
        if missing:
            shown = ", ".join(f"{number}/{total}" for number in sorted(missing)[:_SHOWN])
            raise CorpusError(
                f"{len(missing):,} of {total:,} parts are not complete: {shown}{', ...' * (len(missing) > _SHOWN)}. "
                "Run these parts again, and then --merge."
            )

    def _has(self, shard: str, output: str) -> bool:
        path, record = self._records.get(shard, (None, None))
        if path is None or record is None or record.output != output:
            return False
        file = path / output
        return file.is_file() and not file.is_symlink() and file.stat().st_size == record.bytes

    def run(self, jobs: Iterable[Job], tick: Callable[[], None]) -> Iterator[Outcome]:
        for job in jobs:
            name, out = job.shard.name, Path(job.out)
            if not self._has(name, job.output):
                yield Outcome(job, None, self._failed[name])
                continue
            path, record = self._records[name]
            text = json.dumps(asdict(record))
            write_synced(out / PARTS / f"{name}-merged-00000000.json", out / RECORDS / f"{name}.json", text)
            os.replace(path / job.output, out / job.output)
            yield Outcome(job, record)
            tick()

    def remove(self) -> None:
        """Remove the folders of the parts, whose shards have been moved, or were complete before."""
        for part, path in self.folders.items():
            with OutputFolder(path, part) as folder:
                folder.discard()


def _check_together(one: OutputFolder, other: OutputFolder) -> None:
    """Raise CorpusError unless two folders have parses of one corpus by one pipeline."""
    both = f"{one.path} and {other.path} have parses"
    if (one.identity, one.settings) != (other.identity, other.settings):
        raise CorpusError(f"{both} of different pipelines or settings. Remove one of them.")
    if [source.digest for source in one.sources] != [source.digest for source in other.sources]:
        raise CorpusError(f"{both} of different input. Remove one of them.")
