"""The arguments and options of `spacy mindroot repair`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["repair_cli"]


def repair_cli(
    source: Path = options.conllu_source(),
    out: Path | None = typer.Argument(
        None,
        metavar="OUT",
        help="File or folder to write, or - for standard output. It may be IN itself",
        callback=options.ending(*options.CONLLU, ".gz"),
        allow_dash=True,
    ),
    check: bool = typer.Option(
        False,
        "--check",
        help="Write no CoNLL-U. Print every malformed tree with file and line; exit status 1 if there is any "
        "(default: off)",
    ),
    report: Path | None = options.report("all changes", allow_dash=False),
    skip_invalid: bool = typer.Option(
        False,
        "--skip-invalid",
        help="Leave a sentence that is not CoNLL-U, or has no heads, exactly as it is, say so with file and line, and "
        "go on; exit status 0 (default: stop and write nothing)",
    ),
    demoted_label: str | None = options.demoted_label("a demoted root"),
    rules: str | None = options.rules("Also mend trees that break rules, with the fewest changes of heads and labels"),
) -> None:
    """Turn the basic trees of CoNLL-U files into single-rooted trees, changing the fewest arcs.

    Repairs sentences with several roots or none, cycles, heads that are missing or out of range, and `root` as the
    label of a word that is not the root. Writes HEAD and DEPREL of the words that change; every other byte stays as
    it is. Reads CoNLL-U, CoNLL-U Plus and PARSEME's cupt, also compressed with gzip.
    """
    from ..repair import run

    run(source, out, check, report, demoted_label, skip_invalid, rules)
