"""The table of mutations, `mutations.txt`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = Path(__file__).parent / "mutations.txt"


class Mutation(NamedTuple):
    """One change to a file: `old` occurs exactly once in it."""

    path: str
    tests: tuple[str, ...]  # of the section
    note: str
    old: str
    new: str
    equivalent: str = ""  # the reason why no test can tell the difference

    @property
    def name(self) -> str:
        return f"{self.path.removeprefix('spacy_mindroot/')}: {self.note}"

    def mutated(self) -> str:
        """Return the changed text of the file; raise ValueError if the line has moved."""
        text = (ROOT / self.path).read_text("utf8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {text.count(self.old)} places instead of one have {self.old!r}")
        return text.replace(self.old, self.new)


def read_table(text: str) -> list[Mutation]:
    """Return the mutations of a table; raise ValueError for a paragraph that is none."""
    mutations = []
    path, tests = "", ()
    for paragraph in re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip("\n").split("\n\n"):
        note, *lines = paragraph.split("\n")
        if note.startswith("["):
            path, _, names = note.strip("[]").partition(": ")
            tests = tuple(names.split())
            continue
        parts = {mark: [line[2:] for line in lines if line[:1] == mark] for mark in "-+="}
        if not path or not parts["-"] or sum(map(len, parts.values())) != len(lines):
            raise ValueError(f"This paragraph is no mutation:\n{paragraph}")
        old, new, equivalent = ("\n".join(part) for part in parts.values())
        mutations.append(Mutation(path, tests, note, old, new, equivalent))
    return mutations


MUTATIONS = read_table(TABLE.read_text("utf8"))
