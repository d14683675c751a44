"""The arguments and options of `spacy mindroot average`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["average_cli"]


def average_cli(
    models: list[str] = typer.Argument(
        ...,
        metavar="MODEL",
        help="Trained pipelines, folders or packages: two or more, trained on the same data with other seeds",
    ),
    output: Path = typer.Option(
        ...,
        "--output",
        "-o",
        metavar="FOLDER",
        help="New folder for the pipeline",
        file_okay=False,
        callback=options.ending(),
    ),
    code: Path | None = options.code("-c"),
) -> None:
    """Join pipelines into one whose arc scores and label scores are the mean of theirs.

    It is better than each of them, above all if the treebank is small, and its scorer takes as much time and memory as
    theirs together. All other components are those of the first pipeline. Its probabilities are not calibrated: see
    `calibrate`. `build --seeds` does all of this in one go.
    """
    from ..average import run

    run(models, output)
