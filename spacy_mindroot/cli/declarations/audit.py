"""The arguments and options of `spacy mindroot audit`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["audit_cli"]


def audit_cli(
    model: str = options.model(
        "Pipeline with an arc_scorer or any other component that sets arc scores; or a score file (.npz), which "
        "needs no CORPUS"
    ),
    corpus: Path | None = options.corpus(
        "Annotated corpus", "Its trees must be single-rooted; `spacy mindroot repair` makes them so", default=None
    ),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FOLDER",
        help="Folder for the report: audit.html (pictures of the changed sentences), audit.md, audit.json, audit.jsonl "
        "(one line per sentence), and both trees of each sentence as CoNLL-U (default: print tables only)",
        file_okay=False,
        callback=options.ending(),
    ),
    most: int = typer.Option(
        200, "--most", "-m", metavar="N", min=0, help="Largest number of changed sentences in audit.html"
    ),
    seed: int = options.seed("the bootstrap"),
    surface_tokens: bool | None = options.surface_tokens("Score"),
    rules: str | None = options.rules("Also report what rules change", "Needs a pipeline"),
    code: Path | None = options.code("-c"),
) -> None:
    """Report what the root constraint changes on a corpus.

    Decodes every sentence, with gold tokens and boundaries, without and with the root constraint. Prints how often
    the best unconstrained tree is multi-rooted, what the constraint costs, and UAS, LAS, exact match and more both
    ways, with a 95 % interval on each difference.
    """
    from ..audit import run

    run(model, corpus, out, most, seed, surface_tokens, rules)
