"""`spacy mindroot average`: joins trained pipelines into one with the mean of their scores."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import msg

from ..arc_scorer.average import average_pipelines
from ..tools.gold import load_pipeline
from .files import errors_as_messages
from .folders import check_new_folder, new_folder

__all__ = ["run"]


def run(models: list[str], output: Path) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot average --help`."""
    with errors_as_messages(nothing_written=True):
        check_new_folder(output, "--output")
        nlp = average_pipelines([load_pipeline(model) for model in models])
        with new_folder(output) as folder:
            nlp.to_disk(folder)
    msg.good(f"{output} has the mean of the scores of {len(models)} pipelines.")
    typer.echo(f"Calibrate its probabilities on a development set: spacy mindroot calibrate {output} DEV")
