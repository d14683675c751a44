"""Fits the calibration of a pipeline to annotated sentences, and says what it changes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from wasabi import table

from ..conllu import sentence_to_doc
from ..doc.reading import blank_doc
from ..doc.words import set_multiword_tokens, texts_of
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
from ..trees import MISSING
from .gold import GoldSentence

__all__ = ["FEW", "describe_fit", "held_out_scores", "promise_of"]

_SHOWN_COVERAGE = 0.9
FEW = 100  # sentences; with fewer, coverage depends on which ones they are
_LEAST = 9  # with fewer, sets of coverage 0.9 are those of all heads, or all trees
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
    """
    gold = [sentence for sentence in corpus if len(sentence.words)]
    held_out, methods = HeldOut(), []
    if train is not None or not folds:
        held_out = score_held_out(nlp, ([sentence] for sentence in gold), name)
        methods.append("held-out")
    if train is not None or folds:
        to_train = gold if train is None else train
        whole = [sentence for sentence in to_train if len(sentence.words) and (sentence.heads != MISSING).all()]
        folds = folds or _FOLDS
        held_out.extend(cross_validate(nlp.config, partial(_examples, whole), folds, name=name))
        methods.append(f"{folds}-fold cross-validation")
    return held_out, " and ".join(methods)


def _examples(sentences: list[GoldSentence], nlp: Language) -> Iterator[Example]:
    """Yield annotated sentences as spaCy's training reads them: from CoNLL-U, with all annotation."""
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


def describe_fit(calibration: Calibration, held_out: HeldOut) -> str:
    """Return a table of what a calibration changes on the sentences that it was fitted to."""
    known = np.concatenate([own != MISSING for own in held_out.gold_heads])
    right = np.concatenate([own == gold for own, gold in zip(held_out.heads, held_out.gold_heads, strict=True)])
    rows = []
    for name, fit in (("before", Calibration()), ("after", calibration)):
        distribution = fit.distribution(projective=held_out.projective)
        found, arcs = confidences_of(held_out.matrices, held_out.heads, **distribution, marginals=True)
        p = np.concatenate([one.head_prob for one in found])[known]
        labels, labels_right = _probabilities_of_labels(fit, held_out)
        errors = expected_calibration_error(p, right[known]), expected_calibration_error(labels, labels_right)
        rows.append((name, f"{p.mean():.1%}", *_shown(errors, labels)))
    errors = calibration_error_by_chance(p), calibration_error_by_chance(labels)
    rows.append(("by chance", "", *_shown(errors, labels)))
    threshold = calibration.threshold(_SHOWN_COVERAGE)
    sets = [head_sets(p, threshold, heads=own) for p, own in zip(arcs, held_out.heads, strict=True)]
    size = np.mean([len(heads) for of_sentence in sets for heads in of_sentence])
    trees = ""
    if calibration.tree_set_thresholds:
        least = calibration.threshold(_SHOWN_COVERAGE, "sentence")
        sizes = [tree_set(p, least, own).size for p, own in zip(arcs, held_out.heads, strict=True)]
        trees = (
            f"\nSets of trees for {_SHOWN_COVERAGE:.0%} of sentences have {np.median(sizes):.4g} trees in the median; "
            f"{np.mean(np.equal(sizes, 1)):.0%} have one."
        )
    header = ("calibration", "mean probability", "ECE of heads", "ECE of labels")
    text = str(table(rows, header=header, divider=True, aligns=("l", "r", "r", "r"))).strip("\n")
    accuracy = f"{right[known].mean():.1%} on {calibration.tokens:,} tokens of {calibration.sentences:,} sentences"
    return (
        f"{text}\nUAS {accuracy} ({calibration.method}).\n"
        "By chance: the error that perfect probabilities would have on so few tokens.\n"
        f"Heads: temperature {calibration.arc_temperature:.3g}, lapse {calibration.arc_lapse:.3g}. Labels: "
        f"temperature {calibration.label_temperature:.3g}, lapse {calibration.label_lapse:.3g}.\n"
        f"Head sets of coverage {_SHOWN_COVERAGE:.0%} have {size:.2f} heads on average.{trees}"
    )


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


def _shown(errors: tuple[float, float], labels: npt.NDArray[np.float64]) -> tuple[str, str]:
    """Return the errors of heads and of labels in points; "-" if there are no labels."""
    return f"{100 * errors[0]:.2f}", f"{100 * errors[1]:.2f}" if len(labels) else "-"


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
