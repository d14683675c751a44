"""`spacy mindroot rules`: counts how often the trees of CoNLL-U files break rules, and learns rules from them."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..rules import Rules, to_rules
from ..rules.learning import RuleCount, count_rules, learn_rules
from ..tables import text_table
from ..trees import is_tree
from . import options
from .files import opened_to_read, opened_to_write
from .paths import check_paths, rules_file
from .printing import found, say
from .running import command

if TYPE_CHECKING:
    from ..rules.learning import Tree

__all__ = ["rules_cli"]

_LEGEND = (
    "learnt: a hard rule always holds; of another, the number is the price of each violation, the log-odds that it "
    "holds; rules with too few cases are not used."
)


@command("out", tables=True)
def rules_cli(
    source: Path = options.conllu_source(),
    out: Path | None = options.out_file(".json"),
    candidates: str = typer.Option("ud", "--candidates", metavar="RULES"),
    min_support: int = typer.Option(50, "--min-support", metavar="N"),
    max_violation: float = typer.Option(0.001, "--max-violation", metavar="SHARE"),
) -> None:
    """Count how often the trees of CoNLL-U files break rules, and learn rules from them.

    A rule that holds becomes a hard rule. Another one gets a price: the log-odds that it holds. The file of rules can
    be read and edited, and goes to `repair --rules`, `vote --rules`, or, as a table, into the setting `rules` of
    mind_root.

    out: JSON file to write the learnt rules to, or - for standard output (default: none).
    candidates: Rules to count and to choose from: ud, for the syntax of Universal Dependencies, or a JSON file of
        rules.
    min_support: Leave out rules with fewer cases.
    max_violation: Share of cases that may break a hard rule, from 0 to 1.
    """
    check_paths({"IN": source, "--candidates": rules_file(candidates)}, {"--out": out})
    trees = list(_trees(source))
    known = to_rules(candidates, what="--candidates")
    counts = count_rules(trees, known)
    learnt = learn_rules(trees, min_support=min_support, max_violation=max_violation, candidates=known)
    if out is not None:
        with opened_to_write(out) as file:
            file.write(f"{json.dumps(learnt.to_dict(), indent=2, ensure_ascii=False)}\n".encode())
    rows = _rows(counts, learnt)
    say(_table(rows))
    say(_LEGEND)
    found({"rules": rows})
    if any(violations for *_, violations in counts):
        place = shlex.quote(str(source))
        say(f"Where they are: spacy mindroot repair {place} --check --rules {shlex.quote(candidates)}")


def _trees(source: Path) -> Iterator[Tree]:
    """Yield the trees of all files, with any number of roots."""
    from ..conllu import Sentence, conllu_files, read_pieces
    from ..conllu.repair import pos_of_sentence
    from .rewriting import shown_name

    for path in [source] if str(source) == "-" else conllu_files(source):
        with opened_to_read(path) as file:
            for piece in read_pieces(file, shown_name(path)):
                if isinstance(piece, Sentence):
                    if not is_tree(piece.heads):
                        raise piece.fault(1, "begins a sentence without a tree. Run `spacy mindroot repair` first.")
                    yield piece.heads, piece.labels, pos_of_sentence(piece)


def _rows(counts: list[RuleCount], learnt: Rules) -> list[dict[str, Any]]:
    prices = {replace(rule, price=math.inf): rule.price for rule in learnt}
    rows = []
    for rule, cases, violations in counts:
        price = prices.get(replace(rule, price=math.inf))
        shown = "not used" if price is None else "hard" if price == math.inf else price
        rows.append({"rule": rule.name, "cases": cases, "violations": violations, "learnt": shown})
    return rows


def _table(rows: list[dict[str, Any]]) -> str:
    cells = []
    for name, cases, violations, learnt in map(dict.values, rows):
        share = f"{violations / cases:.2%}" if cases else ""
        shown = learnt if isinstance(learnt, str) else f"{learnt:.2f}"
        cells.append((name, f"{cases:,}", f"{violations:,}", share, shown))
    return text_table(cells, ("Rule", "cases", "violations", "", "learnt"))
