"""What the root constraint changes on a corpus: the measures of Zmigrod, Vieira and Cotterell (2020), section 5, and more.

Every sentence is decoded twice, without and with the constraint. Nothing here writes a tree to a Doc.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ..decoding import Heads, greedy_heads
from ..scored import ScoredSentence, decode_both
from ..trees import is_tree, nonprojective_arcs, tree_weight
from .evaluation import Right, count_right

_BATCH = 1000  # sentences decoded in one call of the core
_SAMPLES = 2000  # of the bootstrap
_CONFIDENCE = 0.95

# Measure, what it counts of a sentence, and of how much.
_SCORES: tuple[tuple[str, Callable[[Right], int], Callable[[Right], int]], ...] = (
    ("uas", lambda right: right.heads, lambda right: right.tokens),
    ("las", lambda right: right.labelled, lambda right: right.tokens),
    ("las_universal", lambda right: right.universal, lambda right: right.tokens),
    ("uem", lambda right: right.tree, lambda right: 1),
    ("lem", lambda right: right.labelled_tree, lambda right: 1),
    ("root_acc", lambda right: right.root, lambda right: right.has_root),
)

NAMES = {
    "uas": "UAS",
    "las": "LAS",
    "las_universal": "LAS, labels up to the colon",
    "uem": "exact match (UEM)",
    "lem": "labelled exact match (LEM)",
    "root_acc": "root accuracy",
    "nonprojective": "non-projective sentences",
}


@dataclass(frozen=True)
class AuditedTree:
    """One of the two trees of a sentence.

    heads (np.ndarray): (n,), 0 = ROOT.
    labels (list[str]): Of each token.
    roots (list[int]): The tokens that hang on ROOT, from 1.
    weight (float): The sum of the scores of its arcs.
    nonprojective (bool): Whether it has crossing arcs.
    right (Optional[Right]): What is right, if there is a gold tree.
    """

    heads: Heads
    labels: list[str]
    roots: list[int]
    weight: float
    nonprojective: bool
    right: Right | None


@dataclass(frozen=True)
class AuditedSentence:
    """One sentence, decoded both ways.

    sentence (ScoredSentence): What was decoded.
    greedy_is_tree (bool): Whether the best heads of all tokens form a tree.
    greedy_is_answer (bool): Whether they form a tree with one root.
    """

    sentence: ScoredSentence
    greedy_is_tree: bool
    greedy_is_answer: bool
    unconstrained: AuditedTree
    single_root: AuditedTree

    @property
    def changed(self) -> list[int]:
        """The tokens (from 1) that have another head with the constraint."""
        return (np.flatnonzero(self.unconstrained.heads != self.single_root.heads) + 1).tolist()

    @property
    def weight_lost(self) -> float:
        """What the constraint costs, in the units of the scores; not negative. Summed over the arcs that change, so that nothing else
        is rounded away."""
        tokens = np.array(self.changed, dtype=int) - 1
        before, after = (
            self.sentence.scores[tokens, tree.heads[tokens]].astype(np.float64)
            for tree in (self.unconstrained, self.single_root)
        )
        return math.fsum([*before.tolist(), *(-after).tolist()])

    def record(self) -> dict[str, Any]:
        """What there is to say of the sentence, for JSON. Heads are 0 = ROOT, tokens are counted from 1."""
        sentence, before, after = self.sentence, self.unconstrained, self.single_root
        arcs = []
        for token in self.changed:
            i = token - 1
            arc: dict[str, Any] = {"token": token, "word": sentence.words[i]}
            for side, tree in (("unconstrained", before), ("single_root", after)):
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


def _word(words: Sequence[str], head: int) -> str:
    return words[head - 1] if head else "ROOT"


def audit_sentences(sentences: Iterable[ScoredSentence], *, source: str) -> Iterator[AuditedSentence]:
    """Decodes sentences both ways and compares.

    sentences (Iterable[ScoredSentence]): With gold heads and labels or without; empty ones are left out.
    source (str): Where they are from, for errors.
    RAISES (DecodingError): For a sentence that has no tree with a single root.
    """
    stream, first = iter(sentences), 0
    while batch := list(islice(stream, _BATCH)):
        decoded = decode_both(batch, source=source, first=first)
        first += len(batch)
        for sentence, before, after in zip(batch, decoded.unconstrained, decoded.single_root, strict=True):
            if len(after):
                greedy = greedy_heads(sentence.scores)
                greedy_is_tree = is_tree(greedy)
                yield AuditedSentence(
                    sentence=sentence,
                    greedy_is_tree=greedy_is_tree,
                    greedy_is_answer=is_tree(greedy, single_root=True),
                    unconstrained=_examine(sentence, before),
                    single_root=_examine(sentence, after),
                )


def _examine(sentence: ScoredSentence, heads: Heads) -> AuditedTree:
    labels, right = sentence.labels(heads), None
    if sentence.gold_heads is not None and (sentence.gold_heads >= 0).any():
        gold_labels = sentence.gold_labels
        right = count_right(
            heads, sentence.gold_heads, labels, [""] * len(labels) if gold_labels is None else gold_labels
        )
    return AuditedTree(
        heads=heads,
        labels=labels,
        roots=(np.flatnonzero(heads == 0) + 1).tolist(),
        weight=tree_weight(sentence.scores, heads),
        nonprojective=bool(nonprojective_arcs(heads).any()),
        right=right,
    )


@dataclass(frozen=True)
class Comparison:
    """One measure of the trees without and with the constraint. Shares are from 0 to 1.

    unconstrained, single_root (float): Its values.
    difference (float): The second less the first.
    relative (Optional[float]): The difference in percent of the first, as in the paper; None if that is 0.
    interval (tuple[float, float]): Of the difference: 95 %, percentile bootstrap over sentences.
    relative_interval (Optional[tuple[float, float]]): Of `relative`; of the samples in which there is one.
    better, worse (int): Sentences of which the measure goes up, and down. Where these are few, they say more than the interval.
    """

    unconstrained: float
    single_root: float
    difference: float
    relative: float | None
    interval: tuple[float, float]
    relative_interval: tuple[float, float] | None
    better: int
    worse: int


@dataclass(frozen=True)
class Audit:
    """What the root constraint changes on a corpus.

    sentences, tokens (int): Empty sentences are left out.
    malformed (int): Sentences whose best unconstrained tree has more than one root.
    mean_roots, most_roots: Roots of these trees, of all sentences.
    greedy_tree, greedy_answer (float): Share of sentences whose greedy graph is a tree, and one with a single root.
    single_root (float): Share of sentences that have one root with the constraint.
    changed_sentences, changed_arcs (int): What the constraint changes.
    weight_lost (Optional[dict[str, float]]): The mean, least and greatest weight that the constraint costs, over malformed sentences;
        for log-probabilities, a difference of log-probabilities. None if there are none.
    unknown_labels (dict[str, int]): Gold labels that the scorer does not have, and how many tokens have each. Not to be known from a
        score file, which lists the labels of both.
    scores (dict[str, Comparison]): By measure (see NAMES); without gold trees, `nonprojective` alone.
    """

    sentences: int
    tokens: int
    malformed: int
    mean_roots: float
    most_roots: int
    greedy_tree: float
    greedy_answer: float
    single_root: float
    changed_sentences: int
    changed_arcs: int
    weight_lost: dict[str, float] | None
    unknown_labels: dict[str, int]
    scores: dict[str, Comparison]

    @property
    def malformed_rate(self) -> float:
        return self.malformed / self.sentences if self.sentences else 0.0


def summarize(audited: Sequence[AuditedSentence], *, seed: int = 0) -> Audit:
    """Sums up a corpus.

    seed (int): Of the bootstrap.
    """
    n = len(audited)
    roots = np.array([len(each.unconstrained.roots) for each in audited], dtype=int)
    lost = [each.weight_lost for each in audited if len(each.unconstrained.roots) > 1]
    return Audit(
        sentences=n,
        tokens=sum(len(each.sentence.words) for each in audited),
        malformed=int((roots > 1).sum()),
        mean_roots=float(roots.mean()) if n else 0.0,
        most_roots=int(roots.max(initial=0)),
        greedy_tree=_share([each.greedy_is_tree for each in audited]),
        greedy_answer=_share([each.greedy_is_answer for each in audited]),
        single_root=_share([len(each.single_root.roots) == 1 for each in audited]),
        changed_sentences=sum(bool(each.changed) for each in audited),
        changed_arcs=sum(len(each.changed) for each in audited),
        weight_lost={"mean": math.fsum(lost) / len(lost), "least": min(lost), "greatest": max(lost)} if lost else None,
        unknown_labels=_unknown_labels(audited),
        scores=_compare(audited, seed),
    )


def _unknown_labels(audited: Sequence[AuditedSentence]) -> dict[str, int]:
    unknown: Counter[str] = Counter()
    for sentence in (each.sentence for each in audited):
        if sentence.gold_labels and sentence.gold_heads is not None and sentence.label_names:
            known = {*sentence.label_names, "root"}
            unknown.update(
                label
                for label, head in zip(sentence.gold_labels, sentence.gold_heads.tolist(), strict=True)
                if head > 0 and label not in known
            )
    return dict(unknown.most_common())


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _compare(audited: Sequence[AuditedSentence], seed: int) -> dict[str, Comparison]:
    pairs = [(e.unconstrained.right, e.single_root.right) for e in audited]
    gold = [(before, after) for before, after in pairs if before is not None and after is not None]
    labelled = any(each.sentence.gold_labels is not None for each in audited)
    counts = {}  # of each sentence: without the constraint, with it, and out of how much
    for name, of, out_of in _SCORES:
        rows = [(of(before), of(after), out_of(before)) for before, after in gold]
        if any(size for _, _, size in rows) and (labelled or name in ("uas", "uem", "root_acc")):
            counts[name] = np.array(rows).T
    found = _comparisons(counts, seed)
    if audited:
        rows = [(int(e.unconstrained.nonprojective), int(e.single_root.nonprojective), 1) for e in audited]
        found |= _comparisons({"nonprojective": np.array(rows).T}, seed)
    return found


def _comparisons(counts: dict[str, npt.NDArray[np.int64]], seed: int) -> dict[str, Comparison]:
    """Of counts (3, n) over the same n sentences, by measure. All are resampled together."""
    if not counts:
        return {}
    sampled = _resampled(np.concatenate(list(counts.values())), np.random.default_rng(seed))
    parts = np.split(sampled, len(counts))
    return {name: _comparison(own, part) for (name, own), part in zip(counts.items(), parts, strict=True)}


def _comparison(counts: npt.NDArray[np.int64], sampled: npt.NDArray[np.int64]) -> Comparison:
    one, other, size = counts
    sampled = sampled[:, sampled[2] > 0]
    relative, relative_interval = None, None
    if one.sum():
        relative = 100 * float(other.sum() - one.sum()) / float(one.sum())
        some = sampled[0] > 0
        relative_interval = _interval(100 * (sampled[1] - sampled[0])[some] / sampled[0][some])
    return Comparison(
        unconstrained=float(one.sum() / size.sum()),
        single_root=float(other.sum() / size.sum()),
        difference=float((other.sum() - one.sum()) / size.sum()),
        relative=relative,
        interval=_interval((sampled[1] - sampled[0]) / sampled[2]),
        relative_interval=relative_interval,
        better=int((other > one).sum()),
        worse=int((other < one).sum()),
    )


def _resampled(counts: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The sums of counts (measures, n) over sentences drawn with replacement, (measures, samples)."""
    n = counts.shape[1]
    sums = [counts @ np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(_SAMPLES)]
    return np.stack(sums, axis=1)


def _interval(values: npt.NDArray[np.floating[Any]]) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2]).tolist()
    return low, high
