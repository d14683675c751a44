"""Measures that the CoNLL 2018 script lacks: exact match, roots, non-projective arcs and calibration.

They are counted in CoNLL-U, on gold tokens and on any other tokens of the same text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...conllu import Sentence
from ...conllu.columns import FORM, MISC
from ...inference.calibration import expected_calibration_error
from ...labels import is_root_label
from ...trees import is_tree, nonprojective_arcs

__all__ = ["Measures", "Reliability", "measure"]


@dataclass(frozen=True)
class Reliability:
    """The agreement of the probabilities of heads (HeadProb in MISC) with the heads that are right."""

    words: int  # with a probability, and in gold, too
    right: float  # the share of those whose head is right
    mean_probability: float
    error: float  # see `inference.calibration.expected_calibration_error`


@dataclass(frozen=True)
class Measures:
    """The measures of a system's output. Shares are from 0 to 1."""

    sentences: int
    system_sentences: int
    words: int
    system_words: int
    multiword_tokens: int
    exact_match: float  # gold sentences that the output has with the same words and the same heads
    labelled_exact_match: float  # those whose labels are the same, too, subtypes included
    # Gold sentences whose root is the root of a sentence in the output, and the only one among their own words there.
    root_accuracy: float
    single_root: float  # sentences in the output that are trees with exactly one root
    nonprojective: int  # arcs in gold
    system_nonprojective: int
    nonprojective_recall: float | None  # None if gold has none
    las_with_subtypes: float  # F-score of words with the right head and label, where subtypes count
    calibration: Reliability | None


# A word: the first and the last character of its token, counted without white space in the text of the whole file; its
# number in the token; and the number of words in the token.
_Word = tuple[int, int, int, int]


class _Tree(NamedTuple):
    words: list[_Word]
    heads: list[_Word | None]
    labels: list[str]
    crossing: list[bool]
    single_root: bool


def measure(gold: Sequence[Sentence], system: Sequence[Sentence]) -> Measures:
    """Compare a system's output, another division of the same text into sentences and words, with gold.

    A word of gold is in the output if its token is: multiword tokens need the same number of words.
    """
    gold_trees, trees = _trees(gold), _trees(system)
    own = {word: (head, label) for tree in trees for word, head, label in _arcs(tree)}
    by_words = {tuple(tree.words): tree for tree in trees}
    exact = labelled = right_roots = right_arcs = 0
    for tree in gold_trees:
        same = by_words.get(tuple(tree.words))
        exact += same is not None and same.heads == tree.heads
        labelled += same is not None and (same.heads, same.labels) == (tree.heads, tree.labels)
        gold_roots = [word for word, head in zip(tree.words, tree.heads, strict=True) if head is None]
        roots = [word for word in tree.words if word in own and own[word][0] is None]
        right_roots += len(roots) == 1 and roots == gold_roots
        right_arcs += sum(own.get(word) == (head, label) for word, head, label in _arcs(tree))
    crossing = [
        (word, head)
        for tree in gold_trees
        for word, head, crosses in zip(tree.words, tree.heads, tree.crossing, strict=True)
        if crosses
    ]
    kept = sum(word in own and own[word][0] == head for word, head in crossing)
    n, words, system_words = len(gold), sum(map(len, gold)), sum(map(len, system))
    return Measures(
        sentences=n,
        system_sentences=len(system),
        words=words,
        system_words=system_words,
        multiword_tokens=sum(len(sentence.multiword_tokens()) for sentence in gold),
        exact_match=exact / n,
        labelled_exact_match=labelled / n,
        root_accuracy=right_roots / n,
        single_root=sum(tree.single_root for tree in trees) / len(trees) if trees else 0.0,
        nonprojective=len(crossing),
        system_nonprojective=sum(sum(tree.crossing) for tree in trees),
        nonprojective_recall=kept / len(crossing) if crossing else None,
        las_with_subtypes=2 * right_arcs / (words + system_words),
        calibration=_reliability(gold_trees, trees, system),
    )


def _arcs(tree: _Tree) -> Iterable[tuple[_Word, _Word | None, str]]:
    return zip(tree.words, tree.heads, tree.labels, strict=True)


def _trees(sentences: Iterable[Sentence]) -> list[_Tree]:
    trees, start = [], 0
    for sentence in sentences:
        words: list[_Word] = []
        ranges = {first: (last, cells[FORM]) for first, last, cells in sentence.multiword_tokens()}
        forms = sentence.words
        while len(words) < len(forms):
            number = len(words) + 1
            last, form = ranges.get(number, (number, forms[number - 1]))
            end = start + len("".join(form.split()))
            words += [(start, end, k, last - number + 1) for k in range(last - number + 1)]
            start = end
        heads = np.array(sentence.heads)
        well_formed = is_tree(heads)
        trees.append(
            _Tree(
                words,
                [words[head - 1] if head > 0 else None for head in sentence.heads],
                ["root" if is_root_label(label) else label for label in sentence.labels],
                nonprojective_arcs(heads).tolist() if well_formed else [False] * len(words),
                is_tree(heads, single_root=True),
            )
        )
    return trees


def _reliability(gold: Sequence[_Tree], trees: Sequence[_Tree], system: Sequence[Sentence]) -> Reliability | None:
    gold_heads = {word: head for tree in gold for word, head, _ in _arcs(tree)}
    probabilities, right = [], []
    for tree, sentence in zip(trees, system, strict=True):
        for (word, head, _), misc in zip(_arcs(tree), sentence.column(MISC), strict=True):
            probability = _head_prob(misc)
            if probability is not None and word in gold_heads:
                probabilities.append(probability)
                right.append(head == gold_heads[word])
    if not probabilities:
        return None
    sure, correct = np.array(probabilities), np.array(right, dtype=float)
    return Reliability(
        words=len(sure),
        right=float(correct.mean()),
        mean_probability=float(sure.mean()),
        error=expected_calibration_error(sure, correct),
    )


def _head_prob(misc: str) -> float | None:
    for part in misc.split("|"):
        name, _, value = part.partition("=")
        if name == "HeadProb":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return None
    return None
