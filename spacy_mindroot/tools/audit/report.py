"""An audit as a table, as Markdown, as JSON and as an HTML page with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...accuracy import NAMES
from ...escapes import markdown_text, visible
from ..drawing.style import fill_template
from .measures import SIDES, Audit, AuditedSentence
from .roots import SeveralRoots
from .valid import Rows, RuleAudit, Table, ValidSentence

__all__ = ["NOTE", "audit_tables", "count_rows", "markdown_table", "to_html", "to_json", "to_markdown"]

_SCORE_HEADER = ("", "unconstrained", "single root", "difference, 95 % interval", "relative", "up / down in")

NOTE = (
    "Scores are percentages; all tokens that have a gold head count. The interval is that of the difference, in "
    "points, from a bootstrap over sentences. Up / down in: sentences in which the measure goes up / down. Where these "
    "are few, trust them rather than the interval."
)


def count_rows(audit: Audit) -> Rows:
    """Return the rows of the first table: a name and a value each."""
    rows: Rows = [
        ("sentences", f"{audit.sentences:,}"),
        ("tokens", f"{audit.tokens:,}"),
        ("multi-rooted without the constraint", f"{audit.multi_rooted:,} ({audit.multi_rooted_rate:.2%})"),
        ("roots of the unconstrained trees: mean, most", f"{audit.mean_roots:.3f}, {audit.most_roots}"),
        *_root_rows(audit.several_roots),
        ("greedy graph is a tree", f"{audit.greedy_tree:.2%}"),
        ("greedy graph is a single-rooted tree", f"{audit.greedy_answer:.2%}"),
        ("single-rooted with the constraint", f"{audit.single_root:.2%}"),
        ("sentences and arcs that the constraint changes", f"{audit.changed_sentences:,}, {audit.changed_arcs:,}"),
    ]
    if audit.weight_lost is not None:
        lost = [f"{audit.weight_lost[name]:.3f}" for name in ("mean", "least", "greatest")]
        rows.append(("weight lost in a multi-rooted sentence: mean, least, greatest", ", ".join(lost)))
    if audit.unknown_labels:
        shown = ", ".join(f"{visible(label)} ({count})" for label, count in list(audit.unknown_labels.items())[:3])
        more = f" and {len(audit.unknown_labels) - 3} more" if len(audit.unknown_labels) > 3 else ""
        rows.append(("gold labels that the scorer does not have (tokens)", shown + more))
    return rows


def _root_rows(found: Sequence[SeveralRoots]) -> Rows:
    names = ["probability of several roots"]
    names += [f"calibrated (temperature {own.temperature:.3g}, lapse {own.lapse:.3g})" for own in found[1:]]
    return [
        (f"{name}: mean, above one half in", f"{own.mean:.2%}, {own.likely:.2%}")
        for name, own in zip(names, found, strict=False)
    ]


def audit_tables(audit: Audit) -> list[Table]:
    """Return the counts and, if there are any, each measure without and with the constraint."""
    rows = []
    for name, score in audit.scores.items():
        *cells, ups_and_downs = score.row(NAMES[name])
        rows.append((*cells, "-" if score.relative is None else f"{score.relative:+.3f} %", ups_and_downs))
    return [(("", ""), count_rows(audit)), *([(_SCORE_HEADER, rows)] if rows else [])]


def to_json(audit: Audit, facts: dict[str, Any], valid: RuleAudit | None = None) -> dict[str, Any]:
    """Return the content of `audit.json`. The facts say what was audited, and with which versions."""
    renamed = dict(zip(("before", "after"), SIDES, strict=True))
    scores = {
        name: {renamed.get(key, key): value for key, value in asdict(own).items()} for name, own in audit.scores.items()
    }
    found = {**facts, **asdict(audit), "scores": scores, "multi_rooted_rate": audit.multi_rooted_rate}
    return found if valid is None else {**found, "rules": valid.to_json()}


def to_markdown(audit: Audit, facts: dict[str, Any], valid: RuleAudit | None = None) -> str:
    """Return the content of `audit.md`. See `to_json`."""
    lines = ["# What the root constraint changes", ""]
    lines += [f"- {name}: {markdown_text(str(value))}" for name, value in facts.items()]
    sections = [(audit_tables(audit), audit.scores)]
    sections += [] if valid is None else [(valid.tables(), valid.scores)]
    for number, (tables, scores) in enumerate(sections):
        lines += ["", "# What rules change"] if number else []
        for header, rows in tables:
            lines += ["", *markdown_table(header, rows)]
        lines += ["", NOTE] if scores else []
    return "\n".join(lines) + "\n"


def markdown_table(header: Sequence[str], rows: Rows) -> list[str]:
    """Return the lines of a table. Its first column is aligned left, the others right. Cells are text, not Markdown."""
    divider = "| --- |" + " ---: |" * (len(header) - 1)
    lines = [f"| {' | '.join(map(markdown_text, row))} |" for row in (header, *rows)]
    return [lines[0], divider, *lines[1:]]


def to_html(
    audit: Audit,
    facts: dict[str, Any],
    changed: Sequence[AuditedSentence],
    valid: RuleAudit | None = None,
    mended: Sequence[ValidSentence] = (),
) -> str:
    """Return the content of `audit.html`. See `to_json`.

    changed, mended (Sequence): The sentences to show that the constraint changes, and those that rules change.
    """
    return fill_template(
        Path(__file__).parent / "templates" / "audit.html.jinja",
        title="What the root constraint changes",
        facts=facts,
        tables=audit_tables(audit),
        note=NOTE,
        audit=audit,
        sentences=changed,
        verdict=_verdict,
        valid=valid,
        mended=mended,
    )


def _verdict(arc: dict[str, Any]) -> str:
    """Whether a changed arc is better or worse than before, by its gold head; "" if that is unknown."""
    if "gold" not in arc:
        return ""
    right = [arc[side]["head"] == arc["gold"]["head"] for side in SIDES]
    return {(True, False): "worse", (False, True): "better"}.get((right[0], right[1]), "both wrong")
