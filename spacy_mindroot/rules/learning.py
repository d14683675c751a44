"""Learns rules for labelled trees from a treebank: which of some candidates hold, and what a breach of others costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy.typing as npt

from ..errors import CountError, RulesError
from ..scores import shown, to_count, to_texts
from ..trees import is_tree, to_heads
from .kinds import ROOT_POS, AnyRule, Forbidden, pos_is_known
from .ruleset import Rules, to_rules

__all__ = ["MAX_VIOLATION", "MIN_SUPPORT", "RuleCount", "Tree", "count_rules", "learn_rules"]

MIN_SUPPORT = 50
MAX_VIOLATION = 0.001

Tree = tuple[npt.ArrayLike, Sequence[str], Sequence[str | None] | None]  # heads, labels, parts of speech


class RuleCount(NamedTuple):
    """The number of times that a rule could be broken in a treebank (`support`), and that it is (`violations`).

    The cases are heads with such a dependent for `unique`; tokens with such a label for the others, and with known
    parts of speech if the rule needs them. A `forbidden` rule that names no labels counts tokens with such parts of
    speech.
    """

    rule: AnyRule
    support: int
    violations: int


def learn_rules(
    corpus: Iterable[Tree],
    *,
    min_support: int = MIN_SUPPORT,
    max_violation: float = MAX_VIOLATION,
    candidates: Rules | str | Mapping[str, Any] = "ud",
) -> Rules:
    """Return the candidates that hold in a treebank as hard rules, and most of the others with a price.

    Parameters
    ----------
    corpus : iterable of (heads, labels, pos)
        Gold trees, one per sentence; 0 = ROOT, j = token j-1. `pos` may be None.
    min_support : int
        A rule with fewer cases is left out.
    max_violation : float
        A rule is hard if this share of its cases breaks it, or less. From 0 to 1.
    candidates : Rules, str, mapping
        The rules to choose from; by default those of Universal Dependencies.

    Returns
    -------
    Rules
        The price of a rule with v violations in s cases is the log-odds that it holds, log((s - v) / v), if that is
        positive; the rule is left out if it is not. So it is on the scale of log-probabilities.

    Raises
    ------
    RulesError
        If the corpus has no sentences, or a sentence is no tree.
    MindRootError
        If a setting is out of range.

    Examples
    --------
    >>> from spacy_mindroot import learn_rules
    >>> corpus = [([2, 0, 2], ["nsubj", "root", "obj"], None)] * 60 + [([2, 0, 2], ["obj", "root", "obj"], None)] * 3
    >>> rules = learn_rules(corpus, candidates={"unique": ["nsubj", "obj"]})
    >>> for rule in rules:
    ...     print(rule.name, round(rule.price, 2))
    unique-nsubj inf
    unique-obj 3.0
    """
    least = to_count(min_support, "min_support", what="cases")
    if not isinstance(max_violation, (int, float)) or not 0 <= max_violation <= 1:
        raise CountError(f"max_violation is {max_violation!r}; it is a share, from 0 to 1.")
    found: dict[str, list[AnyRule]] = {}
    for rule, support, violations in count_rules(corpus, candidates):
        if support < least:
            continue
        hard = violations <= max_violation * support
        price = math.inf if hard else math.log((support - violations) / violations) if violations < support else 0.0
        if price > 0:
            found.setdefault(rule.kind, []).append(replace(rule, price=price))
    return Rules(**found)


def count_rules(corpus: Iterable[Tree], candidates: Rules | str | Mapping[str, Any] = "ud") -> list[RuleCount]:
    """Return how often each of the candidates could be broken in a treebank, and how often it is. See `learn_rules`."""
    rules = [*to_rules(candidates, what="candidates")]
    support, violations = [0] * len(rules), [0] * len(rules)
    sentences = 0
    for sentence in _iterate(corpus):
        sentences += 1
        if not isinstance(sentence, Sequence) or len(sentence) != 3:
            raise RulesError(f"a sentence of the corpus must be (heads, labels, pos); found {shown(sentence)}.")
        heads, labels, pos = sentence
        tree = to_heads(heads).tolist()
        labels = to_texts(labels, "labels", len(tree), RulesError)
        tags = [""] * len(tree) if pos is None else to_texts(pos, "pos", len(tree), RulesError)
        if not is_tree(tree):
            raise RulesError("the heads form no tree. Repair them first, for example with `repair_heads`.")
        for k, rule in enumerate(rules):
            support[k] += _cases(rule, tree, labels, tags)
            violations[k] += len(rule.faults(tree, labels, tags))
    if not sentences:
        raise RulesError("the corpus to learn rules from has no sentences.")
    return [RuleCount(*counts) for counts in zip(rules, support, violations, strict=True)]


def _iterate(corpus: Iterable[Tree]) -> Iterator[Tree]:
    try:
        return iter(corpus)
    except TypeError as error:
        raise RulesError(f"a corpus must be an iterable of sentences; found {shown(corpus)}.") from error


def _cases(rule: AnyRule, heads: Sequence[int], labels: Sequence[str], pos: Sequence[str | None]) -> int:
    if not isinstance(rule, Forbidden):
        covered = [head for head, label in zip(heads, labels, strict=True) if rule.covers(label)]
        if rule.kind == "unique":
            return len(set(covered))
        return sum(head != 0 for head in covered) if rule.kind == "direction" else len(covered)
    cases = 0
    for token, (head, label) in enumerate(zip(heads, labels, strict=True)):
        own, above = pos[token], pos[head - 1] if head else ROOT_POS
        if rule.labels:
            known = pos_is_known(own, (*rule.pos, *rule.pos_not)) and (
                head == 0 or pos_is_known(above, (*rule.head_pos, *rule.head_pos_not))
            )
            cases += known and rule.covers(label)
        else:
            cases += rule.matches_pos(own) and rule.matches_head_pos(above)
    return cases
