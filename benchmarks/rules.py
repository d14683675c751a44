"""Trees under rules: violations and accuracy before and after, certified optimality, and time."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import spacy
from spacy.language import Language
from thinc.api import NumpyOps, set_current_ops

from spacy_mindroot.rules import UD

from .training import convert, make_config, train_pipeline

WITHOUT_POS = UD.without([name for name in UD.names if "upos" in name])


def train_and_save(source: Path, folder: Path, seconds: float, seed: int = 0) -> Language:
    """Return our default CPU pipeline, trained on a UD treebank; kept in a folder, so that it is trained once."""
    name = source.name.removeprefix("UD_")
    path = folder / f"{name}-{seconds:g}-{seed}"
    if not path.exists():
        with tempfile.TemporaryDirectory() as temporary:
            treebank = Path(temporary) / name
            convert(source, treebank)
            nlp, _ = train_pipeline(make_config("mindroot", treebank, seed), treebank, seed=seed, seconds=seconds)
        nlp.to_disk(path)
    set_current_ops(NumpyOps(use_blis=False))
    return spacy.load(path)


if __name__ == "__main__":
    train_and_save(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
