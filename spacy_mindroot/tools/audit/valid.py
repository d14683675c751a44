"""Measures what rules change on a corpus: violations, weight, and accuracy, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ...accuracy import NAMES, Comparison
from ...errors import CorpusError
from ...labels import UD_ROOT, is_root_label
from ...rules import Rules, Violation
from ...rules.labelled import Problem
from ...scored import ScoredSentence
from ...trees import is_tree
from .measures import AuditedSentence, AuditedTree, Tally, examine

__all__ = ["Rows", "RuleAudit", "RuleTally", "Table", "ValidSentence", "audit_rules"]

Rows = list[tuple[str, ...]]
Table = tuple[tuple[str, ...], Rows]  # the header, "" in each cell for none, and the rows

_VIOLATION_HEADER = ("violations", "gold", "single root", "under rules")
_SCORE_HEADER = ("", "single root", "under rules", "difference, 95 % interval", "up / down in")


@dataclass(frozen=True)
class ValidSentence:
    """A sentence with its best single-rooted tree and its best tree that is valid under rules."""

    audited: AuditedSentence  # `before` is the best single-rooted tree, and `after` the best valid one
    gold: list[Violation] | None  # violations in the gold tree, if it is known
    before: list[Violation]
    after: list[Violation]
    # The sum of arc and label scores before, minus that after. The valid tree can be heavier, since its labels count
    # when its arcs are chosen.
    weight_lost: float
    certified: bool  # whether the search proved that no valid tree is better

    @property
    def changed(self) -> list[int]:
        """The tokens, from 1, whose head or label is another one."""
        before, after = self.audited.before, self.audited.after
        same = zip(before.heads.tolist(), before.labels, after.heads.tolist(), after.labels, strict=True)
        return [k for k, (head, label, other, name) in enumerate(same, 1) if (head, label) != (other, name)]


def audit_rules(audited: AuditedSentence, rules: Rules, gold_pos: Sequence[str | None] | None = None) -> ValidSentence:
    """Find the best valid tree of a sentence, and compare it with the best single-rooted one.

    audited (AuditedSentence): The sentence, with `label_scores`. The search uses its `pos`.
    rules (Rules): Those with a price may be broken.
    gold_pos (Optional[Sequence[str]]): Parts of speech by which violations are counted; `pos` if there are none.
    """
    sentence = audited.sentence
    if sentence.label_scores is None:
        raise CorpusError(
            f"{sentence.name} has no scores of all labels, which rules need. Audit a pipeline with an arc_scorer."
        )
    names = sentence.label_names
    problem = Problem(sentence.scores, sentence.label_scores, names, rules, sentence.pos)
    found = problem.solve(where=sentence.name, words=sentence.words)
    heads, numbers = found.tree
    labels = [names[k] for k in numbers]
    labels = [UD_ROOT if is_root_label(label) else label for label in labels]
    before, valid = audited.after, examine(sentence, heads, labels)
    pos = sentence.pos if gold_pos is None else gold_pos
    gold = None
    if sentence.gold_heads is not None and sentence.gold_labels is not None and is_tree(sentence.gold_heads):
        gold = rules.violations(sentence.gold_heads, sentence.gold_labels, pos)
    return ValidSentence(
        audited=replace(audited, before=before, after=valid),
        gold=gold,
        before=rules.violations(before.heads, before.labels, pos),
        after=rules.violations(valid.heads, valid.labels, pos),
        weight_lost=_weight(sentence, before) - _weight(sentence, valid),
        certified=found.bound <= found.value,
    )


def _weight(sentence: ScoredSentence, tree: AuditedTree) -> float:
    assert sentence.label_scores is not None
    names = [UD_ROOT if is_root_label(name) else name for name in sentence.label_names]
    numbers = [names.index(label) if label in names else 0 for label in tree.labels]
    return tree.weight + float(sentence.label_scores[np.arange(len(numbers)), tree.heads, numbers].sum())


@dataclass(frozen=True)
class RuleAudit:
    """The changes that rules make to the single-rooted trees of a corpus."""

    sentences: int
    changed_sentences: int
    changed_tokens: int  # whose heads or labels change
    certified: int  # sentences whose tree is certainly the best valid one
    mean_weight_lost: float  # over the changed sentences
    violations: dict[str, dict[str, int]]  # of each rule in "gold" trees, "before" and "after"
    scores: dict[str, Comparison]

    def tables(self) -> list[Table]:
        """Return counts; violations of each rule in gold trees, before and after; and each measure before and after."""
        counts: Rows = [
            ("sentences whose tree is certainly the best valid one", f"{self.certified:,} of {self.sentences:,}"),
            ("sentences and tokens that rules change", f"{self.changed_sentences:,}, {self.changed_tokens:,}"),
            ("weight lost in a changed sentence, mean", f"{self.mean_weight_lost:.3f}"),
        ]
        violations = {name: tuple(own.values()) for name, own in self.violations.items()}
        violations = {name: own for name, own in violations.items() if any(own)} | {
            "all": tuple(map(sum, zip(*violations.values(), strict=True)))
        }
        broken: Rows = [(name, *(f"{count:,}" for count in own)) for name, own in violations.items()]
        scores = [own.row(NAMES[name]) for name, own in self.scores.items()]
        tables = [(("", ""), counts), (_VIOLATION_HEADER, broken), (_SCORE_HEADER, scores)]
        return [(header, rows) for header, rows in tables if rows]

    def to_json(self) -> dict[str, Any]:
        """Return the part of `audit.json` about rules."""
        found = asdict(self)
        for own in found["scores"].values():
            del own["relative"], own["relative_interval"]
        return found


class RuleTally:
    """Sums up sentences one at a time."""

    def __init__(self, rules: Rules) -> None:
        self._tally = Tally()
        self._violations = {name: dict.fromkeys(("gold", "before", "after"), 0) for name in rules.names}
        self._sentences = self._changed_sentences = self._changed_tokens = self._certified = 0
        self._lost = 0.0

    def add(self, valid: ValidSentence) -> None:
        """Count a sentence."""
        self._tally.add(valid.audited)
        for side, violations in (("gold", valid.gold or []), ("before", valid.before), ("after", valid.after)):
            for violation in violations:
                self._violations[violation.rule][side] += 1
        changed = len(valid.changed)
        self._sentences += 1
        self._changed_sentences += changed > 0
        self._changed_tokens += changed
        self._certified += valid.certified
        self._lost += valid.weight_lost if changed else 0.0

    def summarize(self, *, seed: int = 0) -> RuleAudit:
        """Return the audit of all sentences so far. The seed is that of the bootstrap."""
        return RuleAudit(
            sentences=self._sentences,
            changed_sentences=self._changed_sentences,
            changed_tokens=self._changed_tokens,
            certified=self._certified,
            mean_weight_lost=self._lost / max(1, self._changed_sentences),
            violations=self._violations,
            scores=self._tally.summarize(seed=seed).scores,
        )
