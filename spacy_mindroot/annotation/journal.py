"""The journal of an annotation: every step, on disk before the next one, so that a killed server loses nothing."""

from __future__ import annotations

import json
import weakref
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import CorpusError
from ..escapes import printable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Journal"]


class Journal:
    """A file of JSON lines. Each is about one sentence, which it names by its key:

    a step (see `decisions`), the end of the last step ("undo"), that all steps have ended ("clear"), or the sentence as
    it was before it was first written ("base"), with the key that it has since.

    folder (Path): It is made, and locked while the journal is open.
    RAISES (CorpusError): If another process has it open.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self._file = open(folder / "journal.jsonl", "a+b", buffering=0)  # noqa: SIM115 - it stays open
        weakref.finalize(self, self._file.close)
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self._file.close()
                raise CorpusError(
                    f"{printable(folder)} is in use: another server annotates this file. End it first."
                ) from error
        self.steps: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.bases: dict[str, str] = {}
        self._waiting = b""  # what could not be written yet
        self._read()

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        if content and not content.endswith(b"\n"):
            self._waiting = b"\n"
        for line in content.split(b"\n"):
            try:
                entry = json.loads(line)
                key, step = entry["key"], entry["step"]
                kind = step["do"]
            except (ValueError, KeyError, TypeError):  # a line that was cut off when the disk was full
                continue
            self._apply(key, kind, step)

    def _apply(self, key: str, kind: str, step: dict[str, Any]) -> None:
        if kind == "undo":
            if self.steps[key]:
                self.steps[key].pop()
        elif kind == "clear":
            self.steps.pop(key, None)
            self.bases.pop(key, None)
        elif kind == "base":
            new = step["key"]
            self.bases[new] = self.bases.pop(key, step["base"])
            if new != key:
                self.steps[new] = self.steps.pop(key, [])
        else:
            self.steps[key].append(step)

    def add(self, key: str, step: dict[str, Any]) -> None:
        """Note a step. If it can't be written now, it counts nevertheless; see `flush`."""
        self._apply(key, step["do"], step)
        line = json.dumps({"key": key, "step": step}, ensure_ascii=False).encode("utf8", "replace")
        self._waiting += line + b"\n"
        with suppress(OSError):
            self.flush()

    def flush(self) -> None:
        """Write what could not be written before. Raise OSError if it still can't be."""
        while self._waiting:
            written = self._file.write(self._waiting)
            self._waiting = self._waiting[written or 0 :]

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        self._file.close()
