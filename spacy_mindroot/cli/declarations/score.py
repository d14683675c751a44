"""The arguments and options of `spacy mindroot score`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["score_cli"]


def score_cli(
    model: str = options.model("Pipeline with an arc_scorer or any other component that sets arc scores"),
    corpus: Path = options.corpus("Annotated corpus"),
    out: Path = typer.Argument(..., metavar="OUT", help="Score file to write (.npz)", dir_okay=False),
    surface_tokens: bool | None = options.surface_tokens("Score"),
    code: Path | None = options.code("-c"),
) -> None:
    """Write the arc scores that a pipeline gives to a corpus, with the gold trees, to a score file.

    Sentences keep their gold tokens and boundaries. `spacy mindroot decode` and `audit` read the file.
    """
    from ..score import run

    run(model, corpus, out, surface_tokens)
