"""An audit as a table, as Markdown, as JSON and as a page to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from .drawing import DrawnTree, draw_trees
from .measures import NAMES, Audit, AuditedSentence, Comparison

Rows = list[tuple[str, ...]]


def count_rows(audit: Audit) -> Rows:
    """What there is to count, a name and a value a row."""
    share = f"{audit.malformed:,} ({audit.malformed_rate:.2%})"
    rows: Rows = [
        ("sentences", f"{audit.sentences:,}"),
        ("tokens", f"{audit.tokens:,}"),
        ("malformed: best unconstrained tree has several roots", share),
        ("roots of the unconstrained trees, mean and most", f"{audit.mean_roots:.3f}, {audit.most_roots}"),
        ("greedy graph is a tree", f"{audit.greedy_tree:.2%}"),
        ("greedy graph is a tree with one root", f"{audit.greedy_answer:.2%}"),
        ("one root with the constraint", f"{audit.single_root:.2%}"),
        ("sentences and arcs that the constraint changes", f"{audit.changed_sentences:,}, {audit.changed_arcs:,}"),
    ]
    if audit.weight_lost is not None:
        lost = [f"{audit.weight_lost[name]:.3f}" for name in ("mean", "least", "greatest")]
        rows.append(("weight lost in a malformed sentence: mean, least, greatest", ", ".join(lost)))
    if audit.unknown_labels:
        shown = ", ".join(f"{label} ({count})" for label, count in list(audit.unknown_labels.items())[:3])
        more = f" and {len(audit.unknown_labels) - 3} more" if len(audit.unknown_labels) > 3 else ""
        rows.append(("gold labels that the scorer does not have (tokens)", shown + more))
    return rows


SCORE_HEADER = ("", "unconstrained", "single root", "difference, 95 % interval", "relative", "up / down in")


def score_rows(audit: Audit) -> Rows:
    """Each measure without and with the constraint. See `audit.Comparison`."""
    return [_score_row(NAMES[name], comparison) for name, comparison in audit.scores.items()]


def _score_row(name: str, score: Comparison) -> tuple[str, ...]:
    low, high = (100 * bound for bound in score.interval)
    return (
        name,
        f"{100 * score.unconstrained:.2f}",
        f"{100 * score.single_root:.2f}",
        f"{100 * score.difference:+.2f} [{low:+.2f}, {high:+.2f}]",
        "-" if score.relative is None else f"{score.relative:+.3f} %",
        f"{score.better} / {score.worse}",
    )


NOTE = (
    "Scores are percentages; all tokens that have a gold head count. The interval is of the difference in points, from a bootstrap over "
    "sentences. Up / down in: sentences in which the measure goes up / down; where these are few, trust them, not the interval."
)


def to_json(audit: Audit, facts: dict[str, Any]) -> dict[str, Any]:
    """For `audit.json`. `facts` say what was audited, and with which versions."""
    return {**facts, **asdict(audit), "malformed_rate": audit.malformed_rate}


def to_markdown(audit: Audit, facts: dict[str, Any]) -> str:
    """For `audit.md`."""
    lines = ["# What the root constraint changes", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", *markdown_table(("", ""), count_rows(audit)), ""]
    if audit.scores:
        lines += [*markdown_table(SCORE_HEADER, score_rows(audit)), "", NOTE]
    return "\n".join(lines) + "\n"


def markdown_table(header: Sequence[str], rows: Rows) -> list[str]:
    """The lines of a table: the first column to the left, the others to the right."""
    divider = "| --- |" + " ---: |" * (len(header) - 1)
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in (header, *rows)]
    return [lines[0], divider, *lines[1:]]


def to_html(audit: Audit, facts: dict[str, Any], audited: Sequence[AuditedSentence], *, most: int) -> str:
    """For `audit.html`: the tables, and the sentences that the constraint changes, before and after.

    most (int): How many of these are shown.
    """
    changed = [each for each in audited if each.changed]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("audit.html.jinja").render(
        facts=facts,
        counts=count_rows(audit),
        header=SCORE_HEADER,
        scores=score_rows(audit),
        note=NOTE,
        changed=len(changed),
        sentences=[_sentence_for_page(each) for each in changed[:most]],
    )


def _sentence_for_page(audited: AuditedSentence) -> dict[str, Any]:
    record = audited.record()
    root = record["root"]
    arcs = [{**arc, "verdict": _verdict(arc)} for arc in record["changed"]]
    before, after = (
        DrawnTree(tree.heads.tolist(), tree.labels) for tree in (audited.unconstrained, audited.single_root)
    )
    return {
        **record,
        "changed": arcs,
        "kept": next((each for each in record["roots"] if each["token"] == root), None),
        "root_word": audited.sentence.words[root - 1],
        "picture": Markup(draw_trees(audited.sentence.words, before, after, marked=audited.changed)),
    }


def _verdict(arc: dict[str, Any]) -> str:
    """Which of the two heads of a changed arc is the gold one."""
    if "gold" not in arc:
        return ""
    right = [arc[side]["head"] == arc["gold"]["head"] for side in ("unconstrained", "single_root")]
    return {(True, False): "worse", (False, True): "better"}.get((right[0], right[1]), "both wrong")
