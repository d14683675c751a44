"""The arguments and options of `spacy mindroot rank`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["rank_cli"]


def rank_cli(
    corpus: Path = options.corpus("Sentences to parse", "Their tokens are kept"),
    model: str = typer.Option(
        ..., "--model", "-m", metavar="MODEL", help="Pipeline with an arc_scorer and a mind_root"
    ),
    by: str = typer.Option("sentence", "--by", "-b", metavar="sentence|token", help="What to order"),
    criterion: str = typer.Option(
        "rate",
        "--criterion",
        "-c",
        metavar="rate|errors",
        help="Order of sentences: by the expected number of wrong heads per token to read, or in the whole sentence",
    ),
    most: int | None = typer.Option(
        None, "--most", metavar="N", min=1, help="Number of sentences or tokens to write (default: all)"
    ),
    given: bool = typer.Option(
        False,
        "--given",
        help="Keep the heads in CORPUS: the trees contain them, and only words without a head are ranked (default: "
        "parse all words anew)",
    ),
    out: Path | None = options.out_file("CoNLL-U file to write, or - for standard output (default: print tables only)"),
    report: Path | None = options.report("the ranking"),
    surface_tokens: bool | None = options.surface_tokens("Parse"),
    code: Path | None = options.code(),
) -> None:
    """Parse a corpus, and order its sentences or tokens for correction: the least certain first.

    The chance that a head is wrong is one minus its probability. By sentence, those with the most wrong heads expected
    per token come first, so that each token read finds as many errors as possible; by token, those with the least
    probable heads. Ties keep the order of the corpus. Prints the first of them, and how many of the wrong heads are
    expected in the first tokens.

    Writes CoNLL-U in this order, with the trees of the parser; comments (`# rank = 1`, `# expected_errors = 2.31`,
    `# tokens_to_read = 12`); and, in MISC, HeadProb and, where there is a second likely head, NextHead, NextProb and
    NextDeprel. By token, Rank marks the tokens to read.
    """
    from ..rank import run

    run(corpus, model, by, criterion, most, given, out, report, surface_tokens, code)
