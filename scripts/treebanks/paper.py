"""What the paper found on each treebank (its appendix B), and which repository each row is."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).parents[2] / "assets" / "paper_table.tsv"

# Training sentences from which on a treebank belongs to a group of the paper's breakdown.
GROUPS = {"high": 10_000, "medium": 1_000, "low": 0}


class PaperRow(NamedTuple):
    """A treebank in the paper. Its parsers are Stanza's; changes are relative, in percent, from unconstrained to single root."""

    language: str
    treebank: str
    train: int
    test: int
    malformed: float
    uas: float
    exact_match: float

    @property
    def group(self) -> str:
        return next(name for name, least in GROUPS.items() if self.train >= least)


def read_paper() -> dict[str, PaperRow]:
    """All rows, by treebank, those with the most training sentences first."""
    with open(TABLE, encoding="utf8", newline="") as file:
        rows = [
            PaperRow(
                language=row["language"],
                treebank=row["treebank"],
                train=int(row["train"]),
                test=int(row["test"]),
                malformed=float(row["malformed"]),
                uas=float(row["uas"]),
                exact_match=float(row["exact_match"]),
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]
    return {row.treebank: row for row in rows}
