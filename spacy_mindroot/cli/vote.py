"""`spacy mindroot vote`: combines the parses of several CoNLL-U files into one."""

from __future__ import annotations

from pathlib import Path

import typer

from ..errors import VoteError
from ..rules import to_rules
from . import options
from .files import outputs
from .paths import check_paths, rules_file
from .printing import found, say
from .running import command

__all__ = ["vote_cli"]


@command("out", tables=True)
def vote_cli(
    files: list[Path] = typer.Argument(..., metavar="FILE", allow_dash=True, dir_okay=False),
    out: Path = options.out_file(*options.CONLLU, ".gz", default=...),
    weights: str | None = typer.Option(None, "--weights", "-w", metavar="N,N,..."),
    demoted_label: str | None = options.demoted_label("a word whose root arc lost, if no file has another"),
    rules: str | None = options.rules("Elect the labelled tree with the most votes of those that meet rules"),
) -> None:
    """Combine several parsers' output into one parse: the single-rooted tree whose arcs have the most votes.

    Every file votes for its arcs (Sagae and Lavie 2006). The files that have an arc of the resulting tree then vote
    for its label. Ties go to the first file. Writes the first file with the resulting heads and labels.

    files: CoNLL-U files: parses of the same sentences and words.
    out: CoNLL-U file to write, or - for standard output.
    weights: Number of votes of each file, in order; they need not be whole (default: 1 each).
    """
    from .rewriting import opened_conllu, vote_files

    if len(files) < 2:
        raise VoteError("a vote takes at least two files.")
    if sum(str(file) == "-" for file in files) > 1:
        raise VoteError("only one of the files can be standard input.")
    check_paths({"FILE": files, "--rules": rules_file(rules)}, {"--out": out})
    numbers = _to_weights(weights, len(files))
    known = None if rules is None else to_rules(rules, what="--rules").hard
    with outputs() as opened, opened_conllu(opened, out, files[0]) as output:
        text, figures = vote_files(files, output, numbers, demoted_label, known)
    say(text)
    found(figures)


def _to_weights(weights: str | None, files: int) -> list[float] | None:
    if weights is None:
        return None
    try:
        numbers = [float(weight) for weight in weights.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != files:
        raise VoteError(
            f"--weights takes {files} numbers with commas between them, one for each file; found {weights!r}."
        )
    return numbers
