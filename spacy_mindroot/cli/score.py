"""`spacy mindroot score`: writes the arc scores that a pipeline gives to a corpus to a score file."""

from __future__ import annotations

from pathlib import Path

import typer
from tqdm import tqdm

from ..score_file import write_scored
from . import options
from .paths import PathsError, check_paths, model_folder
from .printing import say
from .running import command, written

__all__ = ["score_cli"]


@command("out")
def score_cli(
    model: str = options.model(),
    corpus: Path = options.corpus("Annotated corpus"),
    out: Path = typer.Argument(..., metavar="OUT", dir_okay=False),
    surface_tokens: bool | None = options.surface_tokens("Score"),
    code: Path | None = options.code("-c"),
) -> None:
    """Write the arc scores that a pipeline gives to a corpus, with the gold trees, to a score file.

    Sentences keep their gold tokens and boundaries. `spacy mindroot decode` and `audit` read the file.

    model: Pipeline with an arc_scorer or any other component that sets arc scores.
    out: Score file to write (.npz).
    """
    from ..tools.gold import load_pipeline, score_sentences
    from .corpora import read_for

    check_paths({"MODEL": model_folder(model), "CORPUS": corpus, "--code": code}, {"OUT": out})
    if out.suffix != ".npz":
        raise PathsError(f"OUT is {out}. Let it end in .npz, so that the other commands recognize it.")
    nlp = load_pipeline(model)
    gold = read_for(nlp, corpus, surface_tokens)
    scored = list(tqdm(score_sentences(nlp, gold), unit=" sentences", disable=None, leave=False))
    write_scored(out, scored)
    written(out)
    say(f"Wrote the arc scores of {len(scored):,} sentences to {out}.")
