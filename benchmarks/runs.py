"""The runs that a benchmark has noted, in a file of JSON lines."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any


def read_runs(path: Path) -> list[dict]:
    """Return the runs in a file; none if there is no file yet."""
    return [json.loads(line) for line in path.read_text("utf8").splitlines()] if path.exists() else []


def note_run(path: Path, run: Any) -> None:
    """Add a run, a dataclass, to a file, and make the folder of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf8") as file:
        file.write(json.dumps(asdict(run)) + "\n")
