"""The arguments and options of `spacy mindroot rules`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["rules_cli"]


def rules_cli(
    source: Path = options.conllu_source(),
    out: Path | None = options.out_file(
        "JSON file to write the learnt rules to, or - for standard output (default: none)", ".json"
    ),
    candidates: str = typer.Option(
        "ud",
        "--candidates",
        metavar="RULES",
        help="Rules to count and to choose from: ud, for the syntax of Universal Dependencies, or a JSON file of rules",
    ),
    min_support: int = typer.Option(50, "--min-support", metavar="N", help="Leave out rules with fewer cases"),
    max_violation: float = typer.Option(
        0.001, "--max-violation", metavar="SHARE", help="Share of cases that may break a hard rule, from 0 to 1"
    ),
) -> None:
    """Count how often the trees of CoNLL-U files break rules, and learn rules from them.

    A rule that holds becomes a hard rule. Another one gets a price: the log-odds that it holds. The file of rules can
    be read and edited, and goes to `repair --rules`, `vote --rules`, or, as a table, into the setting `rules` of
    mind_root.
    """
    from ..rules import run

    run(source, out, candidates, min_support, max_violation)
