"""The benchmarks: `python -m benchmarks --help` lists them. Figures are medians and ratios within one run."""

from __future__ import annotations

import typer

from .commands.annotate import annotate
from .commands.calibration import calibration
from .commands.chaos import chaos
from .commands.component import component
from .commands.confidence import confidence
from .commands.correction import correction
from .commands.decode import decode
from .commands.distillation import distillation
from .commands.given import given
from .commands.gpu import gpu
from .commands.inference import inference
from .commands.parse import parse
from .commands.pipeline import pipeline
from .commands.repair import repair
from .commands.roots import roots
from .commands.rules import rules
from .commands.search import search
from .commands.sets import sets
from .commands.suspect import suspect
from .commands.training import losses, train
from .commands.training_size import training_size
from .commands.validator import validator

app = typer.Typer(help="Benchmarks. Figures are medians and ratios within one run.", no_args_is_help=True)
for _command in (
    decode,
    component,
    pipeline,
    gpu,
    parse,
    chaos,
    train,
    losses,
    inference,
    search,
    rules,
    validator,
    given,
    confidence,
    calibration,
    sets,
    roots,
    training_size,
    distillation,
    correction,
    suspect,
    repair,
    annotate,
):
    app.command()(_command)


if __name__ == "__main__":
    app()
