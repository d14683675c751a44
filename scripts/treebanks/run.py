"""Trains and audits a parser for each treebank and seed. Skips finished runs; a failed run does not stop the others."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import srsly
from tqdm import tqdm

from spacy_mindroot.tools.building.training import one_thread

from .prepare import Treebank
from .train import LOSS

__all__ = ["ROOT", "Run", "run_all"]

ROOT = Path(__file__).parents[2]


class Run(NamedTuple):
    """One parser to train and audit.

    name (str): Name of the treebank.
    treebank (Treebank): Its data.
    seed (int): Random seed.
    steps (int): Training steps.
    config (Path): Config of the parser.
    out (Path): Folder for model, audit, run.json and log.txt.
    """

    name: str
    treebank: Treebank
    seed: int
    steps: int
    config: Path
    out: Path

    def facts(self) -> dict[str, Any]:
        """Everything that the result depends on."""
        return {
            "treebank": self.name,
            "digest": self.treebank.digest,
            "train": self.treebank.train,
            "dev": self.treebank.dev,
            "seed": self.seed,
            "steps": self.steps,
            "config": self.config.read_text("utf8"),
            "loss": LOSS,
            "versions": {name: version(name) for name in ("spacy-mindroot", "spacy", "thinc", "numpy")},
        }

    @property
    def is_done(self) -> bool:
        """Whether a run with the same facts has finished."""
        try:
            srsly.read_json(self.out / "audit" / "audit.json")["multi_rooted_rate"]
            done = srsly.read_json(self.out / "run.json")["facts"]
        except (OSError, ValueError, KeyError, TypeError):  # missing or incomplete
            return False
        return bool(done == self.facts())


def run_all(runs: list[Run], jobs: int) -> dict[str, str]:
    """Runs what is not done, several at a time. Returns the name of each failed run with the reason."""
    failed = {}
    waiting = [run for run in runs if not run.is_done]
    with ThreadPoolExecutor(jobs) as pool, tqdm(total=len(runs), unit=" parsers") as progress:
        progress.update(len(runs) - len(waiting))
        futures = {pool.submit(_run, run): run for run in waiting}
        try:
            for future in as_completed(futures):
                run = futures[future]
                try:
                    progress.write(f"{run.name}, seed {run.seed}: {future.result()}")
                except Exception as error:
                    failed[f"{run.name}, seed {run.seed}"] = str(error)
                    progress.write(f"{run.name}, seed {run.seed}: failed: {error}")
                progress.update()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    return failed


def _run(run: Run) -> str:
    """Trains and audits one parser. Returns one line on the result."""
    if run.out.exists():
        if run.out.is_symlink() or any(run.out.iterdir()) and not (run.out / "log.txt").is_file():
            raise RuntimeError(f"{run.out} is not from an earlier run. Choose another folder")
        shutil.rmtree(run.out)
    run.out.mkdir(parents=True)
    began = time.monotonic()
    model, audit = run.out / "model", run.out / "audit"
    arguments = [run.config, run.treebank.folder, model, run.seed, run.steps]
    _call(["scripts.treebanks.train", *arguments], run.out)
    best = model / ("model-best" if run.treebank.dev else "model-last")
    _call(["spacy", "mindroot", "audit", best, run.treebank.test, "--out", audit], run.out)
    found = srsly.read_json(audit / "audit.json")
    srsly.write_json(run.out / "run.json", {"facts": run.facts(), "seconds": round(time.monotonic() - began)})
    return f"multi-rooted {found['multi_rooted_rate']:.2%}, UAS {found['scores']['uas']['single_root']:.2%}"


def _call(arguments: list[Any], out: Path) -> None:
    log = out / "log.txt"
    with open(log, "a", encoding="utf8") as file:
        done = subprocess.run(
            [sys.executable, "-m", *map(str, arguments)],
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=one_thread(),
        )
    if done.returncode:
        last = log.read_text("utf8", errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(f"{' '.join(last)} (see {log})")
