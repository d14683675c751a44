"""Trains a pipeline with `spacy train` in a process of its own, and says how long it took."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import IO

from spacy.util import load_config

from ...errors import TrainingError
from ...pipeline.calibration import callback_settings
from .treebank import Treebank

__all__ = ["Trained", "one_thread", "reason", "train"]

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
    show: bool = True,
) -> Trained:
    """Train a pipeline on one thread.

    treebank (Treebank): The data, with its `mixture`. Without a development set, the last pipeline is taken.
    steps (Optional[int]): The number of steps, and of the learning rate schedule if that has `total_steps`. None: as
        in the config.
    """
    dev = treebank.file("dev")
    overrides = {
        "paths.train": str(treebank.file("train")),
        "paths.dev": str(dev or treebank.file("train")),
        "system.seed": str(seed),
        "training.seed": str(seed),  # a config need not take it from the system's
    }
    loaded = load_config(config, interpolate=False)
    if treebank.mixture is not None:
        changed = treebank.mixture.overrides(loaded)
        overrides |= {name: value if isinstance(value, str) else json.dumps(value) for name, value in changed.items()}
    training = loaded["training"]
    if not calibrate and callback_settings(loaded) is not None:
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
                log.write(_COLOUR.sub(b"", line))
                if show:
                    sys.stdout.write(line.decode("utf8", "replace"))
                    sys.stdout.flush()
        except BaseException:
            process.kill()
            raise
    return process.returncode


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system
