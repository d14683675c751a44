"""Measures what the root constraint changes on a corpus: Zmigrod, Vieira and Cotterell (2020), section 5, and more.

Every sentence is decoded without and with the constraint. Nothing here writes a tree to a Doc.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...accuracy import Comparison, Right, by_measure, compare, count_right, counts_of
from ...decoding import Heads, greedy_heads
from ...inference.calibration import Calibration
from ...labels import UD_ROOT
from ...scored import ScoredSentence, decode_sentences
from ...trees import is_tree, nonprojective_arcs, tree_weight
from ..drawing.arcs import draw_trees
from .roots import RootTally, SeveralRoots

__all__ = ["SIDES", "Audit", "AuditedSentence", "AuditedTree", "Tally", "audit_sentences", "examine"]

SIDES = ("unconstrained", "single_root")  # the keys in reports of what is before and after the root constraint


@dataclass(frozen=True)
class AuditedTree:
    """One of the two trees of a sentence."""

    heads: Heads  # (n,), 0 = ROOT
    labels: list[str]
    weight: float  # the sum of the scores of its arcs
    right: Right | None  # None without a gold tree

    @property
    def roots(self) -> list[int]:
        """The tokens that attach to ROOT, from 1."""
        return (np.flatnonzero(self.heads == 0) + 1).tolist()


@dataclass(frozen=True)
class AuditedSentence:
    """A sentence with its trees without and with the root constraint."""

    sentence: ScoredSentence
    greedy_is_tree: bool  # whether the greedy graph, the best head of every token, is a tree
    greedy_is_answer: bool  # whether it is a single-rooted tree
    before: AuditedTree
    after: AuditedTree

    @property
    def multi_rooted(self) -> bool:
        """Whether the best unconstrained tree has more than one root."""
        return len(self.before.roots) > 1

    @property
    def changed(self) -> list[int]:
        """The tokens, from 1, whose head is another one with the constraint."""
        return (np.flatnonzero(self.before.heads != self.after.heads) + 1).tolist()

    @property
    def weight_lost(self) -> float:
        """The weight that the constraint costs, in the units of the scores; never negative.

        Summed over the arcs that change, so that no other arc adds a rounding error.
        """
        tokens = np.array(self.changed, dtype=int) - 1
        before, after = (
            self.sentence.scores[tokens, tree.heads[tokens]].astype(np.float64) for tree in (self.before, self.after)
        )
        return _sum([*before.tolist(), *(-after).tolist()])

    def draw(self, marked: Sequence[int]) -> str:
        """Return an SVG picture of both trees, `before` above the words, with some tokens marked."""
        trees = [(tree.heads, tree.labels) for tree in (self.before, self.after)]
        return draw_trees(self.sentence.words, *trees, marked=marked).to_svg()

    def record(self) -> dict[str, Any]:
        """Return the sentence as a line of `audit.jsonl`. Head 0 is ROOT; tokens count from 1."""
        sentence, before, after = self.sentence, self.before, self.after
        arcs = []
        for token in self.changed:
            i = token - 1
            arc: dict[str, Any] = {"token": token, "word": sentence.words[i]}
            for side, tree in zip(SIDES, (before, after), strict=True):
                head = int(tree.heads[i])
                arc[side] = {"head": head, "word": _word(sentence.words, head), "label": tree.labels[i]}
            if sentence.gold_heads is not None and sentence.gold_heads[i] >= 0:
                head = int(sentence.gold_heads[i])
                arc["gold"] = {"head": head, "word": _word(sentence.words, head)}
                if sentence.gold_labels is not None:
                    arc["gold"]["label"] = sentence.gold_labels[i]
            arcs.append(arc)
        return {
            "id": sentence.name,
            "text": " ".join(sentence.words),
            "roots": [{"token": root, "word": sentence.words[root - 1]} for root in before.roots],
            "root": after.roots[0] if after.roots else None,
            "changed": arcs,
            "weight_lost": self.weight_lost,
        }


def _sum(values: list[float]) -> float:
    """Return the sum, rounded once. Beyond the largest double it is the largest double."""
    try:
        return math.fsum(values)
    except OverflowError:
        return min(2**40 * math.fsum(value / 2**40 for value in values), sys.float_info.max)


def _word(words: Sequence[str], head: int) -> str:
    return words[head - 1] if 0 < head <= len(words) else "ROOT" if head == 0 else "?"


def audit_sentences(sentences: Iterable[ScoredSentence], *, source: str) -> Iterator[AuditedSentence]:
    """Decode sentences without and with the root constraint, and compare the trees. Empty sentences are skipped."""
    for decoded in decode_sentences(sentences, source=source):
        sentence = decoded.sentence
        if len(decoded.single_root):
            greedy = greedy_heads(sentence.scores)
            yield AuditedSentence(
                sentence=sentence,
                greedy_is_tree=is_tree(greedy),
                greedy_is_answer=is_tree(greedy, single_root=True),
                before=examine(sentence, decoded.unconstrained),
                after=examine(sentence, decoded.single_root),
            )


def examine(sentence: ScoredSentence, heads: Heads, labels: list[str] | None = None) -> AuditedTree:
    """Return what the audit knows of a tree of a sentence. Without labels, the best ones of the arcs are taken."""
    labels, right = sentence.labels(heads) if labels is None else labels, None
    if sentence.gold_heads is not None and (sentence.gold_heads >= 0).any():
        right = count_right(heads, sentence.gold_heads, labels, sentence.gold_labels)
    return AuditedTree(heads, labels, tree_weight(sentence.scores, heads), right)


@dataclass(frozen=True)
class Audit:
    """The changes that the root constraint makes to the trees of a corpus. Empty sentences don't count."""

    sentences: int
    tokens: int
    multi_rooted: int  # sentences whose best unconstrained tree has more than one root
    mean_roots: float  # of the unconstrained trees
    most_roots: int
    greedy_tree: float  # share of sentences whose greedy graph is a tree
    greedy_answer: float  # share of those whose greedy graph is a single-rooted tree
    single_root: float  # share of sentences whose tree has one root with the constraint
    changed_sentences: int
    changed_arcs: int
    weight_lost: dict[str, float] | None  # mean, least and greatest, in multi-rooted sentences; None without one
    several_roots: list[SeveralRoots]  # by the scores and, with a calibration, by it
    unknown_labels: dict[str, int]  # of gold, with numbers of tokens; a score file lists all, so it has none
    scores: dict[str, Comparison]  # by name (see NAMES); without gold trees, `nonprojective` alone

    @property
    def multi_rooted_rate(self) -> float:
        """Share of multi-rooted sentences, from 0 to 1."""
        return self.multi_rooted / self.sentences if self.sentences else 0.0


