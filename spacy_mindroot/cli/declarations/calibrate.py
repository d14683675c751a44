"""The arguments and options of `spacy mindroot calibrate`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["calibrate_cli"]


def calibrate_cli(
    model: str = options.model("Pipeline with a mind_root: a folder, or a package"),
    corpus: Path = options.corpus(
        "Annotated sentences that MODEL was not trained on", "With --folds, its training set"
    ),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        metavar="FOLDER",
        help="New folder for the calibrated pipeline (default: the calibration is added to MODEL itself)",
        callback=options.ending(),
    ),
    folds: int | None = typer.Option(
        None,
        "--folds",
        metavar="K",
        min=2,
        help="For lack of a development set: divide CORPUS into K parts, and train on all but one, in turn, as MODEL's "
        "config says (default: no training)",
    ),
    train: Path | None = typer.Option(
        None,
        "--train",
        metavar="FILE",
        help="With a small CORPUS: MODEL's training set. Its sentences count as well, each scored by a pipeline that "
        "was trained on the others, in --folds parts, 5 if not given (default: none)",
    ),
    component: str | None = typer.Option(
        None, "--component", metavar="NAME", help="Name of the component (default: the first mind_root)"
    ),
    surface_tokens: bool | None = options.surface_tokens("Read"),
    code: Path | None = options.code("-c"),
) -> None:
    """Calibrate the probabilities of heads and labels of a trained pipeline.

    Fits a temperature and a lapse for arcs and another pair for labels, and the thresholds of head sets, to annotated
    sentences, and saves them with the pipeline. Trees and labels stay the same. Prints the expected calibration error
    (ECE, in points) on CORPUS without and with them: since they were fitted to it, the error on other text is
    greater. The last row is the error that chance would leave to perfect probabilities on so few tokens.
    `spacy train` does the same for pipelines from `init-config`.
    """
    from ..calibrate import run

    run(model, corpus, output, folds, component, surface_tokens, train)
