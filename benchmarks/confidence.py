"""Measures the probabilities and head sets of trained pipelines on test sets, with and without calibration.

Everything but tokens and sentence boundaries is predicted. Pipelines that are there already, such as those of the
scoreboard, are loaded; otherwise the one that `spacy mindroot build` makes is trained. Calibration is on the
development set, by cross-validation over the training set where there is no development set, and on both where it is
small.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from spacy import load
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config_from_str
from thinc.api import NumpyOps, set_current_ops

from spacy_mindroot.inference import Calibration, head_sets
from spacy_mindroot.inference.arc_confidence import confidences_of
from spacy_mindroot.inference.calibration import (
    calibration_error_by_chance,
    expected_calibration_error,
    label_probabilities,
)
from spacy_mindroot.pipeline.held_out import HeldOut, cross_validate, score_held_out
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.building.training import train
from spacy_mindroot.tools.building.treebank import prepare_treebank, spacy_language
from spacy_mindroot.tools.folds import with_steps
from spacy_mindroot.tools.gold import GoldSentence

from .calibration import spearman
from .runs import note_run
from .sets import tree_sets_of
from .training_size import blank_docs, gold_docs, treebank_part

FOLDS = 5
SMALL = 100  # sentences; a smaller development set is also used together with cross-validation
COVERAGE = 0.9


@dataclass(frozen=True)
class Measured:
    """One pipeline with one calibration. Calibration errors (ECE), accuracies, coverage and gains are in points.

    The errors are without calibration, with it, and by chance: what perfect probabilities would have on as many tokens.
    `las_ece` is that of the probability that head and label are both right; `label_ece`, of labels where the head is
    right. `spearman` correlates expected and true LAS of sentences. `surer_half` is by how much the LAS of the half of
    the sentences with the highest expected LAS is above that of all. `origin` is "loaded" or "trained"; `steps` is 0
    for the steps of the config. `tree_coverage` is the share of sentences whose right tree is in their set, and
    `one_tree` that of those whose set is one tree, in percent; `tree_size` is the decimal logarithm of the median size.
    """

    treebank: str
    origin: str
    seed: int
    steps: int
    method: str
    calibration_sentences: int
    sentences: int
    tokens: int
    uas: float
    las: float
    head_ece: tuple[float, float, float]
    label_ece: tuple[float, float, float]
    las_ece: tuple[float, float, float]
    coverage: float
    set_size: float
    tree_coverage: float | None
    tree_size: float | None
    one_tree: float | None
    spearman: float
    surer_half: float
    temperature: float
    lapse: float
    cpu_seconds: float


def train_pipeline(treebank: Path, seed: int, steps: int, folder: Path) -> Language:
    """Train the pipeline that `spacy mindroot build` makes of a treebank, without calibration.

    steps (int): Training steps; 0 for as many as `init-config` gives for so many sentences.
    """
    prepared = prepare_treebank(treebank, folder / "corpus")
    lang, sentences = spacy_language(prepared.language), prepared.parts["train"].sentences
    text = make_config(lang, "accuracy", ["senter", *prepared.annotated], None, sentences=sentences)
    config = load_config_from_str(text, interpolate=False)
    config["training"]["before_to_disk"] = None
    config.to_disk(folder / "config.cfg")
    trained = train(
        folder / "config.cfg", prepared, folder / "training", steps=steps or None, seed=seed, show=sys.stderr.isatty()
    )
    return load(folder / "training" / trained.best)


def calibrations(nlp: Language, treebank: Path) -> Iterator[tuple[Calibration, float]]:
    """Yield calibrations of a pipeline, each with the CPU time that it took."""
    began = time.process_time()
    dev = None
    if next(treebank.glob("*-ud-dev.conllu"), None) is not None:
        dev = _score(nlp, treebank_part(treebank, "dev", nlp.vocab))
        yield dev.fit(), time.process_time() - began
        if len(dev.heads) >= SMALL:
            return
    found = _cross_validate(nlp, treebank)
    method = f"{FOLDS}-fold cross-validation"
    if dev is not None:
        found.extend(dev)
        method = f"held-out and {method}"
    yield found.fit(method), time.process_time() - began


def _score(nlp: Language, sentences: Iterable[GoldSentence]) -> HeldOut:
    return score_held_out(nlp, ([sentence] for sentence in sentences))


def _cross_validate(nlp: Language, treebank: Path) -> HeldOut:
    """Score the training set by pipelines like this one, trained for as many steps as its config says.

    The learning rate of pipelines that were trained for some time falls over these steps instead.
    """
    (path,) = treebank.glob("*-ud-train.conllu")
    config = nlp.config.copy()
    config["paths"] |= {"train": str(path), "dev": str(path)}
    training = config["training"]
    if "total_steps" not in training["optimizer"]["learn_rate"]:
        fresh = load_config_from_str(make_config("xx", "accuracy", ["senter"], None), interpolate=False)
        training["optimizer"]["learn_rate"] = fresh["training"]["optimizer"]["learn_rate"]
        config = with_steps(config, training["max_steps"])

    def examples(fold_nlp: Language) -> Iterator[Example]:
        sentences = treebank_part(treebank, "train", fold_nlp.vocab)
        for blank, gold in zip(blank_docs(fold_nlp, sentences), gold_docs(fold_nlp, sentences), strict=True):
            yield Example(blank, gold)

    return cross_validate(config, examples, FOLDS)


def measure(treebank: Path, seed: int, steps: int, model: Path | None = None) -> Iterator[Measured]:
    """Measure a pipeline on the test set of a UD treebank, once for each of its `calibrations`.

    model (Optional[Path]): A trained pipeline. Without one, `train_pipeline` makes it.
    """
    import scripts.pipelines.contestants  # noqa: F401  the schedule in the configs of the scoreboard's pipelines

    set_current_ops(NumpyOps(use_blis=False))
    name = treebank.name.removeprefix("UD_")
    with tempfile.TemporaryDirectory() as folder:
        nlp = train_pipeline(treebank, seed, steps, Path(folder)) if model is None else load(model)
        test = _score(nlp, treebank_part(treebank, "test", nlp.vocab))
        for calibration, seconds in calibrations(nlp, treebank):
            origin = "trained" if model is None else "loaded"
            yield _measured(test, calibration, name, origin, seed, steps, seconds)


def _measured(
    found: HeldOut, calibration: Calibration, treebank: str, origin: str, seed: int, steps: int, seconds: float
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
            found.matrices,
            found.heads,
            **fit.distribution(projective=found.projective),
            marginals=True,
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
    errors.append(tuple(100 * calibration_error_by_chance(own) for own in (p, q[of_labels], p * q)))
    threshold = calibration.threshold(COVERAGE)
    sets = [head_sets(p, threshold, heads=own) for p, own in zip(arcs, found.heads, strict=True)]
    inside = [
        h in of for own, gold in zip(sets, found.gold_heads, strict=True) for of, h in zip(own, gold, strict=True)
    ]
    of_trees = (None, None, None, None)
    if calibration.tree_set_thresholds:
        of_trees = tree_sets_of(arcs, found.heads, found.gold_heads, calibration.threshold(COVERAGE, "sentence"))
    ends = np.cumsum([len(own) for own in found.heads])[:-1]
    expected = np.array([part.mean() for part in np.split(p * q, ends)])
    true = np.split(labelled, ends)
    surer = np.argsort(-expected, kind="stable")[: len(true) // 2]
    las = 100 * labelled.mean()
    return Measured(
        treebank=treebank,
        origin=origin,
        seed=seed,
        steps=steps,
        method=calibration.method,
        calibration_sentences=calibration.sentences,
        sentences=len(true),
        tokens=len(right),
        uas=round(float(100 * right.mean()), 3),
        las=round(float(las), 3),
        head_ece=_rounded(*(of[0] for of in errors)),
        label_ece=_rounded(*(of[1] for of in errors)),
        las_ece=_rounded(*(of[2] for of in errors)),
        coverage=round(float(100 * np.mean(inside)), 3),
        set_size=round(float(np.mean([len(of) for own in sets for of in own])), 3),
        tree_coverage=of_trees[0],
        tree_size=of_trees[1],
        one_tree=of_trees[2],
        spearman=round(spearman(expected, np.array([part.mean() for part in true])), 4),
        surer_half=round(float(100 * np.concatenate([true[k] for k in surer]).mean() - las), 3),
        temperature=calibration.arc_temperature,
        lapse=calibration.arc_lapse,
        cpu_seconds=round(seconds, 1),
    )


def _rounded(*values: float) -> tuple[float, ...]:
    return tuple(round(float(value), 3) for value in values)


def main(treebank: str, seed: str, steps: str, results: str, model: str = "") -> None:
    """Measure one pipeline, in a process of its own; the results are added to a file."""
    for found in measure(Path(treebank), int(seed), int(steps), Path(model) if model else None):
        note_run(Path(results), found)
        print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
