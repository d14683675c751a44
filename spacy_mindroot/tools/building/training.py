"""Trains a pipeline with `spacy train` in a process of its own, times it, and averages pipelines of several seeds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import IO, Any

from spacy.language import Language
from spacy.util import load_config, load_model

from ...arc_scorer.average import average_pipelines
from ...errors import MindRootError, TrainingError
from ...pipeline import calibration as calibrations
from .treebank import Treebank

__all__ = ["Trained", "average_trained", "one_thread", "reason", "train"]

_LINES = 6  # of an error message
# The command `spacy`. Its exceptions go to standard output, as its messages do, so that the log has both, in order.
_SPACY = """
import sys, traceback
sys.excepthook = lambda *error: traceback.print_exception(*error, file=sys.stdout)
from spacy.cli import setup_cli
setup_cli()
"""
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


@dataclass
class Trained:
    """A training that has finished."""

    steps: int  # the greatest number: training stops before if it no longer helps
    seeds: list[int]  # several for an average of pipelines
    cpu_seconds: float
    seconds: float
    best: str  # folder: `model-best` by the score on the development set, or, without one, `model-last`


def train(
    config: Path,
    treebank: Treebank,
    out: Path,
    *,
    steps: int | None = None,
    seed: int = 0,
    code: Path | None = None,
    calibrate: bool = True,
    settings: Mapping[str, Any] | None = None,
    show: bool = True,
) -> Trained:
    """Train a pipeline on one thread.

    treebank (Treebank): The data, with its `mixture`. Without a development set, the last pipeline is taken.
    steps (Optional[int]): The number of steps, and of the learning rate schedule if that has `total_steps`. None: as
        in the config.
    settings (Optional[Mapping[str, Any]]): Further settings of the config, by their names with dots.
    """
    dev, train_file = treebank.file("dev"), treebank.file("train")
    assert train_file is not None
    overrides = {
        "paths.train": str(train_file.absolute()),  # which `calibrate --folds` reads, from any folder
        "paths.dev": str((dev or train_file).absolute()),
        "system.seed": str(seed),
        "training.seed": str(seed),  # a config need not take it from the system's
    }
    loaded = load_config(config, interpolate=False)
    changed = (treebank.mixture.overrides(loaded) if treebank.mixture is not None else {}) | dict(settings or {})
    overrides |= {name: value if isinstance(value, str) else json.dumps(value) for name, value in changed.items()}
    training = loaded["training"]
    if not calibrate and calibrations.callback_settings(loaded) is not None:
        overrides.pop("training.before_to_disk.folds", None)  # of a mixture
        overrides["training.before_to_disk"] = "null"
    if steps is not None:
        overrides["training.max_steps"] = str(steps)
        if "total_steps" in training["optimizer"]["learn_rate"]:
            overrides["training.optimizer.learn_rate.total_steps"] = str(steps)
    most = int(steps or training["max_steps"])
    if most and (dev is None or most < int(training["eval_frequency"])):
        overrides["training.eval_frequency"] = str(most)
    if show:
        overrides["training.logger.progress_bar"] = "true"
    out.mkdir(parents=True)
    command = [sys.executable, "-c", _SPACY, "train", str(config), "--output", str(out)]
    command += ["--code", str(code)] if code is not None else []
    command += [part for name, value in overrides.items() for part in (f"--{name}", value)]
    began, cpu = time.monotonic(), _cpu_of_children()
    log = out / "log.txt"
    with open(log, "wb") as file:
        status = _run(command, file, show)
    if status:
        said = log.read_text("utf8", errors="replace")
        raise TrainingError(f"spaCy could not train the pipeline (see {log}):\n{reason(said)}")
    return Trained(
        steps=most,
        seeds=[seed],
        cpu_seconds=round(_cpu_of_children() - cpu, 1),
        seconds=round(time.monotonic() - began, 1),
        best="model-best" if dev else "model-last",
    )


def average_trained(
    folders: Sequence[Path], trained: Sequence[Trained], calibration: Mapping[str, Any] | None, *, has_dev: bool
) -> tuple[Language, Trained]:
    """Return the average of some pipelines, and what is known of their training.

    See `average_pipelines`. Without a development set, as many pipelines are trained for each part of the training set
    as are averaged.

    calibration (Optional[Mapping[str, Any]]): The settings of the callback that would have calibrated each of them (see
        `callback_settings`); None for no calibration.
    """
    pipelines = [load_model(folder) for folder in folders]
    own = pipelines[0].config.copy()
    nlp = average_pipelines(pipelines)
    seeds = [seed for each in trained for seed in each.seeds]
    if calibration is not None:
        try:
            dev, to_train = calibrations.read_corpora(own)
            if has_dev:
                gold = [example.reference for example in dev(nlp)]
                calibrations.calibrate(nlp, gold[: calibration["limit"] or None])
            elif folds := calibration["folds"]:
                fit = calibrations.fit_by_folds(own, to_train, folds, seeds=seeds, combine=average_pipelines)
                calibrations.set_calibration(nlp, fit)
        except MindRootError as error:
            warnings.warn(f"The pipeline is saved without calibration: {error}", stacklevel=2)
    return nlp, Trained(
        steps=trained[0].steps,
        seeds=seeds,
        cpu_seconds=round(sum(each.cpu_seconds for each in trained), 1),
        seconds=round(sum(each.seconds for each in trained), 1),
        best="average",
    )


def one_thread() -> dict[str, str]:
    """Return the environment of a Python process whose libraries for matrix products use one thread.

    Its output is not buffered, so that an error is not followed by what was printed before it.
    """
    return os.environ | {
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
    }


def reason(said: str) -> str:
    """Return why a process failed, by what it said: its last exception, without traceback, or else the last lines."""
    _, traceback, error = said.rpartition("Traceback (most recent call last):\n")
    lines = error.strip("\n").splitlines()
    if traceback:
        lines = list(dropwhile(lambda line: line.startswith(" "), lines))[:_LINES]
    return "\n".join(lines[-_LINES:]).strip()


def _run(command: list[str], log: IO[bytes], show: bool) -> int:
    """Run a command. Its standard output goes to the log and to ours; progress bars, on standard error, to ours."""
    errors = None if show else subprocess.STDOUT
    with subprocess.Popen(command, env=one_thread(), stdout=subprocess.PIPE, stderr=errors) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                plain = _COLOUR.sub(b"", line)
                log.write(plain)
                if show:
                    sys.stdout.write((line if sys.stdout.isatty() else plain).decode("utf8", "replace"))
                    sys.stdout.flush()
        except BaseException:
            process.kill()
            raise
    return process.returncode


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system
