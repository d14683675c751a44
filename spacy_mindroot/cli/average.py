"""`spacy mindroot average`: joins trained pipelines into one with the mean of their scores."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options
from .files import new_folder
from .paths import check_new_folder
from .printing import done, say
from .running import command

__all__ = ["average_cli"]


@command("output")
def average_cli(
    models: list[str] = typer.Argument(..., metavar="MODEL"),
    output: Path = options.new_pipeline(),
    code: Path | None = options.code("-c"),
) -> None:
    """Join pipelines into one whose arc scores and label scores are the mean of theirs.

    It is better than each of them, above all if the treebank is small, and its scorer takes as much time and memory as
    theirs together. All other components are those of the first pipeline. Its probabilities are not calibrated: see
    `calibrate`. `build --seeds` does all of this in one go.

    models: Trained pipelines, folders or packages: two or more, trained on the same data with other seeds.
    """
    from ..arc_scorer.average import average_pipelines
    from ..tools.gold import load_pipeline

    check_new_folder(output, "--output")
    nlp = average_pipelines([load_pipeline(model) for model in models])
    with new_folder(output) as folder:
        nlp.to_disk(folder)
    done(f"{output} has the mean of the scores of {len(models)} pipelines.")
    say(f"Calibrate its probabilities on a development set: spacy mindroot calibrate {output} DEV --in-place")
