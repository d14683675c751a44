"""Rules over numbered labels, as the search in the core takes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..core import _rules
from ..labels import UD_POS
from .kinds import NO_POS, ROOT_POS

if TYPE_CHECKING:  # `rules` exports the names of this module
    from .ruleset import Rules

__all__ = ["CompiledRules", "compile_rules"]


@dataclass(frozen=True, eq=False)
class CompiledRules:
    """Rules over numbered labels, for the core.

    Rules about single arcs (direction, forbidden) become prices of labels by kind of dependent, kind of head and side.
    For all others, labels that no rule distinguishes form a class.
    """

    class_of: npt.NDArray[np.int32]  # (labels,)
    # (dependent kinds, head kinds, 2, labels): inf if the label is forbidden. Index 1 of the third axis is for heads to
    # the right of the dependent. A ROOT arc has index 0.
    prices: npt.NDArray[np.float64]
    counts: tuple[int, int, int]  # of the rules `unique`, `leaf` and `planar`
    # (masks, classes): the classes that a mask covers. The first covers all. Then come the labels of each rule, of
    # `unique` and `leaf`; what each rule of `leaf` does not allow below; and the labels of each rule of `planar`.
    masks: npt.NDArray[np.uint8]
    mask_prices: npt.NDArray[np.float64]  # (masks,): the price of the rule of each mask
    other: npt.NDArray[np.uint8]  # (planar rules,): whether the rule is about other arcs
    # (planar rules,): whether the rule is hard, and so is one of the other kind for the same labels. Some arcs then
    # clash whatever the rest of the tree is.
    paired: npt.NDArray[np.uint8]
    # The kinds of parts of speech that rules name, from 3 on. 0: there is none; 1: not UD's; 2: another one of UD's.
    kinds: dict[str | None, int]
    head_kinds: dict[str | None, int]

    @cached_property
    def prepared(self) -> _rules.Prepared:
        """The rules in the form of the core."""
        return _rules.Prepared(self)

    def kinds_of(self, pos: Sequence[str | None] | None, n: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return the kind of each token as a dependent, (n,), and of ROOT and each token as a head, (n+1,)."""
        tags = [None] * n if pos is None else pos
        own, heads = (
            [named.get(tag, 0 if tag in NO_POS else 2 if tag in UD_POS else 1) for tag in tags]
            for named in (self.kinds, self.head_kinds)
        )
        return np.array(own, dtype=np.int32), np.array([self.head_kinds[ROOT_POS], *heads], dtype=np.int32)


@lru_cache(maxsize=64)
def compile_rules(rules: Rules, labels: tuple[str, ...]) -> CompiledRules:
    """Return the rules over labels that are numbered in this order. The last ones are cached."""
    n_labels = len(labels)
    with_masks = (*rules.unique, *rules.leaf, *rules.leaf, *rules.planar)
    planar = [tuple(map(rule.covers, labels)) for rule in rules.planar]
    rows: list[Sequence[bool]] = [
        [True] * n_labels,
        *([rule.covers(label) for label in labels] for rule in (*rules.unique, *rules.leaf)),
        *([not rule.allows(label) for label in labels] for rule in rules.leaf),
        *planar,
    ]
    signatures: dict[tuple[bool, ...], int] = {}
    class_of = [signatures.setdefault(column, len(signatures)) for column in zip(*rows, strict=True)]

    named = sorted({tag for rule in rules.forbidden for tag in (*rule.pos, *rule.pos_not)})
    named_heads = sorted({ROOT_POS, *(tag for rule in rules.forbidden for tag in (*rule.head_pos, *rule.head_pos_not))})
    kinds: dict[str | None, int] = {tag: k for k, tag in enumerate(named, 3)}
    head_kinds: dict[str | None, int] = {tag: k for k, tag in enumerate(named_heads, 3)}
    prices = np.zeros((len(kinds) + 3, len(head_kinds) + 3, 2, n_labels))
    tags, head_tags = (  # one of each kind; no part of speech is "\0"
        [None, "\0", min(UD_POS.difference(names), default=None), *names] for names in (named, named_heads)
    )
    for rule in rules.forbidden:
        covered = [k for k, label in enumerate(labels) if rule.covers(label)]
        own = [k for k, tag in enumerate(tags) if rule.matches_pos(tag)]
        heads = [k for k, tag in enumerate(head_tags) if rule.matches_head_pos(tag)]
        prices[np.ix_(own, heads, [0, 1], covered)] += rule.price
    from_tokens = [k for k, tag in enumerate(head_tags) if tag != ROOT_POS]
    for way in rules.direction:
        covered = [k for k, label in enumerate(labels) if way.covers(label)]
        prices[np.ix_(range(len(tags)), from_tokens, [1 if way.side == "right" else 0], covered)] += way.price
    hard = {(rule.which, covered) for rule, covered in zip(rules.planar, planar, strict=True) if rule.price == math.inf}
    paired = [
        rule.price == math.inf and {("own", covered), ("other", covered)} <= hard
        for rule, covered in zip(rules.planar, planar, strict=True)
    ]
    return CompiledRules(
        class_of=np.array(class_of, dtype=np.int32),
        prices=prices,
        counts=(len(rules.unique), len(rules.leaf), len(rules.planar)),
        masks=np.array(list(signatures), dtype=np.uint8).T.copy(),
        mask_prices=np.array([0.0, *(rule.price for rule in with_masks)]),
        other=np.array([rule.which == "other" for rule in rules.planar], dtype=np.uint8),
        paired=np.array(paired, dtype=np.uint8),
        kinds=kinds,
        head_kinds=head_kinds,
    )
