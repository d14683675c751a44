"""`spacy mindroot rules`: counts how often the trees of CoNLL-U files break rules, and learns rules from them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import typer
from wasabi import table

from ..conllu import conllu_files, read_pieces
from ..conllu.repair import pos_of_sentence
from ..conllu.sentence import Sentence
from ..rules import Rules, to_rules
from ..rules.learning import RuleCount, Tree, count_rules, learn_rules
from ..trees import is_tree
from .files import check_paths, errors_as_messages, opened_to_read, outputs, rules_file
from .rewriting import shown_name

__all__ = ["run"]


def run(source: Path, out: Path | None, candidates: str, min_support: int, max_violation: float) -> None:
    """Run the command. See `spacy mindroot rules --help`."""
    with errors_as_messages(nothing_written=out is not None):
        check_paths({"IN": source, "--candidates": rules_file(candidates)}, {"--out": out})
        trees = list(_trees(source))
        known = to_rules(candidates, what="--candidates")
        counts = count_rules(trees, known)
        learnt = learn_rules(trees, min_support=min_support, max_violation=max_violation, candidates=known)
        if out is not None:
            with outputs() as opened, opened(out) as file:
                file.write(f"{json.dumps(learnt.to_dict(), indent=2, ensure_ascii=False)}\n".encode())
        typer.echo(_table(counts, learnt), err=str(out) == "-")


def _trees(source: Path) -> Iterator[Tree]:
    """Yield the trees of all files, with any number of roots."""
    for path in [source] if str(source) == "-" else conllu_files(source):
        with opened_to_read(path) as file:
            for piece in read_pieces(file, shown_name(path)):
                if isinstance(piece, Sentence):
                    if not is_tree(piece.heads):
                        raise piece.fault(1, "begins a sentence without a tree. Run `spacy mindroot repair` first.")
                    yield piece.heads, piece.labels, pos_of_sentence(piece)


def _table(counts: list[RuleCount], learnt: Rules) -> str:
    prices = {replace(rule, price=math.inf): rule.price for rule in learnt}
    rows = []
    for rule, support, violations in counts:
        price = prices.get(replace(rule, price=math.inf))
        shown = "not used" if price is None else "hard" if price == math.inf else f"{price:.2f}"
        share = f"{violations / support:.2%}" if support else ""
        rows.append((rule.name, f"{support:,}", f"{violations:,}", share, shown))
    header = ("Rule", "cases", "violations", "", "learnt")
    return str(table(rows, header=header, divider=True, aligns=("l", "r", "r", "r", "r"), max_col=60))
