"""Trains our pipeline on treebanks, with calibration, and measures its probabilities and head sets on the test sets.

Everything but tokens and sentence boundaries is predicted. Where a treebank has no development set, calibration is by
cross-validation over the training set, as `spacy train` does it with a config from `init-config`.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from spacy import load
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config_from_str
from thinc.api import NumpyOps, set_current_ops

from spacy_mindroot.cli.init_config import make_config
from spacy_mindroot.inference import Calibration, expected_calibration_error, head_sets
from spacy_mindroot.inference.arc_confidence import confidences_of
from spacy_mindroot.inference.calibration import label_probabilities
from spacy_mindroot.pipeline.held_out import HeldOut, find_mind_root, read_annotation, score_held_out

from .calibration import spearman
from .training import convert

COVERAGE = 0.9


@dataclass(frozen=True)
class Measured:
    """One run. Calibration errors (ECE), accuracies, coverage and gains are in points.

    `las_ece` is that of the probability that head and label are both right; `label_ece`, of labels where the head is
    right. `spearman` correlates expected and true LAS of sentences. `surer_half` is by how much the LAS of the half of
    the sentences with the highest expected LAS is above that of all.
    """

    treebank: str
    seed: int
    steps: int
    method: str
    sentences: int
    tokens: int
    uas: float
    las: float
    head_ece: tuple[float, float]
    label_ece: tuple[float, float]
    las_ece: tuple[float, float]
    coverage: float
    set_size: float
    spearman: float
    surer_half: float
    temperature: float
    lapse: float
    cpu_seconds: float


def measure(treebank: Path, seed: int, steps: int) -> Measured:
    """Train on a UD treebank for so many steps, and measure on its test set."""
    set_current_ops(NumpyOps(use_blis=False))
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        convert(treebank, data)
        dev = data / ("dev.spacy" if (data / "dev.spacy").exists() else "train.spacy")
        overrides = {
            "paths.train": str(data / "train.spacy"),
            "paths.dev": str(dev),
            "system.seed": seed,
            "training.max_steps": steps,
            "training.optimizer.learn_rate.total_steps": steps,
            "training.eval_frequency": max(steps // 5, 1),
        }
        text = make_config("xx", "efficiency", [], None)
        config = load_config_from_str(text, overrides=overrides, interpolate=False)
        (data / "model").mkdir()
        train(init_nlp(config), data / "model", stdout=io.StringIO(), stderr=sys.stderr)
        nlp = load(data / "model" / "model-best")
        test = DocBin().from_disk(data / "test.spacy").get_docs(nlp.vocab)
        held_out = score_held_out(nlp, [read_annotation(doc) for doc in test])
    calibration = find_mind_root(nlp)[1].calibration
    assert calibration is not None
    return _measured(held_out, calibration, treebank.name.removeprefix("UD_"), seed, steps, time.process_time() - began)


def _measured(
    found: HeldOut, calibration: Calibration, treebank: str, seed: int, steps: int, seconds: float
) -> Measured:
    right = np.concatenate([own == gold for own, gold in zip(found.heads, found.gold_heads, strict=True)])
    roots = np.concatenate([own == 0 for own in found.heads])
    label_right = np.concatenate(
        [s.argmax(axis=1) == gold for s, gold in zip(found.label_scores, found.gold_labels, strict=True)]
    )
    label_right |= roots
    labelled = right & label_right
    of_labels = right & ~roots
    errors = []
    for fit in (Calibration(), calibration):
        sure, arcs = confidences_of(
            found.matrices, found.heads, temperature=fit.arc_temperature, lapse=fit.arc_lapse, marginals=True
        )
        p = np.concatenate([one.head_prob for one in sure])
        q = np.concatenate(
            [label_probabilities(s, fit.label_temperature, fit.label_lapse).max(axis=1) for s in found.label_scores]
        )
        errors.append(
            (
                100 * expected_calibration_error(p, right),
                100 * expected_calibration_error(q[of_labels], label_right[of_labels]),
                100 * expected_calibration_error(p * q, labelled),
            )
        )
    threshold = calibration.threshold(COVERAGE)
    sets = [head_sets(p, threshold, heads=own) for p, own in zip(arcs, found.heads, strict=True)]
    inside = [
        h in of for own, gold in zip(sets, found.gold_heads, strict=True) for of, h in zip(own, gold, strict=True)
    ]
    ends = np.cumsum([len(own) for own in found.heads])[:-1]
    expected = np.array([part.mean() for part in np.split(p * q, ends)])
    true = np.split(labelled, ends)
    surer = np.argsort(-expected, kind="stable")[: len(true) // 2]
    las = 100 * labelled.mean()
    return Measured(
        treebank=treebank,
        seed=seed,
        steps=steps,
        method=calibration.method,
        sentences=len(true),
        tokens=len(right),
        uas=float(100 * right.mean()),
        las=float(las),
        head_ece=(errors[0][0], errors[1][0]),
        label_ece=(errors[0][1], errors[1][1]),
        las_ece=(errors[0][2], errors[1][2]),
        coverage=float(100 * np.mean(inside)),
        set_size=float(np.mean([len(of) for own in sets for of in own])),
        spearman=spearman(expected, np.array([part.mean() for part in true])),
        surer_half=float(100 * np.concatenate([true[k] for k in surer]).mean() - las),
        temperature=calibration.arc_temperature,
        lapse=calibration.arc_lapse,
        cpu_seconds=seconds,
    )


def main(treebank: str, seed: str, steps: str, results: str) -> None:
    """One run, in a process of its own; its result is added to a file."""
    found = measure(Path(treebank), int(seed), int(steps))
    Path(results).parent.mkdir(parents=True, exist_ok=True)
    with open(results, "a", encoding="utf8") as file:
        file.write(json.dumps(asdict(found)) + "\n")
    print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
