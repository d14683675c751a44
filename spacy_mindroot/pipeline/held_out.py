"""Arc scores and label scores of annotated sentences, to calibrate on: by a pipeline that has not seen them."""

from __future__ import annotations

import random
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from thinc.api import Config
from tqdm import tqdm

from ..decoding import Heads, decode_matrices
from ..doc.extensions import describe
from ..doc.reading import AnnotatedSentence, characters_of, read_annotated
from ..doc.targets import copies_beside, read_targets
from ..errors import CalibrationError
from ..inference.calibration import Calibration, fit_to_trees
from ..labels import is_root_label
from ..scores import FloatArray
from ..trees import MISSING
from .arc_labels import ArcLabels
from .scoring import find_mind_root, scored
from .training_loop import averaged_bytes, resolve_training, training_steps, with_gold_tokens

__all__ = ["HeldOut", "cross_validate", "score_held_out"]

_ALIKE = 1 / 3  # of the words of two sentences that count as the same: copies have some words replaced


@dataclass
class HeldOut:
    """Annotated sentences with the scores and trees of a pipeline, one entry per sentence in each list."""

    matrices: list[FloatArray] = field(default_factory=list)
    heads: list[Heads] = field(default_factory=list)  # of the decoded trees
    gold_heads: list[npt.NDArray[np.int64]] = field(default_factory=list)  # MISSING where unknown
    label_scores: list[npt.NDArray[np.floating[Any]] | None] = field(default_factory=list)  # of the decoded tree
    # Columns of `label_scores`; MISSING if unknown, and their number for a label that the pipeline does not know.
    gold_labels: list[npt.NDArray[np.int64]] = field(default_factory=list)
    projective: bool = False  # whether all trees are, and probabilities are among such trees
    taught: bool = False  # whether the pipeline learnt from teachers, who have seen these sentences

    def extend(self, other: HeldOut) -> None:
        """Add the sentences of another, of a pipeline with the same settings."""
        for name in ("matrices", "heads", "gold_heads", "label_scores", "gold_labels"):
            getattr(self, name).extend(getattr(other, name))
        self.projective = other.projective
        self.taught |= other.taught

    def fit(self, method: str = "held-out") -> Calibration:
        """Return the calibration that fits these sentences. See `inference.fit_calibration`."""
        values = vars(self).copy()
        return fit_to_trees(
            method=f"{method}; the teachers saw all parts" if values.pop("taught") else method, **values
        )


def score_held_out(nlp: Language, gold: Iterable[Sequence[AnnotatedSentence]], name: str | None = None) -> HeldOut:
    """Score annotated sentences with a pipeline, up to its `mind_root`, and decode their trees.

    The tokens and the sentence boundaries are those of the annotation. All else is predicted. Docs without any head are
    left out.
    """
    name, mind_root = find_mind_root(nlp, name)
    found = HeldOut(projective=mind_root.projective)
    with_heads = (own for own in gold if any((each.heads != MISSING).any() for each in own))
    for doc, sourced, sentences in scored(nlp, with_heads, name):
        trees, faults = decode_matrices(sourced.matrices, projective=mind_root.projective)
        if faults:
            raise CalibrationError(
                f"{describe(doc, faults[0].sentence)}: no tree can be decoded from its arc scores. Parse it with "
                f"{name} to see why."
            )
        names = [str(label) for label in sourced.label_names or ()]
        numbers = {label: number for number, label in enumerate(names) if not is_root_label(label)}
        for k, each in enumerate(sentences):
            gold_labels = np.array([numbers.get(label, len(names)) for label in each.labels])
            own = None if sourced.arc_labels is None else sourced.arc_labels[k]
            found.matrices.append(sourced.matrices[k])
            found.heads.append(trees[k])
            found.gold_heads.append(each.heads)
            found.gold_labels.append(np.where(each.heads != MISSING, gold_labels, MISSING))
            found.label_scores.append(own.scores_of_tree(trees[k]) if isinstance(own, ArcLabels) else None)
    return found


