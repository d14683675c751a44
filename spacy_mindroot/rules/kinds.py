"""The kinds of rules for labelled trees: what each covers, and the tokens that break it in a given tree."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

from ..errors import RulesError
from ..labels import UD_POS, UD_ROOT, is_root_label
from ..trees import nonprojective_arcs

__all__ = [
    "NO_POS",
    "ROOT_POS",
    "AnyRule",
    "Direction",
    "Forbidden",
    "Leaf",
    "Planar",
    "Unique",
    "Violation",
    "pos_is_known",
]

ROOT_POS = "ROOT"  # the part of speech of ROOT in `head_pos`
NO_POS = frozenset({None, "", "_"})


class Violation(NamedTuple):
    """A breach of a rule, by its name, which costs `price`; inf for a hard rule.

    Attributes
    ----------
    token, head : int
        The token at fault, from 1, and its head, 0 = ROOT. For `unique`, each dependent after the first; for `leaf`,
        the dependent that should not be there; for the others, the dependent of the arc.
    """

    rule: str
    token: int
    head: int
    price: float


@dataclass(frozen=True)
class _Rule(ABC):
    """The base class of all rules. A label is covered if it or its type is named: `nsubj` covers `nsubj:pass`."""

    labels: tuple[str, ...] = ()
    name: str = ""
    excluding: tuple[str, ...] = ()
    price: float = math.inf

    kind: ClassVar[str]
    choices: ClassVar[dict[str, tuple[str, str]]] = {}  # fields with two possible values

    def __post_init__(self) -> None:
        for key in self._lists():
            value = getattr(self, key)
            values = (value,) if isinstance(value, str) else tuple(value)
            if not all(isinstance(one, str) and one for one in values):
                raise RulesError(f"{self.kind}: {key} must be a list of non-empty strings; found {str(value)[:100]}.")
            if "pos" not in key:
                values = tuple(map(_standard, values))
            object.__setattr__(self, key, values)
        if self.kind != "forbidden" and not self.labels:
            raise RulesError(f"{self.kind}: the rule names no labels.")
        if not self.name:
            object.__setattr__(self, "name", self._default_name())
        price = math.inf if self.price is None else self.price
        if isinstance(price, bool) or not isinstance(price, (int, float)) or not price > 0:
            raise RulesError(
                f"{self.name}: the price of a rule is a positive number, or null for a hard rule; found {price!r}."
            )
        object.__setattr__(self, "price", float(price))
        for key, (one, other) in self.choices.items():
            if (found := getattr(self, key)) not in (one, other):
                raise RulesError(f'{self.name}: the {key} is "{one}" or "{other}"; found {found!r}.')

    def covers(self, label: str) -> bool:
        """Whether the rule is about this label."""
        return _covers(self.labels, label) and not _names(self.excluding, label)

    @abstractmethod
    def faults(self, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
        """Return the tokens, from 1, that break the rule in a tree.

        The search in the core tests the rules in its own way. The test suite compares the two.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as JSON: lists of strings, and null for the price of a hard rule."""
        found: dict[str, Any] = {"name": self.name}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "price":
                found["price"] = None if value == math.inf else value
            elif one.name != "name" and value != one.default:
                found[one.name] = list(value) if isinstance(value, tuple) else value
        return found

    def _lists(self) -> list[str]:
        return [one.name for one in fields(self) if isinstance(one.default, tuple)]

    def _default_name(self) -> str:
        return f"{self.kind}-{'-'.join(self.labels)}"


@dataclass(frozen=True)
class Unique(_Rule):
    """A head has at most one dependent with any of these labels. Each further one is a violation.

    Parameters
    ----------
    labels : sequence of str
        Labels, or types of labels, that are counted together.
    name : str
        The name of the rule in reports.
    excluding : sequence of str
        Labels that do not count, such as `nsubj:outer`.
    price : float
        What each violation costs; inf (null in JSON) for a hard rule.
    """

    kind: ClassVar[str] = "unique"

    def faults(self, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
        seen, faults = set(), []
        for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
            if self.covers(label):
                if head in seen:
                    faults.append(token)
                seen.add(head)
        return faults


@dataclass(frozen=True)
class Leaf(_Rule):
    """A token with any of these labels has no dependents, except those with an allowed label.

    Parameters
    ----------
    labels, name, excluding, price
        As for `Unique`.
    allowed : sequence of str
        Labels, or types of labels, that dependents may have.
    """

    allowed: tuple[str, ...] = ()

    kind: ClassVar[str] = "leaf"

    def allows(self, label: str) -> bool:
        """Whether a dependent may have this label."""
        return _covers(self.allowed, label)

    def faults(self, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
        return [
            token
            for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1)
            if head and self.covers(labels[head - 1]) and not self.allows(label)
        ]


@dataclass(frozen=True)
class Direction(_Rule):
    """A dependent with any of these labels stands on the given side of its head. Arcs from ROOT have no direction.

    Parameters
    ----------
    labels, name, excluding, price
        As for `Unique`.
    side : {"right", "left"}
        "right" if the dependent follows its head, "left" if it precedes it.
    """

    side: Literal["left", "right"] = "right"

    kind: ClassVar[str] = "direction"
    choices = {"side": ("left", "right")}

    def faults(self, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
        return [
            token
            for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1)
            if head and self.covers(label) and (head < token) != (self.side == "right")
        ]


@dataclass(frozen=True)
class Forbidden(_Rule):
    """An arc is not valid if its label, its dependent and its head all match. What is left empty matches anything.

    A part of speech that is unknown matches nothing. That of ROOT is "ROOT".

    Parameters
    ----------
    labels, labels_not : sequences of str
        Labels or types; with `labels_not`, all other labels match.
    name, excluding, price
        As for `Unique`.
    pos, pos_not : sequences of str
        Parts of speech of the dependent; with `pos_not`, all others match.
    head_pos, head_pos_not : sequences of str
        Parts of speech of the head.
    """

    labels_not: tuple[str, ...] = ()
    pos: tuple[str, ...] = ()
    pos_not: tuple[str, ...] = ()
    head_pos: tuple[str, ...] = ()
    head_pos_not: tuple[str, ...] = ()

    kind: ClassVar[str] = "forbidden"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any(getattr(self, key) for key in self._lists()):
            raise RulesError(f"{self.name}: the rule forbids every arc; give it labels or parts of speech.")

    def covers(self, label: str) -> bool:
        named = not self.labels or _covers(self.labels, label)
        return named and not _covers(self.labels_not, label) and not _names(self.excluding, label)

    def matches_pos(self, pos: str | None) -> bool:
        """Whether a dependent with this part of speech matches."""
        return _pos_matches(self.pos, self.pos_not, pos)

    def matches_head_pos(self, pos: str | None) -> bool:
        """Whether a head with this part of speech matches."""
        return _pos_matches(self.head_pos, self.head_pos_not, pos)

    def faults(self, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
        return [
            token
            for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1)
            if self.covers(label)
            and self.matches_pos(pos[token - 1])
            and self.matches_head_pos(pos[head - 1] if head else ROOT_POS)
        ]

    def _default_name(self) -> str:
        parts = [f"{key}={'|'.join(getattr(self, key))}" for key in self._lists() if getattr(self, key)]
        return f"forbidden({', '.join(parts)})"


@dataclass(frozen=True)
class Planar(_Rule):
    """A token with any of these labels takes no part in crossing arcs. At most one violation per token.

    Parameters
    ----------
    labels, name, excluding, price
        As for `Unique`.
    which : {"own", "other"}
        "own": all tokens between it and its head depend on its head, directly or through others. "other": no arc that
        starts between the token and its head ends beyond the token, unless the token descends from that arc's head.
        These are the two tests of the UD validator.
    """

    which: Literal["own", "other"] = "own"

    kind: ClassVar[str] = "planar"
    choices = {"which": ("own", "other")}

    def faults(self, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
        covered = [token for token, label in enumerate(labels, 1) if self.covers(label)]
        if covered and self.which == "own":
            crossing = nonprojective_arcs(heads)
            return [token for token in covered if crossing[token - 1]]

        def fault(token: int) -> bool:
            head, above = heads[token - 1], _ancestors(heads, token)
            low, high = min(token, head), max(token, head)

            def spans(one: int, other: int) -> bool:  # from between token and head to beyond the token
                return low < one < high and ((other > token) if head < token else (0 < other < token))

            return any(
                (spans(other, upper) or spans(upper, other)) and upper not in above
                for other, upper in enumerate(heads, 1)
                if other != token
            )

        return list(filter(fault, covered))

    def _default_name(self) -> str:
        return f"planar-{self.which}-{'-'.join(self.labels)}"


AnyRule = Unique | Leaf | Direction | Forbidden | Planar


@lru_cache(maxsize=4096)
def _standard(label: str) -> str:
    return UD_ROOT if is_root_label(label) else label


def _names(names: tuple[str, ...], label: str) -> bool:
    return _standard(label) in names


def _covers(names: tuple[str, ...], label: str) -> bool:
    label = _standard(label)
    return label in names or label.partition(":")[0] in names


def _pos_matches(named: tuple[str, ...], not_named: tuple[str, ...], pos: str | None) -> bool:
    if pos == ROOT_POS:
        return pos not in not_named and (not named or pos in named)
    return pos_is_known(pos, (*named, *not_named)) and (not named or pos in named) and pos not in not_named


def pos_is_known(pos: str | None, named: tuple[str, ...]) -> bool:
    """Whether a rule that names these parts of speech can tell if it applies to a token with this one.

    Where a rule names those of Universal Dependencies alone, the tags of other tagsets are unknown.
    """
    asked = {*named} - {ROOT_POS}
    return not asked or pos in UD_POS or (pos not in NO_POS and not asked <= UD_POS)


def _ancestors(heads: list[int], token: int) -> set[int]:
    found = set()
    while token:
        token = heads[token - 1]
        found.add(token)
    return found
