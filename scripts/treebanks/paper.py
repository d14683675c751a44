"""The results of the paper on each treebank (its appendix B), with the name of the treebank's repository."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

__all__ = ["GROUPS", "TABLE", "PaperRow", "read_paper"]

TABLE = Path(__file__).parents[2] / "assets" / "paper_table.tsv"

# The least number of training sentences of each group in the paper's breakdown.
GROUPS = {"high": 10_000, "medium": 1_000, "low": 0}


class PaperRow(NamedTuple):
    """A treebank in the paper, parsed by Stanza.

    language (str), treebank (str): Name of the language, and of the repository.
    train (int), test (int): Numbers of sentences.
    multi_rooted (float): Percent of test sentences whose best unconstrained tree is multi-rooted.
    uas (float), exact_match (float): Relative change from unconstrained to single-rooted trees, in percent.
    """

    language: str
    treebank: str
    train: int
    test: int
    multi_rooted: float
    uas: float
    exact_match: float

    @property
    def group(self) -> str:
        """The group of the paper's breakdown: "high", "medium" or "low"."""
        return next(name for name, least in GROUPS.items() if self.train >= least)


def read_paper() -> dict[str, PaperRow]:
    """All rows, by treebank, in order of training sentences, most first."""
    with open(TABLE, encoding="utf8", newline="") as file:
        rows = [
            PaperRow(
                language=row["language"],
                treebank=row["treebank"],
                train=int(row["train"]),
                test=int(row["test"]),
                multi_rooted=float(row["malformed"]),
                uas=float(row["uas"]),
                exact_match=float(row["exact_match"]),
            )
            for row in csv.DictReader(file, delimiter="\t")
        ]
    return {row.treebank: row for row in rows}