def cross_validate(
    config: Config,
    get_examples: Callable[[Language], Iterable[Example]],
    folds: int,
    *,
    name: str | None = None,
    seeds: Sequence[int] | None = None,
    combine: Callable[[list[Language]], Language] | None = None,
) -> HeldOut:
    """Return the sentences of a corpus, each scored by a pipeline that was trained on the other parts of the corpus.

    Pipelines are trained as `[training]` in the config says, for as many steps as the pipeline itself, and are taken as
    they are at the end. One part of the corpus is left out. A shorter training would be cheaper, but a parser keeps
    growing more confident after it has memorised its data, so the folds must train for as long as it does. There is a
    progress bar on standard error, if that is a terminal. The state of the random number generators is the same
    afterwards as before.

    What teachers have labelled is in no part: all pipelines learn from it, except from sentences of the part that is
    left out and from those with a third of their words in the same places. But the teachers have learnt the trees of
    that part. So the result is `taught`, its calibration says so, and there is a warning.

    folds (int): The number of parts, at least 2. The Docs are dealt out in turn. There are never more parts than Docs.
    seeds (Optional[Sequence[int]]): Seeds of the pipelines to train for each part. None: one, with the seed of the
        config.
    combine (Optional[Callable[[list[Language]], Language]]): Makes one pipeline of those with different seeds. Without
        it, the first is taken.
    """
    state = random.getstate(), np.random.get_state()
    configs = [_with_seed(_without_callbacks(config), seed) for seed in ([None] if seeds is None else seeds)]
    found = HeldOut()
    try:
        number, total = 0, folds
        while number < total:
            pipelines: list[Language] = []
            for own in configs:
                nlp = init_nlp(own)
                every = list(get_examples(nlp))
                taught = [each for each in every if read_targets(each.reference) is not None]
                examples = _with_trees((each for each in every if read_targets(each.reference) is None), folds)
                total = min(folds, len(examples))
                rest = [example for k, example in enumerate(examples) if k % total != number]
                out = [read_annotated(example.reference) for example in examples[number::total]]
                found.taught |= bool(taught)
                taught = _unlike(taught, [sentence for own in out for sentence in own])
                rest = rest * copies_beside(len(rest), len(taught)) + taught
                at = len(configs) * number + len(pipelines) + 1
                _train(nlp, rest, f"Calibration {at}/{len(configs) * total}")
                pipelines.append(nlp)
            nlp = pipelines[0] if combine is None else combine(pipelines)
            found.extend(score_held_out(nlp, out, name))
            number += 1
    finally:
        random.setstate(state[0])
        np.random.set_state(state[1])
    if found.taught:
        warnings.warn(
            "The teachers have seen all sentences of this cross-validation, so probabilities may be too high. If there "
            "is a development set, calibrate the student on that.",
            stacklevel=2,
        )
    return found


def _unlike(taught: list[Example], out: list[AnnotatedSentence]) -> list[Example]:
    """Return the examples that have no sentence like one of those that are left out."""
    texts = {characters_of(sentence) for sentence in out}
    by_length = defaultdict(list)
    for words in map(_words, out):
        by_length[len(words)].append(words)

    def is_like(sentence: AnnotatedSentence) -> bool:
        words = _words(sentence)
        same = max((sum(map(eq, words, own)) for own in by_length[len(words)]), default=-1)
        return same >= _ALIKE * len(words) or characters_of(sentence) in texts

    return [example for example in taught if not any(map(is_like, read_annotated(example.reference)))]


def _words(sentence: AnnotatedSentence) -> list[str]:
    return [word for word in sentence.words if not word.isspace()]  # which training inserts


def _with_trees(examples: Iterable[Example], folds: int) -> list[Example]:
    """Return the examples with trees."""
    found = [e for e in examples if len(e.reference) and e.reference.has_annotation("DEP")]
    if min(folds, len(found)) < 2:
        raise CalibrationError(
            f"for cross-validation, at least two Docs with trees are needed; the corpus has {len(found)}."
        )
    return found


def _without_callbacks(config: Config) -> Config:
    copied = with_gold_tokens(config)
    if not copied.get("training") or not copied.get("corpora"):
        raise CalibrationError(
            "the config of the pipeline has no [training] or no [corpora], so it can't be trained for cross-validation."
        )
    train = copied.interpolate()["corpora"].get("train")
    if isinstance(train, dict) and train.get("path", "") is None:
        raise CalibrationError(
            "the config of the pipeline has no path of a training corpus, as in a package, so nothing can be trained "
            "with it. Use the folder that `spacy train` wrote, or calibrate on a development set."
        )
    copied["training"]["before_to_disk"] = copied["training"]["before_update"] = None
    return copied


def _with_seed(config: Config, seed: int | None) -> Config:
    """Set the seed of a copy of a config; None leaves it as it is."""
    if seed is not None:
        config.setdefault("system", {})["seed"] = seed
        config["training"]["seed"] = seed
    return config


def _train(nlp: Language, examples: Sequence[Example], title: str) -> None:
    """Train a pipeline on some examples until training ends by the settings of its config."""
    settings = resolve_training(nlp)
    if settings["max_steps"] < 1 and settings["max_epochs"] < 1 and settings["patience"] < 1:
        raise CalibrationError(
            "training for cross-validation would never end: set max_steps, max_epochs or patience under [training]."
        )

    def corpus(_: Language) -> Iterable[Example]:
        return list(examples)

    steps = training_steps(
        nlp,
        settings,
        corpus,
        corpus,
        max_steps=settings["max_steps"],
        max_epochs=max(settings["max_epochs"], 0),
        patience=settings["patience"],
    )
    for _ in tqdm(steps, title, settings["max_steps"] or None, unit=" steps", disable=None, leave=False):
        pass
    nlp.from_bytes(averaged_bytes(nlp, settings["optimizer"]))
