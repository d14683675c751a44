"""The arguments and options of `spacy mindroot vote`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["vote_cli"]


def vote_cli(
    files: list[Path] = typer.Argument(
        ...,
        metavar="FILE",
        help="CoNLL-U files: parses of the same sentences and words",
        allow_dash=True,
        dir_okay=False,
    ),
    out: Path = options.out_file(
        "CoNLL-U file to write, or - for standard output", *options.CONLLU, ".gz", default=...
    ),
    weights: str | None = typer.Option(
        None,
        "--weights",
        "-w",
        metavar="N,N,...",
        help="Number of votes of each file, in order; they need not be whole (default: 1 each)",
    ),
    demoted_label: str | None = options.demoted_label("a word whose root arc lost, if no file has another"),
    rules: str | None = options.rules("Elect the labelled tree with the most votes of those that meet rules"),
) -> None:
    """Combine several parsers' output into one parse: the single-rooted tree whose arcs have the most votes.

    Every file votes for its arcs (Sagae and Lavie 2006). The files that have an arc of the resulting tree then vote
    for its label. Ties go to the first file. Writes the first file with the resulting heads and labels.
    """
    from ..vote import run

    run(files, out, weights, demoted_label, rules)
