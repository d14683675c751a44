"""Turns what a model has said about a sentence into one tree, and names every change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..decoding import decode
from ..labels import UD_ROOT, is_root_label
from ..repair import looks_like_punctuation, repair_heads, repair_labels
from ..scored import ScoredSentence
from ..voting import arc_votes, vote_heads, vote_labels
from .reading import Answer, Fault

__all__ = ["DecodedAnswer", "decode_answer"]


class DecodedAnswer(NamedTuple):
    """The tree of a sentence.

    Attributes
    ----------
    heads : list of int, (n,), or None
        0 = ROOT, j = word j. None if the answer has no head that can be used.
    labels : list of str, (n,)
        The labels; `root` on the root alone.
    sentence : ScoredSentence or None
        Log-probabilities, or the shares of votes of several samples, as arc scores, with the labels.
    is_probability : bool
        Whether these scores are log-probabilities.
    faults : list of Fault
        What was wrong with the answer, and what has changed.
    """

    heads: list[int] | None
    labels: list[str]
    sentence: ScoredSentence | None
    is_probability: bool
    faults: list[Fault]


def decode_answer(
    answer: Answer, words: Sequence[str], *, pos: Sequence[str | None] | None = None, projective: bool = False
) -> DecodedAnswer:
    """Return the tree with one root that an answer stands for.

    A single parse becomes the nearest tree (`repair_heads`), several vote (`vote_heads`), and log-probabilities are
    decoded. With `projective`, the tree of votes and of log-probabilities has no crossing arcs. Parts of speech help to
    choose between trees that are equally near.
    """
    if answer.scores is not None:
        scored = _scored(answer, words)
        best = decode(scored.scores, projective=projective)
        return DecodedAnswer(best.tolist(), scored.labels(best), scored, True, answer.faults)
    if not answer.heads:
        return DecodedAnswer(None, ["_"] * len(words), None, False, answer.faults)
    pos = [None] * len(words) if pos is None else list(pos)
    is_punct = [looks_like_punctuation(word, tag) for word, tag in zip(words, pos, strict=True)]
    faults = list(answer.faults)
    for number, (heads, labels) in enumerate(zip(answer.heads, answer.labels, strict=True), 1):
        repair = repair_heads(heads, labels=labels, pos=pos, is_punct=is_punct)
        of = f"sample {number}: " if len(answer.heads) > 1 else ""
        explained = {fault.word for fault in answer.faults}
        faults += [
            Fault(
                change.why, change.dependent, f"{of}head {'_' if change.before < 0 else change.before} -> {change.head}"
            )
            for change in repair.changes
            if change.why != "no head" or change.dependent not in explained
        ]
    sentence: ScoredSentence | None = None
    if len(answer.heads) == 1:
        before, given, tree = answer.heads[0], answer.labels[0], repair.heads
    else:
        votes = arc_votes(answer.heads)
        tree = decode(votes, projective=True) if projective else vote_heads(answer.heads)
        given = [label or "" for label in vote_labels(tree, answer.heads, answer.labels)]
        before = tree.tolist()
        sentence = _votes(answer, votes, words)
    heads = tree.tolist()
    labels = repair_labels(given, before, heads, pos=pos, is_punct=is_punct)
    if any(given):  # otherwise the model was not asked for labels
        faults += [
            Fault("label", i, f"{old or '_'} -> {new}")
            for i, (old, new) in enumerate(zip(given, labels, strict=True), 1)
            if old != new
        ]
    return DecodedAnswer(heads, labels, sentence, False, faults)


def _scored(answer: Answer, words: Sequence[str]) -> ScoredSentence:
    """Return the log-probabilities with the best label of each arc: `root` from ROOT, another one elsewhere."""
    assert answer.scores is not None
    if answer.label_scores is None:
        names = list(dict.fromkeys([UD_ROOT, "dep", *answer.labels[0]]))
        best = [names.index(label) if label and not is_root_label(label) else 1 for label in answer.labels[0]]
    else:
        names = [*answer.label_names, "dep"]
        others = answer.label_scores[:, 1:]
        best = [1 + int(own.argmax()) if len(own) and np.isfinite(own).any() else len(names) - 1 for own in others]
    arcs = np.repeat(np.array(best, dtype=np.int64)[:, np.newaxis], len(words) + 1, axis=1)
    arcs[:, 0] = 0
    return ScoredSentence(answer.scores, list(words), arcs, names)


def _votes(answer: Answer, votes: npt.NDArray[np.float64], words: Sequence[str]) -> ScoredSentence:
    """Return the votes as arc scores, with the label that most samples have for the word on such an arc."""
    names = list(dict.fromkeys([UD_ROOT, "dep", *(label for own in answer.labels for label in own if label)]))
    best = np.ones(votes.shape, dtype=np.int64)
    best[:, 0] = 0
    for head in range(1, votes.shape[1]):
        column = [head if head != word else 0 for word in range(1, len(words) + 1)]
        chosen = vote_labels(column, answer.heads, answer.labels)
        best[:, head] = [names.index(label) if label and own else 1 for label, own in zip(chosen, column, strict=True)]
    return ScoredSentence(votes, list(words), best, names)
