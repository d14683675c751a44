"""Trains one parser on one treebank: `python -m scripts.treebanks.train CONFIG FOLDER OUT SEED STEPS`.

With a development set, the best checkpoint counts; without one, the last. NumPy's BLAS multiplies the matrices,
since it was faster on the machines tried than BLIS, the default of `spacy train`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_loop
from spacy.util import load_config
from thinc.api import NumpyOps, set_current_ops

__all__ = ["LOSS", "train"]

# The loss of the paper's parsers. The likelihood of single-rooted trees ("tree") does not determine how much arcs
# from ROOT weigh, and so not how many of them the best unconstrained tree has.
LOSS = "head"


def train(config: Path, folder: Path, out: Path, seed: int, steps: int) -> None:
    """Trains a parser and writes its checkpoints to `out`.

    config (Path): Config of the parser.
    folder (Path): Folder with train.spacy and perhaps dev.spacy.
    seed (int): Random seed.
    steps (int): Training steps.
    """
    has_dev = (folder / "dev.spacy").exists()
    overrides: dict[str, Any] = {
        "paths.train": str(folder / "train.spacy"),
        "paths.dev": str(folder / ("dev.spacy" if has_dev else "train.spacy")),
        "system.seed": seed,
        "components.arc_scorer.loss": LOSS,
        "training.max_steps": steps,
        "training.optimizer.learn_rate.total_steps": steps,
        "training.eval_frequency": min(200, steps) if has_dev else steps,
    }
    set_current_ops(NumpyOps(use_blis=False))
    nlp = init_nlp(load_config(config, overrides=overrides, interpolate=False))
    out.mkdir(parents=True, exist_ok=True)
    train_loop(nlp, out)


if __name__ == "__main__":
    config, folder, out, seed, steps = sys.argv[1:]
    train(Path(config), Path(folder), Path(out), int(seed), int(steps))
