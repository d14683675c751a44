"""The journal of an annotation: every step, on disk before the next one, so that a killed server loses nothing."""

from __future__ import annotations

import json
import weakref
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ..errors import CorpusError
from ..escapes import printable
from .decisions import EDITABLE

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Journal", "renamed"]

Value = TypeVar("Value")

_FIELDS: dict[str, dict[str, type]] = {
    "arc": {"word": int, "head": int, "label": str},
    "cell": {"word": int, "column": str, "value": str},
    "intend": {"word": int, "rule": str, "on": bool},
    "valid": {},
    "accept": {"heads": list, "labels": list, "cells": list, "written": str},
    "undo": {},
    "clear": {},
    "base": {"base": str},
    "rename": {"keys": dict},
}


class Journal:
    """A file of JSON lines. Each is about one sentence, which it names by its key:

    a step (see `decisions`), the end of the last step ("undo"), that all steps have ended ("clear"), or the sentence as
    it was before it was first written ("base"). "rename" is about all sentences whose keys have changed.

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
        self.written: dict[str, str] = {}  # the digest of each sentence as it was written last
        self.skipped: list[int] = []  # the numbers of lines that can't be read
        self._waiting = b""  # what could not be written yet
        self._read()

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        if content and not content.endswith(b"\n"):
            self._waiting = b"\n"
        for number, line in enumerate(content.split(b"\n"), 1):
            try:
                if line:
                    self._apply(*_checked(json.loads(line)))
            except (ValueError, LookupError, TypeError):  # it was cut off when the disk was full, say
                self.skipped.append(number)

    def _apply(self, key: str, step: dict[str, Any]) -> None:
        kind = step["do"]
        if kind == "undo":
            if self.steps[key]:
                self.steps[key].pop()
        elif kind == "clear":
            self.steps.pop(key, None)
            self.bases.pop(key, None)
            self.written.pop(key, None)
        elif kind == "base":
            self.bases.setdefault(key, step["base"])
        elif kind == "rename":
            self.steps = defaultdict(list, renamed(self.steps, step["keys"]))
            self.bases = renamed(self.bases, step["keys"])
            self.written = renamed(self.written, step["keys"])
        else:
            self.steps[key].append(step)
            if kind == "accept":
                self.written[key] = step["written"]

    def add(self, key: str, step: dict[str, Any]) -> None:
        """Note a step. If it can't be written now, it counts nevertheless; see `flush`."""
        self._apply(key, step)
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


def renamed(values: Mapping[str, Value], keys: Mapping[str, str]) -> dict[str, Value]:
    """Return values under new keys, all exchanged at once. What no sentence has any more gives way."""
    taken = set(keys.values())
    return {keys.get(key, key): value for key, value in values.items() if key in keys or key not in taken}


def _checked(entry: Any) -> tuple[str, dict[str, Any]]:
    """Return the key and the step in a line. Raise TypeError, LookupError or ValueError if they are none."""
    key, step = entry["key"], entry["step"]
    lists = {"heads": int, "labels": str, "cells": list, "keys": str}
    for name, kind in _FIELDS[step["do"]].items():
        value = step[name]
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if type(value) is not kind or any(type(each) is not lists[name] for each in inside):
            raise TypeError(name)
    cells = [(step["word"], step["column"], "")] if step["do"] == "cell" else step.get("cells", ())
    if type(key) is not str or any(type(word) is not int or column not in EDITABLE for word, column, _ in cells):
        raise TypeError(key)
    return key, step
