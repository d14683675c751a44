"""The folder that a corpus is written to: what is in it, what is complete, and who is writing.

- `manifest.json`: the pipeline, the settings, and the input files with the places where they are cut.
- `manifest.jsonl`: one line per complete shard.
- `rejected.jsonl`: one line per document that could not be read or parsed, or not as a whole, with the reason.
- `failed.jsonl`: one line per shard that failed in the latest run.
- one file per complete shard.
- one folder per part that is parsed by itself, until they are merged. It has all of this.
- `.mindroot`: a lock, temporary files, and the records of shards that are not in the manifest yet.

A shard is complete if its file is there, with the size that its line in the manifest, or its record, says.

The folder may come from somebody else, and other files may lie in it. So no symbolic link in it is followed, and only
what the manifest or a record names is removed.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from ..errors import CorpusError
from .jobs import Record, Settings
from .output import PARTS, RECORDS, write_synced
from .pipelines import Identity
from .shards import Part, Shard, Source, shards_of
from .sources import Found, plain

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["OutputFolder"]

_HEADER = "manifest.json"
_MANIFEST = "manifest.jsonl"
_REJECTED = "rejected.jsonl"
_FAILED = "failed.jsonl"
_HIDDEN = ".mindroot"
_LOCK = ".mindroot/lock"
_VERSION = 1
_SHARD = r"\d{6,}\.\d{6,}"
_RECORD_NAME = re.compile(rf"{_SHARD}\.json")
_PART_NAME = re.compile(
    rf"{_SHARD}-.+-[0-9a-f]{{8}}(\.json)?|" + "|".join(map(re.escape, (_HEADER, _MANIFEST, _REJECTED, _FAILED)))
)
_LISTS = (("rejected", False), ("notes", True))  # of a record, and whether the documents in it were kept
_SYNC_SECONDS = 1.0  # between two times when the manifest is brought to the disk
_LONGEST_STEM = 80  # characters of an input's name in the name of an output


class OutputFolder:
    """The folder of a run. Only one run at a time can have it."""

    def __init__(self, path: Path, part: Part | None = None) -> None:
        self.path = Path(os.path.abspath(path))
        self.part = part  # of the shards; None for all
        self.identity: Identity | None = None
        self.settings = Settings()
        self.sources: list[Source] = []
        self.begun = False  # whether an earlier run has left a manifest
        self.complete: dict[str, dict[str, Any]] = {}
        self._rejected: dict[str, list[str]] = {}
        self._unsynced: list[Path] = []
        self._synced = time.monotonic()
        self._manifest: BinaryIO | None = None
        self._rejections: BinaryIO | None = None
        self._lock: BinaryIO | None = None
        self._made = False  # whether this run has made the folder

    def __enter__(self) -> OutputFolder:
        if self.path.exists() and not self.path.is_dir():
            raise CorpusError(f"{self.path} is a file. Give --out a folder.")
        self._made = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / _HEADER).exists() and any(map(_is_foreign, self.path.iterdir())):
            raise CorpusError(
                f"{self.path} has files, but no {_HEADER}, so they are not from this command. Choose another folder."
            )
        self._refuse_links()
        (self.path / _HIDDEN).mkdir(exist_ok=True)
        self._take_lock()
        try:
            self._read_header()
            (self.path / PARTS).mkdir(exist_ok=True)
            (self.path / RECORDS).mkdir(exist_ok=True)
            self._clear(PARTS, _PART_NAME)  # of runs that were killed
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for file in (self._manifest, self._rejections):
            if file is not None:
                with suppress(OSError):
                    file.close()
        if self._lock is not None:
            if not self.begun:  # so nothing is left behind
                with suppress(OSError):
                    self._clear(PARTS, _PART_NAME)
                    self._clear(RECORDS, _RECORD_NAME)
                    (self.path / _LOCK).unlink(missing_ok=True)
                for folder in (PARTS, RECORDS, _HIDDEN, *(("",) if self._made else ())):
                    with suppress(OSError):
                        (self.path / folder).rmdir()
            self._lock.close()
            self._lock = None

    def _refuse_links(self) -> None:
        """Raise CorpusError if a symbolic link would lead to files elsewhere."""
        for name in (_HIDDEN, _LOCK, PARTS, RECORDS, _HEADER, _MANIFEST, _REJECTED, _FAILED):
            if (self.path / name).is_symlink():
                raise CorpusError(
                    f"{self.path / name} is a symbolic link, which this command never makes. Remove it, or choose "
                    "another folder."
                )

    def _clear(self, folder: str, own: re.Pattern[str]) -> None:
        """Remove the files of a folder whose names have a form of our own."""
        with suppress(FileNotFoundError), os.scandir(self.path / folder) as entries:
            for entry in entries:
                if own.fullmatch(entry.name) and not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)

    def _take_lock(self) -> None:
        self._lock = open(self.path / _LOCK, "ab")  # noqa: SIM115
        if fcntl is not None:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._lock.close()
                self._lock = None
                raise CorpusError(f"Another run is writing to {self.path}. Wait for it, or end it.") from None
            except OSError:  # some network file systems have no locks
                pass

    def _read_header(self) -> None:
        path = self.path / _HEADER
        if not path.exists():
            return
        try:
            data = json.loads(path.read_text("utf8"))
            if {"version", "pipeline", "settings", "sources"} <= data.keys() and data["version"] != _VERSION:
                raise CorpusError(f"{path} is from another version of this package. Choose another folder.")
            self.identity = Identity(**data["pipeline"])
            self.settings = Settings.from_json(data["settings"])
            self.sources = [Source.from_json(source) for source in data["sources"]]
        except CorpusError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorpusError(f"{path} is not from this command, or is damaged. Choose another folder.") from error
        self.begun = True

    def output_of(self, shard: Shard) -> str:
        """Return the name of a shard's file. The names sort as the corpus does."""
        stem = plain(Found(shard.path, shard.format, shard.compressed).name)[:_LONGEST_STEM]
        return f"{shard.name}.{stem}.{self.settings.ending}"

    def start_over(self) -> None:
        """Remove all that an earlier run has written."""
        if self.begun:
            made = [line["shard"] for line in _read_lines(self.path / _MANIFEST)]
            made += [record.shard for record in self._records()]
            own = {shard.name: self.output_of(shard) for shard in shards_of(self.sources)}
            for name in [*(own[shard] for shard in made if shard in own), _MANIFEST, _REJECTED, _FAILED]:
                (self.path / name).unlink(missing_ok=True)
            self._clear(RECORDS, _RECORD_NAME)
            (self.path / _HEADER).unlink()
        self.begun, self.identity, self.sources, self.complete = False, None, [], {}

    def begin(self, identity: Identity, settings: Settings, sources: Sequence[Source]) -> None:
        """Write what the run is about, and find out what earlier runs have completed."""
        self.identity, self.settings, self.sources = identity, settings, list(sources)
        header = {
            "version": _VERSION,
            "pipeline": asdict(identity),
            "settings": asdict(settings),
            "sources": [asdict(source) for source in sources],
            **({} if self.part is None else {"part": str(self.part)}),
        }
        self._write(_HEADER, [json.dumps(header, indent=1)])
        self.begun = True
        self._read_complete()
        self._write_sorted()
        (self.path / _FAILED).unlink(missing_ok=True)
        self._manifest = open(self.path / _MANIFEST, "ab")  # noqa: SIM115
        self._rejections = open(self.path / _REJECTED, "ab")  # noqa: SIM115

    def _read_complete(self) -> None:
        """Read the manifest and the records. What has no file of the right size is not complete."""
        files = (entry for entry in os.scandir(self.path) if entry.is_file(follow_symlinks=False))
        sizes = {file.name: file.stat().st_size for file in files}
        wanted = {shard.name: self.output_of(shard) for shard in self.shards()}
        self.complete, self._rejected = {}, {}

        def is_complete(line: dict[str, Any]) -> bool:
            name = wanted.get(line["shard"])
            return name is not None and line.get("output") == name and sizes.get(name) == line.get("bytes")

        for line in _read_lines(self.path / _MANIFEST):
            if is_complete(line):
                self.complete[line["shard"]] = line
        for line in _read_lines(self.path / _REJECTED):
            if line["shard"] in self.complete:
                self._rejected.setdefault(line["shard"], []).append(json.dumps(line))
        for record in self._records():
            if is_complete(record.manifest_line()):
                self.complete[record.shard] = record.manifest_line()
                self._rejected[record.shard] = _rejected_lines(record)

    def _records(self) -> Iterator[Record]:
        """Yield the records. A shard whose record is damaged is parsed again."""
        for path in sorted((self.path / RECORDS).iterdir()):
            if _RECORD_NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                with suppress(ValueError, TypeError):
                    record = Record(**json.loads(path.read_text("utf8")))
                    if f"{record.shard}.json" == path.name:
                        yield record

    def _write_sorted(self) -> None:
        """Write the manifest and the rejected documents anew, in order, and remove the records."""
        names = sorted(self.complete)
        self._write(_REJECTED, [line for name in names for line in self._rejected.get(name, ())])
        self._write(_MANIFEST, [json.dumps(self.complete[name]) for name in names])
        self._clear(RECORDS, _RECORD_NAME)

    def _write(self, name: str, lines: Iterable[str]) -> None:
        write_synced(self.path / PARTS / name, self.path / name, "".join(f"{line}\n" for line in lines))

    def shards(self) -> Iterator[Shard]:
        """Yield the shards of the run in order."""
        first, step = (0, 1) if self.part is None else (self.part.number - 1, self.part.total)
        return islice(shards_of(self.sources), first, None, step)

    def remaining(self) -> Iterator[Shard]:
        """Yield the shards that are not complete."""
        return (shard for shard in self.shards() if shard.name not in self.complete)

    def records(self) -> Iterator[Record]:
        """Yield the record of each shard that earlier runs have completed, if its file is still there."""
        found: dict[str, list[dict[str, Any]]] = {}
        for line in _read_lines(self.path / _REJECTED):
            found.setdefault(line["shard"], []).append(line)
        for line in _read_lines(self.path / _MANIFEST):
            pairs = [(bool(own.get("kept")), (own["id"], own["reason"])) for own in found.get(line["shard"], ())]
            lists = {name: [pair for kept, pair in pairs if kept == of] for name, of in _LISTS}
            with suppress(TypeError):
                yield Record(**{**line, **lists})
        yield from self._records()

    def failed(self) -> dict[str, str]:
        """Return the reason why a shard failed in the latest run, by its name."""
        return {line["shard"]: str(line.get("reason")) for line in _read_lines(self.path / _FAILED)}

    def discard(self) -> None:
        """Remove all that an earlier run has written, and, when it is left, the folder."""
        self.start_over()
        self._made = True

    def add(self, record: Record) -> None:
        """Add a complete shard to the manifest, and its rejected documents to their file."""
        assert self._manifest is not None and self._rejections is not None
        lines = _rejected_lines(record)
        self._rejected[record.shard] = lines
        self.complete[record.shard] = record.manifest_line()
        for line in lines:
            self._rejections.write(f"{line}\n".encode())
        self._rejections.flush()
        self._manifest.write(f"{json.dumps(record.manifest_line())}\n".encode())
        self._manifest.flush()
        self._unsynced.append(self.path / RECORDS / f"{record.shard}.json")
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            self._sync()

    def _sync(self) -> None:
        """Bring the manifest to the disk. Only then the records are not needed any more."""
        for file in (self._rejections, self._manifest):
            if file is not None:
                os.fsync(file.fileno())
        for path in self._unsynced:
            path.unlink(missing_ok=True)
        self._unsynced = []
        self._synced = time.monotonic()

    def finish(self, failed: Sequence[tuple[Shard, str]]) -> None:
        """Write all lists in order, and remove what only a run in progress needs."""
        for file in (self._manifest, self._rejections):
            if file is not None:
                file.close()
        self._manifest = self._rejections = None
        self._write_sorted()
        if failed:
            lines = [
                {"shard": shard.name, "input": shard.path, "start": shard.start, "stop": shard.stop, "reason": reason}
                for shard, reason in sorted(failed, key=lambda pair: pair[0].name)
            ]
            self._write(_FAILED, [json.dumps(line) for line in lines])
        if not any(self._rejected.values()):
            (self.path / _REJECTED).unlink(missing_ok=True)


def _is_foreign(path: Path) -> bool:
    """Whether a file or folder, where there is no manifest, is not from this command."""
    return path.name != _HIDDEN and Part.of_folder(path.name) is None


def _rejected_lines(record: Record) -> list[str]:
    return [
        json.dumps({"shard": record.shard, "input": record.input, "id": name, "reason": reason, **more})
        for found, more in ((record.rejected, {}), (record.notes, {"kept": True}))
        for name, reason in found
    ]


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file on shards. A line that is not complete, as after a crash, is left out."""
    with suppress(FileNotFoundError), open(path, "rb") as file:
        for line in file:
            with suppress(ValueError):
                data = json.loads(line)
                if isinstance(data, dict) and isinstance(data.get("shard"), str):
                    yield data
