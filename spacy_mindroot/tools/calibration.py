"""Fits the calibration of a pipeline to annotated sentences, and says what it changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Config

from ..arc_scorer.lexicon import TABLE
from ..conllu import sentence_to_doc
from ..conllu.passages import read_taught
from ..doc.reading import blank_doc
from ..doc.words import copy_tokens, set_multiword_tokens, texts_of
from ..errors import CorpusError
from ..inference.arc_confidence import confidences_of
from ..inference.calibration import (
    Calibration,
    calibration_error_by_chance,
    expected_calibration_error,
    label_probabilities,
)
from ..inference.conformal import head_sets
from ..inference.tree_sets import tree_set
from ..labels import SPACY_ROOT, UD_ROOT
from ..pipeline.held_out import HeldOut, cross_validate, score_held_out
from ..tables import text_table
from ..trees import MISSING
from .gold import GoldSentence

__all__ = ["FEW", "describe_fit", "held_out_scores", "promise_of"]

_SHOWN_COVERAGE = 0.9
FEW = 100  # sentences; with fewer, coverage depends on which ones they are
_LEAST = 9  # with fewer, sets of trees of coverage 0.9 contain all trees
_FOLDS = 5  # if there is a training set in addition to the development set


def held_out_scores(
    nlp: Language,
    corpus: Iterable[GoldSentence],
    train: Iterable[GoldSentence] | None = None,
    *,
    folds: int | None,
    name: str,
) -> tuple[HeldOut, str]:
    """Return the scores of sentences that the pipeline was not trained on, and in words how they were made.

    corpus, train (Iterable[GoldSentence]): Development set and training set. The training set is cross-validated; if
        there is none, the corpus is, provided that there are folds.
    folds (Optional[int]): The number of parts. None: 5, or no cross-validation of the corpus.
    RAISES (CorpusError): If the pipeline is a student, and what its teachers have labelled is needed, but gone.
    """
    taught = _taught_file(nlp) if train is not None or folds else None
    gold = [sentence for sentence in corpus if len(sentence.words)]
    held_out, methods = HeldOut(), []
    if train is not None or not folds:
        held_out = score_held_out(nlp, ([sentence] for sentence in gold), name)
        methods.append("held-out")
    if train is not None or folds:
        to_train = gold if train is None else train
        whole = [sentence for sentence in to_train if len(sentence.words) and (sentence.heads != MISSING).all()]
        folds = folds or _FOLDS
        held_out.extend(cross_validate(_with_own_words(nlp), partial(_examples, whole, taught), folds, name=name))
        methods.append(f"{folds}-fold cross-validation")
    return held_out, " and ".join(methods)


def _with_own_words(nlp: Language) -> Config:
    """Return the config of a pipeline, in which lexicon and vectors are those it was saved with.

    Their files may be gone, and after `spacy mindroot add` the config does not name them.
    """
    config = nlp.config.copy()
    initialize = config["initialize"]
    has_words = nlp.vocab.lookups.has_table(TABLE) or len(nlp.vocab.vectors)
    callback = initialize.get("before_init")
    sets_lexicon = isinstance(callback, dict) and callback.get("@callbacks") == "spacy-mindroot.set_lexicon.v1"
    if nlp.path and has_words and (callback is None or sets_lexicon):
        initialize["before_init"] = {"@callbacks": "spacy.copy_from_base_model.v1", "vocab": str(nlp.path)}
        initialize["vectors"] = None
    return config


def _taught_file(nlp: Language) -> Path | None:
    """Return the file of what teachers have labelled for a pipeline; None if it has no teachers."""
    train = nlp.config.interpolate().get("corpora", {}).get("train")
    distilled = train.get("distilled") if isinstance(train, dict) else None
    if distilled and not Path(distilled).is_file():
        raise CorpusError(
            f"The pipeline was also trained on what teachers have labelled ({distilled}), but there is no such file. "
            "Put it back, name another with paths.distilled in the pipeline's config.cfg, or calibrate on a "
            "development set alone."
        )
    return Path(distilled) if distilled else None


def _examples(sentences: list[GoldSentence], taught: Path | None, nlp: Language) -> Iterator[Example]:
    """Yield annotated sentences as spaCy's training reads them: from CoNLL-U, with all annotation.

    taught (Optional[Path]): A file of what teachers have labelled, which is added.
    """
    if taught is not None:
        yield from (Example(copy_tokens(doc), doc) for doc in read_taught(nlp.vocab, taught))
    for sentence in sentences:
        blank = blank_doc(nlp.vocab, [sentence])
        if sentence.conllu is not None:
            gold = sentence_to_doc(nlp.vocab, sentence.conllu)
            yield Example(blank, gold)
            continue
        heads = [k if head == 0 else head - 1 for k, head in enumerate(sentence.heads.tolist())]
        deps = [SPACY_ROOT if label == UD_ROOT else label for label in sentence.labels]
        texts, spaces = texts_of(sentence.words, sentence.spaces, sentence.multiword)
        gold = Doc(nlp.vocab, words=texts, spaces=spaces, heads=heads, deps=deps)
        set_multiword_tokens(gold, sentence.multiword)
        yield Example(blank, gold)


def describe_fit(calibration: Calibration, held_out: HeldOut) -> tuple[str, dict[str, Any]]:
    """Return what a calibration changes on the sentences that it was fitted to: a table, and its figures as JSON."""
    known = np.concatenate([own != MISSING for own in held_out.gold_heads])
    right = np.concatenate([own == gold for own, gold in zip(held_out.heads, held_out.gold_heads, strict=True)])
    rows: list[tuple[str, float | None, float, float | None]] = []
    for name, fit in (("before", Calibration()), ("after", calibration)):
        distribution = fit.distribution(projective=held_out.projective)
        found, arcs = confidences_of(held_out.matrices, held_out.heads, **distribution, marginals=True)
        p = np.concatenate([one.head_prob for one in found])[known]
        labels, labels_right = _probabilities_of_labels(fit, held_out)
        of_labels = expected_calibration_error(labels, labels_right) if len(labels) else None
        rows.append((name, float(p.mean()), expected_calibration_error(p, right[known]), of_labels))
    by_chance = calibration_error_by_chance(p), calibration_error_by_chance(labels) if len(labels) else None
    rows.append(("by chance", None, *by_chance))
    threshold = calibration.threshold(_SHOWN_COVERAGE)
    sets = [head_sets(p, threshold, heads=own) for p, own in zip(arcs, held_out.heads, strict=True)]
    size = float(np.mean([len(heads) for of_sentence in sets for heads in of_sentence]))
    trees, median = "", None
    if calibration.tree_set_thresholds:
        least = calibration.threshold(_SHOWN_COVERAGE, "sentence")
        sizes = [tree_set(p, least, own).size for p, own in zip(arcs, held_out.heads, strict=True)]
        median = float(np.median(sizes))
        trees = (
            f"\nSets of trees for {_SHOWN_COVERAGE:.0%} of sentences have {median:.4g} trees in the median; "
            f"{np.mean(np.equal(sizes, 1)):.0%} have one."
        )
    shown = []
    for name, mean, *errors in rows:
        cells = ("-" if error is None else f"{100 * error:.2f}" for error in errors)
        shown.append((name, "" if mean is None else f"{mean:.1%}", *cells))
    uas = float(right[known].mean())
    text = (
        text_table(shown, ("calibration", "mean probability", "ECE of heads", "ECE of labels")).strip("\n")
        + f"\nUAS {uas:.1%} on {calibration.tokens:,} tokens of {calibration.sentences:,} sentences "
        f"({calibration.method}).\n"
        "By chance: the error that perfect probabilities would have on so few tokens.\n"
        f"Heads: temperature {calibration.arc_temperature:.3g}, lapse {calibration.arc_lapse:.3g}. Labels: "
        f"temperature {calibration.label_temperature:.3g}, lapse {calibration.label_lapse:.3g}.\n"
        f"Head sets of coverage {_SHOWN_COVERAGE:.0%} have {size:.2f} heads on average.{trees}"
    )
    keys = ("calibration", "mean_probability", "ece_of_heads", "ece_of_labels")
    errors_by_name = [dict(zip(keys, row, strict=True)) for row in rows]
    sizes_of_sets = {"mean_size_of_head_sets": size, "median_size_of_tree_sets": median}
    return text, {"errors": errors_by_name, "uas": uas, **sizes_of_sets, **calibration.to_dict()}


def promise_of(sentences: int) -> str:
    """Return what sets calibrated on so many sentences do not promise; "" if they are enough."""
    if sentences >= FEW:
        return ""
    if sentences < _LEAST:
        return (
            f"There are {sentences} sentences to calibrate on. Sets of heads or trees promise nothing with so few: for "
            f"a coverage of {_SHOWN_COVERAGE:.0%}, {_LEAST} are needed at least, and {FEW} are better."
        )
    off = 200 * math.sqrt(_SHOWN_COVERAGE * (1 - _SHOWN_COVERAGE) / sentences)
    return (
        f"There are {sentences} sentences to calibrate on, which may be easier or harder than others: the coverage of "
        f"{_SHOWN_COVERAGE:.0%} sets of trees may be off by {off:.0f} points, and that of head sets by half as many."
    )


def _probabilities_of_labels(
    fit: Calibration, held_out: HeldOut
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the probability of each label, and whether it is right, for the tokens with the right head."""
    p, right = [np.empty(0)], [np.empty(0, dtype=bool)]
    for heads, gold, scores, labels in zip(
        held_out.heads, held_out.gold_heads, held_out.label_scores, held_out.gold_labels, strict=True
    ):
        if scores is not None:
            used = (heads == gold) & (heads > 0)
            found = label_probabilities(scores, fit.label_temperature, fit.label_lapse)[used]
            p.append(found.max(axis=1))
            right.append(found.argmax(axis=1) == labels[used])
    return np.concatenate(p), np.concatenate(right)