class Tally:
    """Sums up audited sentences one at a time. Keeps about 100 bytes per sentence, for the bootstrap.

    calibration (Optional[Calibration]): That of the parser, for the probability of several roots.
    """

    def __init__(self, calibration: Calibration | None = None) -> None:
        self._several_roots = RootTally(calibration)
        self._counts: Counter[str] = Counter()
        self._most_roots = 0
        self._lost = array("d")
        self._unknown: Counter[str] = Counter()
        self._labelled = False
        self._right = array("i")  # the counts of each sentence with a gold tree
        self._nonprojective = array("b")  # per sentence: before, after, 1

    def add(self, audited: AuditedSentence) -> None:
        """Count a sentence."""
        sentence, before, after = audited.sentence, audited.before, audited.after
        changed, roots = len(audited.changed), len(before.roots)
        self._counts.update(
            sentences=1,
            tokens=len(sentence.words),
            roots=roots,
            greedy_tree=int(audited.greedy_is_tree),
            greedy_answer=int(audited.greedy_is_answer),
            single_root=int(len(after.roots) == 1),
            changed_sentences=int(changed > 0),
            changed_arcs=changed,
        )
        self._most_roots = max(self._most_roots, roots)
        self._several_roots.add(sentence.scores)
        if audited.multi_rooted:
            self._lost.append(audited.weight_lost)
        if sentence.gold_labels and sentence.gold_heads is not None and sentence.label_names:
            arcs = zip(sentence.gold_labels, sentence.gold_heads.tolist(), strict=True)
            known = {*sentence.label_names, UD_ROOT}
            self._unknown.update(label for label, head in arcs if head > 0 and label not in known)
        self._labelled |= sentence.gold_labels is not None
        if before.right is not None and after.right is not None:
            self._right.extend(counts_of(before.right, after.right))
        self._nonprojective.extend([*(bool(nonprojective_arcs(tree.heads).any()) for tree in (before, after)), 1])

    def summarize(self, *, seed: int = 0) -> Audit:
        """Return the audit of all sentences so far. The seed is that of the bootstrap."""
        counts, lost, n = self._counts, self._lost, max(1, self._counts["sentences"])
        mean = _sum([value / len(lost) for value in lost])
        return Audit(
            sentences=counts["sentences"],
            tokens=counts["tokens"],
            multi_rooted=len(lost),
            mean_roots=counts["roots"] / n,
            most_roots=self._most_roots,
            greedy_tree=counts["greedy_tree"] / n,
            greedy_answer=counts["greedy_answer"] / n,
            single_root=counts["single_root"] / n,
            changed_sentences=counts["changed_sentences"],
            changed_arcs=counts["changed_arcs"],
            weight_lost={"mean": mean, "least": min(lost), "greatest": max(lost)} if lost else None,
            several_roots=self._several_roots.summarize(),
            unknown_labels=dict(self._unknown.most_common()),
            scores=self._compare(seed),
        )

    def _compare(self, seed: int) -> dict[str, Comparison]:
        found = compare(by_measure(self._right, labelled=self._labelled), seed)
        if self._nonprojective:
            nonprojective = np.array(self._nonprojective, dtype=np.int64).reshape(-1, 3).T
            found |= compare({"nonprojective": nonprojective}, seed)
        return found
