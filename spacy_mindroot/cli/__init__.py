"""`spacy mindroot ...`. Every spaCy command imports this at its start, so what a command needs is imported inside it."""

from __future__ import annotations

from pathlib import Path

import typer
from spacy.cli._util import app

mindroot = typer.Typer(
    name="mindroot", help="Dependency trees with exactly one root.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(mindroot)


@mindroot.callback()
def main() -> None:
    """Dependency trees with exactly one root."""


@mindroot.command("decode")
def decode_cli(
    scores: Path = typer.Argument(
        ...,
        help="Score file (.npz): the arrays `lens` and `arc`, and, if there are any, `words`, `labels`, `label_best`, `heads`",
        exists=True,
        dir_okay=False,
    ),
    out: Path | None = typer.Argument(
        None,
        help="CoNLL-U file to write, or - for standard output. Without it, only the table is printed",
        dir_okay=False,
        allow_dash=True,
    ),
    show: int = typer.Option(
        0,
        "--show",
        "-s",
        metavar="N",
        min=0,
        help="Print the first N trees that the constraint changes, without it and with it",
    ),
) -> None:
    """Decode the best tree with one root of every sentence in a score file.

    Writes CoNLL-U with the best label of each arc, and prints a table: how many sentences there are, in how many of them
    the best tree without the constraint has more than one root, and, where the file has gold heads, how many heads are
    right (UAS, all tokens counted) without and with the constraint.
    """
    from .decode import run

    run(scores, out, show)
