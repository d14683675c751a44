"""Arc scores and label scores of annotated sentences, to calibrate on: by a pipeline that has not seen them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from thinc.api import Config
from tqdm import tqdm

from ..decoding import Heads, decode_matrices
from ..doc.extensions import describe
from ..doc.reading import check_sentences, conllu_heads, sentence_bounds
from ..errors import CalibrationError
from ..inference.calibration import Calibration, fit_to_trees
from ..labels import is_root_label
from ..scores import FloatArray
from ..trees import MISSING
from .arc_labels import ArcLabels
from .head_scores import HeadScores
from .mind_root import MindRoot
from .training_loop import averaged_bytes, resolve_training, training_steps

__all__ = ["Annotation", "HeldOut", "cross_validate", "find_mind_root", "read_annotation", "score_held_out"]


class Annotation(NamedTuple):
    """The annotation of a Doc.

    words (list[str]): All tokens.
    spaces (list[bool]): Whether a space follows each token.
    heads (list[np.ndarray]): The heads of each sentence, (n,), 0 = ROOT; MISSING (-1) = unknown.
    labels (list[list[str]]): The labels of each sentence; those of ROOT arcs and of unknown heads are not read.
    """

    words: list[str]
    spaces: list[bool]
    heads: list[npt.NDArray[np.int64]]
    labels: list[list[str]]


@dataclass
class HeldOut:
    """Annotated sentences with the scores and trees of a pipeline, one entry per sentence in each list.

    matrices (list[np.ndarray]): Arc scores, (n, n+1).
    heads (list[np.ndarray]): The decoded trees, (n,), 0 = ROOT.
    gold_heads (list[np.ndarray]): (n,); MISSING (-1) = unknown.
    label_scores (list[Optional[np.ndarray]]): The scores of the labels of the arcs of the decoded tree, (n, labels).
    gold_labels (list[np.ndarray]): (n,), as columns of `label_scores`; MISSING if unknown, and the number of labels for
        a label that the pipeline does not know.
    projective (bool): Whether the trees are decoded without crossing arcs; their probabilities are then among such
        trees.
    """

    matrices: list[FloatArray] = field(default_factory=list)
    heads: list[Heads] = field(default_factory=list)
    gold_heads: list[npt.NDArray[np.int64]] = field(default_factory=list)
    label_scores: list[npt.NDArray[np.floating[Any]] | None] = field(default_factory=list)
    gold_labels: list[npt.NDArray[np.int64]] = field(default_factory=list)
    projective: bool = False

    def extend(self, other: HeldOut) -> None:
        """Add the sentences of another, of a pipeline with the same settings."""
        self.matrices.extend(other.matrices)
        self.heads.extend(other.heads)
        self.gold_heads.extend(other.gold_heads)
        self.label_scores.extend(other.label_scores)
        self.gold_labels.extend(other.gold_labels)
        self.projective = other.projective

    def fit(self, method: str = "held-out") -> Calibration:
        """Return the calibration that fits these sentences. See `inference.fit_calibration`.

        RAISES (CalibrationError): If no token has a known head.
        """
        return fit_to_trees(
            self.matrices,
            self.heads,
            self.gold_heads,
            self.label_scores,
            self.gold_labels,
            projective=self.projective,
            method=method,
        )


def find_mind_root(nlp: Language, name: str | None = None) -> tuple[str, MindRoot]:
    """Return the name and the component of a pipeline's `mind_root`.

    name (Optional[str]): Its name in the pipeline. By default, the first one is taken.
    RAISES (CalibrationError): If there is none.
    """
    for own, pipe in nlp.pipeline:
        if isinstance(pipe, MindRoot) and name in (None, own):
            return own, pipe
    wanted = "a mind_root component" if name is None else f"a mind_root component named {name!r}"
    raise CalibrationError(f"the pipeline does not have {wanted}. It has: {', '.join(nlp.pipe_names) or 'none'}.")


def read_annotation(doc: Doc) -> Annotation:
    """Return the annotation of a Doc. A Doc without sentence boundaries is one sentence."""
    labels = [[token.dep_ for token in doc[start:end]] for start, end in sentence_bounds(doc)]
    spaces = [bool(token.whitespace_) for token in doc]
    return Annotation([token.text for token in doc], spaces, conllu_heads(doc), labels)


def score_held_out(nlp: Language, gold: Iterable[Annotation], name: str | None = None) -> HeldOut:
    """Score annotated sentences with a pipeline, up to its `mind_root`, and decode their trees.

    The tokens and the sentence boundaries are those of the annotation. All else is predicted.

    nlp (Language): The pipeline.
    gold (Iterable[Annotation]): Annotated Docs. Those without any head are left out.
    name (Optional[str]): See `find_mind_root`.
    RAISES (MindRootError): If a Doc can't be scored or decoded.
    """
    name, mind_root = find_mind_root(nlp, name)
    if isinstance(mind_root.scores, HeadScores):
        raise CalibrationError(f"{name} repairs the heads of another parser, so there are no arc scores to calibrate.")
    found = HeldOut(projective=mind_root.projective)
    pairs = ((_make_doc(nlp, own), own) for own in gold if any((heads != MISSING).any() for heads in own.heads))
    with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(name)]):
        for doc, own in nlp.pipe(pairs, as_tuples=True):
            _add(found, doc, own, mind_root)
    return found


def _make_doc(nlp: Language, gold: Annotation) -> Doc:
    starts = [i == 0 for heads in gold.heads for i in range(len(heads))]
    return Doc(nlp.vocab, words=gold.words, spaces=gold.spaces, sent_starts=starts)


def _add(found: HeldOut, doc: Doc, gold: Annotation, mind_root: MindRoot) -> None:
    """Add the sentences of a Doc that has been scored."""
    sourced = mind_root.scores.read(doc)
    lengths = [len(matrix) for matrix in sourced.matrices]
    if lengths != [len(heads) for heads in gold.heads]:
        raise CalibrationError(
            f"{describe(doc)} has arc scores for other sentences than the annotated ones. A component of the pipeline "
            "sets sentence boundaries anew: set overwrite = false."
        )
    check_sentences(doc, lengths)
    trees, faults = decode_matrices(sourced.matrices, projective=mind_root.projective)
    if faults:
        raise CalibrationError(
            f"{describe(doc, faults[0].sentence)}: no tree can be decoded from its arc scores. Parse it with "
            f"{mind_root.name} to see why."
        )
    names = [str(label) for label in sourced.label_names or ()]
    numbers = {label: number for number, label in enumerate(names) if not is_root_label(label)}
    for k, (heads, labels) in enumerate(zip(gold.heads, gold.labels, strict=True)):
        gold_labels = np.array([numbers.get(label, len(names)) for label in labels])
        own = None if sourced.arc_labels is None else sourced.arc_labels[k]
        found.matrices.append(sourced.matrices[k])
        found.heads.append(trees[k])
        found.gold_heads.append(heads)
        found.gold_labels.append(np.where(heads != MISSING, gold_labels, MISSING))
        found.label_scores.append(own.scores_of_tree(trees[k]) if isinstance(own, ArcLabels) else None)


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

    config (Config): The config of the pipeline, with its sections for training.
    get_examples (Callable[[Language], Iterable[Example]]): The corpus.
    folds (int): The number of parts, at least 2. The Docs are dealt out in turn. There are never more parts than Docs.
    name (Optional[str]): See `find_mind_root`.
    seeds (Optional[Sequence[int]]): Seeds of the pipelines to train for each part. None: one, with the seed of the
        config.
    combine (Optional[Callable[[list[Language]], Language]]): Makes one pipeline of those with different seeds. Without
        it, the first is taken.
    RAISES (CalibrationError): If the corpus has fewer than two Docs with trees, or training would never end.
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
                examples = _with_trees(get_examples(nlp), folds)
                total = min(folds, len(examples))
                rest = [example for k, example in enumerate(examples) if k % total != number]
                at = len(configs) * number + len(pipelines) + 1
                _train(nlp, rest, f"Calibration {at}/{len(configs) * total}")
                pipelines.append(nlp)
            nlp = pipelines[0] if combine is None else combine(pipelines)
            found.extend(score_held_out(nlp, [read_annotation(e.reference) for e in examples[number::total]], name))
            number += 1
    finally:
        random.setstate(state[0])
        np.random.set_state(state[1])
    return found


def _with_trees(examples: Iterable[Example], folds: int) -> list[Example]:
    """Return the examples with trees.

    RAISES (CalibrationError): If they can't be divided into two parts or more.
    """
    found = [e for e in examples if len(e.reference) and e.reference.has_annotation("DEP")]
    if min(folds, len(found)) < 2:
        raise CalibrationError(
            f"for cross-validation, at least two Docs with trees are needed; the corpus has {len(found)}."
        )
    return found


def _without_callbacks(config: Config) -> Config:
    copied = config.copy()
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
