"""The sentences of a score file with their best trees, as CoNLL-U, as counts, and side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...accuracy import count_right
from ...conllu import format_sentence
from ...core.fault import Fault
from ...decoding import Heads
from ...escapes import visible
from ...faults import decoding_error
from ...inference.arc_confidence import confidence_of, margins_of
from ...inference.next_best import kbest_matrix
from ...scored import DecodedSentence, ScoredSentence
from ...tables import text_table
from ...trees import MISSING, count_roots, tree_weight
from ..drawing.text import side_by_side, tree_lines

__all__ = ["Marks", "Totals", "before_and_after", "marks_of", "to_conllu"]


@dataclass
class Totals:
    """Counts over all sentences of a score file."""

    sentences: int = 0
    tokens: int = 0
    multi_rooted: int = 0
    seconds: float = 0.0  # of decoding with the root constraint
    with_head: int = 0  # tokens with a gold head
    right: Counter[str] = field(default_factory=Counter)  # those whose head is right, by kind of tree

    def add(self, decoded: DecodedSentence, projective: Heads | None = None) -> None:
        """Count a sentence, with its best projective tree if there is one."""
        self.sentences += 1
        self.tokens += len(decoded.single_root)
        self.multi_rooted += decoded.multi_rooted
        self.seconds += decoded.seconds
        gold = decoded.sentence.gold_heads
        if gold is None:
            return
        trees = {"unconstrained": decoded.unconstrained, "single root": decoded.single_root}
        if projective is not None:
            trees["single root, projective"] = projective
        for name, heads in trees.items():
            self.right[name] += count_right(heads, gold).heads
        self.with_head += int(np.count_nonzero(gold != MISSING))

    def table(self) -> str:
        """Return the counts and scores, one per line."""
        share = f" ({self.multi_rooted / self.sentences:.2%})" if self.sentences else ""
        rows = [
            ("Sentences", f"{self.sentences:,}"),
            ("Tokens", f"{self.tokens:,}"),
            ("Multi-rooted without the constraint", f"{self.multi_rooted:,}{share}"),
            *((f"UAS, {name}", f"{100 * right / max(1, self.with_head):.2f}") for name, right in self.right.items()),
        ]
        if self.seconds:
            rows.append(("Tokens per second, decoding only", f"{self.tokens / self.seconds:,.0f}"))
        return text_table(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the counts and scores, from 0 to 1."""
        return {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "multi_rooted": self.multi_rooted,
            "uas": {name: right / max(1, self.with_head) for name, right in self.right.items()},
            "seconds": self.seconds,
        }


class Marks(NamedTuple):
    """The best trees of a sentence, as `decode --help` describes them.

    heads (np.ndarray): (n,), 0 = ROOT: those that were given or, with K best trees, the first of them.
    comments (dict[str, str]), misc (dict[int, dict[str, str]]): As `conllu.marks.marked_sentence` takes them.
    """

    heads: Heads
    comments: dict[str, str]
    misc: dict[int, dict[str, str]]


def marks_of(sentence: ScoredSentence, heads: Heads, *, kbest: int, confidence: bool, projective: bool) -> Marks:
    """Return comments and MISC for a sentence with its tree, (n,), 0 = ROOT."""
    comments: dict[str, str] = {}
    misc: dict[int, dict[str, str]] = {}
    if kbest > 1:
        heads, comments = _tree_comments(sentence, kbest, confidence, projective)
    if confidence:
        sure = confidence_of(sentence.scores, heads, projective=projective)
        ahead = margins_of([sentence.scores], [heads], projective=projective)
        if isinstance(ahead, Fault):
            raise decoding_error(ahead, sentence.scores, words=sentence.words)
        comments |= {
            "tree_logprob": f"{sure.tree_logprob:.6g}",
            "tree_margin": f"{ahead[0]:.6g}",
            "expected_uas": f"{sure.head_prob.mean():.6g}",
        }
        misc = {
            word: {"HeadEntropy": f"{entropy:.4f}", "HeadProb": f"{prob:.4f}"}
            for word, (prob, entropy) in enumerate(zip(sure.head_prob, sure.head_entropy, strict=True), 1)
        }
    return Marks(heads, comments, misc)


def to_conllu(
    sentence: ScoredSentence, heads: Heads, *, kbest: int, confidence: bool, projective: bool = False, sent_id: str
) -> str:
    """Return a sentence in CoNLL-U with its tree, its best trees and their probabilities. See `marks_of`."""
    heads, comments, misc = marks_of(sentence, heads, kbest=kbest, confidence=confidence, projective=projective)
    return format_sentence(
        sentence.words,
        heads.tolist(),
        sentence.labels(heads),
        sent_id=sent_id,
        comments=[f"{name} = {value}" for name, value in comments.items()],
        misc=["|".join(f"{name}={value}" for name, value in own.items()) for own in misc.values()] or None,
    )


def _tree_comments(
    sentence: ScoredSentence, kbest: int, confidence: bool, projective: bool
) -> tuple[Heads, dict[str, str]]:
    """Return the heads of the best tree, and one comment for each of the K best trees."""
    trees = kbest_matrix(sentence.scores, kbest, projective=projective)
    if isinstance(trees, Fault):  # not enough memory
        raise decoding_error(trees, sentence.scores, words=sentence.words)
    comments = {}
    for number, (heads, weight) in enumerate(trees, 1):
        logprob = ""
        if confidence:
            logprob = f" logprob={confidence_of(sentence.scores, heads, projective=projective).tree_logprob:.6g}"
        labels = ",".join("_".join(label.split()) for label in sentence.labels(heads))
        own = ",".join(map(str, heads.tolist()))
        comments[f"tree_{number}"] = f"weight={weight:.6g}{logprob} heads={own} deprels={labels}"
    return trees[0][0], comments


def before_and_after(decoded: DecodedSentence, *, number: int) -> str:
    """Return both trees of a sentence, from 1 in its file, side by side. Stars mark the arcs that change."""
    sentence = decoded.sentence
    changed = (np.flatnonzero(decoded.unconstrained != decoded.single_root) + 1).tolist()
    columns = []
    for title, heads in (("unconstrained", decoded.unconstrained), ("single root", decoded.single_root)):
        roots = count_roots(heads)
        title = f"{title}: {roots} root{'s' if roots > 1 else ''}, weight {tree_weight(sentence.scores, heads):.2f}"
        columns.append([title, "", *tree_lines(sentence.words, heads.tolist(), sentence.labels(heads), marked=changed)])
    return "\n".join([f"\nSentence {number}: {visible(' '.join(sentence.words))}", "", *side_by_side(*columns)])
