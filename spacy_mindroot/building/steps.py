"""Steps whose results are kept in one JSON file, so that an interrupted run continues where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import srsly

__all__ = ["Steps"]


class Steps:
    """The results of a chain of steps, in a JSON file: `facts`, and the result of each step under its name.

    path (Path): The file. It is written after each step.
    facts (dict): Everything that the results depend on. If the file has other facts, all of it is made again.
    """

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self._path = path
        facts = srsly.json_loads(srsly.json_dumps(facts))
        try:
            found = srsly.read_json(path)
        except (OSError, ValueError):  # missing or incomplete
            found = None
        same = isinstance(found, dict) and found.get("facts") == facts
        self.results: dict[str, Any] = found if same else {"facts": facts}
        self._again = not same

    def run(self, name: str, make: Callable[[], Any], *, needs: Path | None = None) -> tuple[Any, bool]:
        """Return the result of a step, and whether it was made now.

        make (Callable): Makes the result, which must be JSON. It is not called if the result is in the file, no step
            before was made again, and what it needs is there.
        needs (Optional[Path]): A file that the step makes.
        """
        if not self._again and name in self.results and (needs is None or needs.exists()):
            return self.results[name], False
        self._again = True
        self.results[name] = make()
        self.write()
        return self.results[name], True

    def write(self) -> None:
        """Write the file. It is replaced when the new one is complete."""
        part = self._path.with_name(f".{self._path.name}.part")
        part.write_text(srsly.json_dumps(self.results, indent=2) + "\n", encoding="utf8")
        part.replace(self._path)
