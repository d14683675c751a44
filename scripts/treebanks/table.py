"""Joins all audits into the paper's table, next to the paper's own figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import srsly

from spacy_mindroot.tools.audit.report import markdown_table

from .paper import GROUPS, PaperRow, read_paper

__all__ = ["GROUP_HEADER", "HEADER", "NOTE", "Found", "Rows", "collect", "group_rows", "table_rows", "to_markdown"]

Rows = list[tuple[str, ...]]


class Found(NamedTuple):
    """The results on one treebank.

    paper (PaperRow): The paper's results.
    audits (list[dict]): The content of audit.json for each seed.
    """

    paper: PaperRow
    audits: list[dict[str, Any]]

    def multi_rooted(self) -> list[float]:
        """The percentage of multi-rooted sentences for each seed."""
        return [100 * audit["multi_rooted_rate"] for audit in self.audits]

    def relative(self, name: str) -> list[float]:
        """The relative change of a score for each seed, in percent, except for seeds whose score rose from 0."""
        scores = [audit["scores"][name] for audit in self.audits]
        return [
            score["relative"] or 0.0 for score in scores if score["relative"] is not None or not score["difference"]
        ]

    def change(self, name: str) -> str:
        """The mean and (range) over seeds, or a single seed's value and its [95 % interval]."""
        values = self.relative(name)
        if not values:
            return "-"
        if len(values) > 1:
            return f"{mean(values):+.3f} ({min(values):+.3f} to {max(values):+.3f})"
        interval = self.audits[0]["scores"][name]["relative_interval"]
        return f"{values[0]:+.3f}" + ("" if interval is None else f" [{interval[0]:+.3f}, {interval[1]:+.3f}]")


def collect(out: Path) -> list[Found]:
    """All treebanks that have been audited, in the paper's order.

    RAISES (RuntimeError): If the parsers of a treebank were made with different settings, or a file of theirs is
        damaged.
    """
    found = []
    for name, paper in read_paper().items():
        runs = sorted(out.glob(f"{name}/seed-*/run.json"))
        if len({_settings(run) for run in runs}) > 1:
            raise RuntimeError(
                f"the parsers in {out / name} were made with different data, settings or versions. Delete those that "
                "should not count."
            )
        audits = [
            _read(run.parent / "audit" / "audit.json", "multi_rooted_rate", "scores", "sentences") for run in runs
        ]
        if audits:
            found.append(Found(paper, audits))
    return found


def _settings(run: Path) -> str:
    facts = _read(run, "facts")["facts"]
    return str(srsly.json_dumps({name: fact for name, fact in facts.items() if name != "seed"}, sort_keys=True))


def _read(path: Path, *keys: str) -> dict[str, Any]:
    """A JSON file with these keys."""
    try:
        content = srsly.read_json(path)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"{path} can't be read ({error}). `run` makes it again.") from error
    if not isinstance(content, dict) or not content.keys() >= set(keys):
        raise RuntimeError(
            f"{path} has no {' or '.join(keys)}: it is damaged or of another version. `run` makes it again."
        )
    return content


HEADER = (
    "treebank",
    "train",
    "test",
    "seeds",
    "UAS",
    "multi-rooted %",
    "paper",
    "rel. change of UAS, %",
    "paper",
    "rel. change of exact match, %",
    "paper",
)


def table_rows(found: Sequence[Found]) -> Rows:
    """One row per treebank."""
    rows = []
    for each in found:
        multi_rooted = each.multi_rooted()
        spread = f" ({min(multi_rooted):.2f} to {max(multi_rooted):.2f})" if len(multi_rooted) > 1 else ""
        rows.append(
            (
                each.paper.treebank.removeprefix("UD_"),
                f"{each.paper.train:,}",
                f"{each.audits[0]['sentences']:,}",
                str(len(each.audits)),
                f"{mean(100 * audit['scores']['uas']['single_root'] for audit in each.audits):.2f}",
                f"{mean(multi_rooted):.2f}{spread}",
                f"{each.paper.multi_rooted:.2f}",
                each.change("uas"),
                f"{each.paper.uas:+.3f}",
                each.change("uem"),
                f"{each.paper.exact_match:+.3f}",
            )
        )
    return rows


GROUP_HEADER = (
    "training sentences",
    "treebanks",
    "multi-rooted %",
    "rel. change of UAS, %",
    "rel. change of exact match, %",
)


def group_rows(found: Sequence[Found]) -> Rows:
    """The breakdown by training size: our results, the paper's on the same treebanks, and the paper's on all."""
    rows, most = [], None
    for group, least in GROUPS.items():
        bounds = f"{group}: {least:,} and more" if most is None else f"{group}: {least:,} to {most - 1:,}"
        most = least
        own = [each for each in found if each.paper.group == group]
        everything = [row for row in read_paper().values() if row.group == group]
        if own:
            measures = [
                (mean(each.multi_rooted()), *(mean(each.relative(name) or [0.0]) for name in ("uas", "uem")))
                for each in own
            ]
            rows.append((f"{bounds}, ours", str(len(own)), *_means(measures)))
        for name, papers in (("paper, same treebanks", [each.paper for each in own]), ("paper, all", everything)):
            if papers:
                measures = [(paper.multi_rooted, paper.uas, paper.exact_match) for paper in papers]
                rows.append((f"{bounds}, {name}", str(len(papers)), *_means(measures)))
    return rows


def _means(measures: Sequence[tuple[float, float, float]]) -> tuple[str, str, str]:
    multi_rooted, uas, exact_match = (mean(column) for column in zip(*measures, strict=True))
    return f"{multi_rooted:.2f}", f"{uas:+.4f}", f"{exact_match:+.2f}"


NOTE = (
    "Test sentences with gold tokens. Changes are relative, from the best unconstrained to the best single-rooted "
    "tree: for one seed its value with the 95 % bootstrap interval in brackets, for several seeds the mean with the "
    "range in parentheses. The paper's parsers are Stanza's."
)


def to_markdown(found: Sequence[Found]) -> str:
    """Both tables and the note, as Markdown."""
    lines = []
    for header, rows in ((HEADER, table_rows(found)), (GROUP_HEADER, group_rows(found))):
        lines += [*markdown_table(header, rows), ""]
    return "\n".join([*lines, NOTE, ""])
