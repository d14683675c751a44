"""Builds pipelines and runs comparisons, one after the other. A failure does not stop the others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm
from wasabi import msg

from spacy_mindroot.errors import MindRootError
from spacy_mindroot.tools.building.build import build
from spacy_mindroot.tools.building.card import Description
from spacy_mindroot.tools.building.training import one_thread

from .contestants import RELATED
from .scoreboard import is_current, read_runs

__all__ = ["Comparison", "build_all", "compare_all"]

_ROOT = Path(__file__).parents[2]


class Comparison(NamedTuple):
    """A run of the scoreboard.

    source (Path): The folder of the treebank.
    contestant (str): Its name: see `contestants`.
    seed (int): Seed of the random numbers.
    seconds (float): CPU time for training.
    related (tuple[Path, ...]): The folders of the related treebanks that RELATED is trained with.
    """

    source: Path
    contestant: str
    seed: int
    seconds: float
    related: tuple[Path, ...] = ()

    @property
    def key(self) -> tuple[str, str, int, float]:
        """Tells runs apart: treebank, contestant, seed and budget."""
        return self.source.name.removeprefix("UD_"), self.contestant, self.seed, self.seconds


def build_all(sources: Mapping[str, Path], out: Path, *, optimize: str, steps: int | None, seed: int) -> dict[str, str]:
    """Build a wheel for each treebank. Return the name of each that failed, with the reason."""
    failed = {}
    for number, (name, source) in enumerate(sources.items(), 1):
        msg.divider(f"{name} ({number} of {len(sources)})")
        try:
            found = build(source, out / name, Description(""), optimize=optimize, steps=steps, seeds=[seed])
            msg.good(f"{found['package']['wheel']}, {found['package']['megabytes']} MB")
        except (MindRootError, OSError) as error:
            failed[name] = str(error)
            msg.fail(f"{name}: {error}")
    return failed


def compare_all(wanted: Sequence[Comparison], runs: Path, models: Path) -> dict[str, str]:
    """Run what is not in the file yet, or was made with an older config, each in a process of its own.

    RETURNS (dict[str, str]): The reason for each run that failed.

    runs (Path): The file of runs.
    models (Path): The folder for the trained pipelines, one folder each, such as `Irish-IDT-mindroot-0`.
    """
    done = (
        {(r["treebank"], r["contestant"], r["seed"], r["budget"]) for r in read_runs(runs) if is_current(r)}
        if runs.exists()
        else set()
    )
    waiting = [each for each in wanted if each.key not in done]
    failed = {}
    with tqdm(total=len(wanted), initial=len(wanted) - len(waiting), unit=" runs", disable=None) as progress:
        for each in waiting:
            name = f"{each.key[0]}, {each.contestant}, seed {each.seed}"
            command = [sys.executable, "-m", "scripts.pipelines.compare", str(each.source), each.contestant]
            command += [str(each.seed), str(each.seconds), str(runs.resolve())]
            command.append(str(models.resolve() / "-".join([each.key[0], each.contestant, str(each.seed)])))
            command += map(str, each.related if each.contestant == RELATED else ())
            ended = subprocess.run(command, cwd=_ROOT, env=one_thread(), capture_output=True, text=True, check=False)
            if ended.returncode:
                failed[name] = (ended.stderr.strip().splitlines() or ["no message"])[-1]
            progress.write(f"{name}: {failed.get(name, 'done')}")
            progress.update()
    return failed
