"""Rules for labelled trees, as data: which labels, arcs and combinations of arcs are valid, and what a breach costs.

`labelled.decode_labelled` finds the best tree under rules; `rule_learning.learn_rules` reads rules off a treebank.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import RulesError
from .labels import UD_ROOT, is_root_label
from .trees import is_tree, to_heads

__all__ = [
    "PRESETS",
    "ROOT_POS",
    "UD",
    "AnyRule",
    "CompiledRules",
    "Direction",
    "Forbidden",
    "Leaf",
    "Planar",
    "Rules",
    "Unique",
    "Violation",
    "compile_rules",
    "to_rules",
]

ROOT_POS = "ROOT"  # the part of speech of ROOT in `head_pos`
_UNKNOWN_POS = frozenset({None, "", "_"})


class Violation(NamedTuple):
    """A breach of a rule.

    Attributes
    ----------
    rule : str
        The name of the rule.
    token : int
        The token at fault, from 1: for `unique`, each dependent after the first; for `leaf`, the dependent that should
        not be there; for the others, the dependent of the arc.
    head : int
        Its head; 0 = ROOT.
    price : float
        What the breach costs; inf for a hard rule.
    """

    rule: str
    token: int
    head: int
    price: float


@dataclass(frozen=True)
class _Rule:
    """The base class of all rules. A label is covered if it or its type is named: `nsubj` covers `nsubj:pass`."""

    labels: tuple[str, ...] = ()
    name: str = ""
    excluding: tuple[str, ...] = ()
    price: float = math.inf

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        for key in self._lists():
            value = getattr(self, key)
            values = (value,) if isinstance(value, str) else tuple(value)
            if not all(isinstance(one, str) and one for one in values):
                raise RulesError(f"{self.kind}: {key} must be a list of non-empty strings; found {str(value)[:100]}.")
            if "pos" not in key:
                values = tuple(map(_standard, values))
            object.__setattr__(self, key, values)
        if not self.name:
            object.__setattr__(self, "name", self._default_name())
        price = math.inf if self.price is None else self.price
        if isinstance(price, bool) or not isinstance(price, (int, float)) or not price > 0:
            raise RulesError(
                f"{self.name}: the price of a rule is a positive number, or null for a hard rule; found {price!r}."
            )
        object.__setattr__(self, "price", float(price))

    def covers(self, label: str) -> bool:
        """Whether the rule is about this label."""
        return _covers(self.labels, label) and not _names(self.excluding, label)

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

    def _lists(self) -> tuple[str, ...]:
        return ("labels", "excluding")

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

    def __post_init__(self) -> None:
        super().__post_init__()
        _need_labels(self)


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

    def __post_init__(self) -> None:
        super().__post_init__()
        _need_labels(self)

    def allows(self, label: str) -> bool:
        """Whether a dependent may have this label."""
        return _covers(self.allowed, label)

    def _lists(self) -> tuple[str, ...]:
        return (*super()._lists(), "allowed")


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

    def __post_init__(self) -> None:
        super().__post_init__()
        _need_labels(self)
        if self.side not in ("left", "right"):
            raise RulesError(f'{self.name}: the side is "left" or "right"; found {self.side!r}.')


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

    def _lists(self) -> tuple[str, ...]:
        return (*super()._lists(), "labels_not", "pos", "pos_not", "head_pos", "head_pos_not")

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
        "own": all tokens between it and its head depend on its head, directly or through others. "other": it makes no
        other arc cross its own. It does so if an arc spans it, from between it and its head to beyond it, unless it
        depends on the head of that arc. These are the two tests of the UD validator.
    """

    which: Literal["own", "other"] = "own"

    kind: ClassVar[str] = "planar"

    def __post_init__(self) -> None:
        super().__post_init__()
        _need_labels(self)
        if self.which not in ("own", "other"):
            raise RulesError(f'{self.name}: `which` is "own" or "other"; found {self.which!r}.')

    def _default_name(self) -> str:
        return f"planar-{self.which}-{'-'.join(self.labels)}"


AnyRule = Unique | Leaf | Direction | Forbidden | Planar


@dataclass(frozen=True)
class Rules:
    """Rules for labelled trees.

    Parameters
    ----------
    unique : sequence
        At most one dependent per head. Each item is a label, a list of labels that are counted together, or a `Unique`.
    leaf : sequence
        No dependents. Each item is a label, a list of labels, or a `Leaf`.
    direction : mapping or sequence
        The side of the head on which a dependent stands: `{"conj": "right"}`, or items that are a `Direction`.
    forbidden : sequence
        Arcs that are not valid, by label and parts of speech. Each item is a `Forbidden`.
    planar : sequence
        No crossing arcs. Each item is a label or a list of labels, which stands for both rules of `Planar`, or a
        `Planar`.

    Any item can also be a dict with the fields of its class.

    Raises
    ------
    RulesError
        If an item is none of these.

    Notes
    -----
    A rule covers a label if it names the label or its type: `nsubj` covers `nsubj:pass`, and `nsubj:pass` covers itself
    alone. The label of the root is `root` in any spelling. A rule is hard, or has a price: the weight of a tree is the
    sum of its scores minus the prices of all violations.

    Rules are immutable, compare by value, and are hashable.

    Examples
    --------
    >>> from spacy_mindroot import Rules
    >>> rules = Rules(unique=["obj", ["nsubj", "csubj"]], direction={"conj": "right"}, leaf=["punct"])
    >>> for violation in rules.violations([2, 0, 2, 5, 2], ["nsubj", "root", "obj", "conj", "obj"]):
    ...     print(violation.rule, violation.token)
    unique-obj 5
    direction-conj 4
    """

    unique: tuple[Unique, ...] = ()
    leaf: tuple[Leaf, ...] = ()
    direction: tuple[Direction, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    planar: tuple[Planar, ...] = ()
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __init__(
        self,
        unique: Iterable[Any] = (),
        leaf: Iterable[Any] = (),
        direction: Mapping[str, Any] | Iterable[Any] = (),
        forbidden: Iterable[Any] = (),
        planar: Iterable[Any] = (),
    ) -> None:
        sides = direction.items() if isinstance(direction, Mapping) else None
        found = {
            "unique": [_read(Unique, item) for item in _items("unique", unique)],
            "leaf": [_read(Leaf, item) for item in _items("leaf", leaf)],
            "direction": [_read(Direction, item) for item in _items("direction", direction)]
            if sides is None
            else [Direction(labels=(label,), side=side) for label, side in sides],
            "forbidden": [_read(Forbidden, item) for item in _items("forbidden", forbidden)],
            "planar": [rule for item in _items("planar", planar) for rule in _read_planar(item)],
        }
        for key, rules in found.items():
            object.__setattr__(self, key, tuple(rules))
        object.__setattr__(self, "_hash", hash(tuple(map(tuple, found.values()))))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        # Hashes of strings differ from process to process.
        return Rules, (self.unique, self.leaf, self.direction, self.forbidden, self.planar)

    def __iter__(self) -> Any:
        """Iterate over all rules."""
        return iter((*self.unique, *self.leaf, *self.direction, *self.forbidden, *self.planar))

    def __bool__(self) -> bool:
        return any(True for _ in self)

    @property
    def names(self) -> list[str]:
        """The names of all rules, each once, in order."""
        return list(dict.fromkeys(rule.name for rule in self))

    def only(self, names: Iterable[str]) -> Rules:
        """Return the rules with these names.

        Raises
        ------
        RulesError
            If there is no rule of that name.
        """
        wanted = set(names)
        unknown = wanted - set(self.names)
        if unknown:
            raise RulesError(
                f"there is no rule called {sorted(unknown)[0]!r}. The rules are: {', '.join(self.names) or 'none'}."
            )
        return self._filtered(lambda rule: rule.name in wanted)

    def without(self, names: Iterable[str]) -> Rules:
        """Return all rules but those with these names. Raises RulesError as `only`."""
        return self.only(set(self.names) - set(self.only(names).names))

    @property
    def hard(self) -> Rules:
        """The rules without a price."""
        return self._filtered(lambda rule: rule.price == math.inf)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Rules:
        """Return the rules in a dict, as from JSON.

        Parameters
        ----------
        data : mapping
            With the keys `unique`, `leaf`, `direction`, `forbidden` and `planar`, all optional.

        Raises
        ------
        RulesError
            If there is another key, or a value is not as described in `Rules`.
        """
        if not isinstance(data, Mapping):
            raise RulesError(f"rules are a dict with lists of rules; found {str(data)[:100]}.")
        unknown = [key for key in data if key not in KINDS]
        if unknown:
            raise RulesError(f"there are no rules of kind {unknown[0]!r}. The kinds are: {', '.join(KINDS)}.")
        return cls(**data)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rules as a dict of lists of dicts, for JSON. `from_dict` reads it."""
        return {kind: [rule.to_dict() for rule in getattr(self, kind)] for kind in KINDS if getattr(self, kind)}

    def violations(
        self,
        heads: npt.ArrayLike,
        labels: Sequence[str],
        pos: Sequence[str | None] | None = None,
    ) -> list[Violation]:
        """Return all violations in a tree, rule by rule.

        Parameters
        ----------
        heads : array-like of ints, (n,)
            A tree with any number of roots; 0 = ROOT, j = token j-1.
        labels : sequence of str, (n,)
            The label of the arc to each token.
        pos : sequence of str, (n,), optional
            Parts of speech (UPOS). None, "" or "_" where unknown.

        Returns
        -------
        list of Violation

        Raises
        ------
        RulesError
            If lengths differ, or the heads form no tree.
        """
        tree = to_heads(heads).tolist()
        tags = [None] * len(tree) if pos is None else pos
        for name, values in (("labels", labels), ("pos", tags)):
            if len(values) != len(tree):
                raise RulesError(f"there are {len(tree)} heads, but {name} is for {len(values)} tokens.")
        if not is_tree(tree):
            raise RulesError("the heads form no tree. Repair them first, for example with `repair_heads`.")
        return [
            Violation(rule.name, token, tree[token - 1], rule.price)
            for rule in self
            for token in _FAULTS[rule.kind](rule, tree, labels, tags)
        ]

    def penalty(self, heads: npt.ArrayLike, labels: Sequence[str], pos: Sequence[str | None] | None = None) -> float:
        """Return the sum of the prices of all violations; inf if a hard rule is broken. Otherwise as `violations`."""
        return math.fsum(violation.price for violation in self.violations(heads, labels, pos))

    def _filtered(self, keep: Any) -> Rules:
        return Rules(**{kind: [rule for rule in getattr(self, kind) if keep(rule)] for kind in KINDS})


KINDS = ("unique", "leaf", "direction", "forbidden", "planar")


def _items(kind: str, items: Any) -> list[Any]:
    if isinstance(items, (str, Mapping)) or not isinstance(items, Iterable):
        raise RulesError(f"{kind} must be a list; found {str(items)[:100]}.")
    return list(items)


def _read(cls: Any, item: Any) -> Any:
    if isinstance(item, cls):
        return item
    if isinstance(item, Mapping):
        known = [one.name for one in fields(cls)]
        unknown = [key for key in item if key not in known]
        if unknown:
            raise RulesError(f"{cls.kind}: there is no field {unknown[0]!r}. The fields are: {', '.join(known)}.")
        return cls(**item)
    if isinstance(item, str):
        return cls(labels=(item,))
    if isinstance(item, (list, tuple)):
        return cls(labels=tuple(item))
    raise RulesError(f"{cls.kind}: a rule is a label, a list of labels or a dict; found {str(item)[:100]}.")


def _read_planar(item: Any) -> list[Planar]:
    if isinstance(item, (Planar, Mapping)):
        return [_read(Planar, item)]
    own = _read(Planar, item)
    return [own, Planar(labels=own.labels, which="other")]


def _need_labels(rule: _Rule) -> None:
    if not rule.labels:
        raise RulesError(f"{rule.kind}: the rule names no labels.")


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
    if not named and not_named in ((), (ROOT_POS,)):
        return True
    return pos not in _UNKNOWN_POS and (not named or pos in named) and pos not in not_named


# ---------------------------------------------------------------------------------------------------------------------
# Violations in a given tree. The search has its own tests, which tests compare with these.


def _unique_faults(rule: Unique, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
    seen, faults = set(), []
    for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
        if rule.covers(label):
            if head in seen:
                faults.append(token)
            seen.add(head)
    return faults


def _leaf_faults(rule: Leaf, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
    return [
        token
        for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1)
        if head and rule.covers(labels[head - 1]) and not rule.allows(label)
    ]


def _direction_faults(rule: Direction, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
    return [
        token
        for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1)
        if head and rule.covers(label) and (head < token) != (rule.side == "right")
    ]


def _forbidden_faults(rule: Forbidden, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
    return [
        token
        for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1)
        if rule.covers(label)
        and rule.matches_pos(pos[token - 1])
        and rule.matches_head_pos(pos[head - 1] if head else ROOT_POS)
    ]


def _planar_faults(rule: Planar, heads: list[int], labels: Sequence[str], pos: Sequence[str | None]) -> list[int]:
    above = [_ancestors(heads, token) for token in range(1, len(heads) + 1)]

    def fault(token: int, head: int) -> bool:
        low, high = min(token, head), max(token, head)
        if rule.which == "own":
            return head != 0 and any(head not in above[other - 1] for other in range(low + 1, high))

        def spans(one: int, other: int) -> bool:  # from between token and head to beyond the token
            return low < one < high and ((other > token) if head < token else (0 < other < token))

        return any(
            (spans(other, upper) or spans(upper, other)) and upper not in above[token - 1]
            for other, upper in enumerate(heads, 1)
            if other != token
        )

    return [
        token
        for token, (head, label) in enumerate(zip(heads, labels, strict=True), 1)
        if rule.covers(label) and fault(token, head)
    ]


def _ancestors(heads: list[int], token: int) -> set[int]:
    found = set()
    while token:
        token = heads[token - 1]
        found.add(token)
    return found


_FAULTS: dict[str, Any] = {
    "unique": _unique_faults,
    "leaf": _leaf_faults,
    "direction": _direction_faults,
    "forbidden": _forbidden_faults,
    "planar": _planar_faults,
}


# ---------------------------------------------------------------------------------------------------------------------
# Rules for the search, over numbered labels.


@dataclass(frozen=True, eq=False)
class CompiledRules:
    """Rules over numbered labels, for the core.

    Rules about single arcs (direction, forbidden) become prices of labels by kind of dependent, kind of head and side.
    For all others, labels that no rule distinguishes form a class.

    Attributes
    ----------
    class_of : ndarray of int32, (labels,)
        The class of each label.
    n_classes : int
        The number of classes.
    prices : ndarray of float64, (dependent kinds, head kinds, 2, labels)
        The price of each label, inf if it is forbidden; index 1 of the third axis is for heads to the right of the
        dependent. A ROOT arc has index 0.
    unique, planar : ndarrays of uint8, (rules, classes)
        The classes that each rule covers.
    leaf : ndarray of uint8, (2, rules, classes)
        The classes that each rule covers, and those that it does not allow below.
    other : ndarray of uint8, (planar rules,)
        Whether the rule is about other arcs.
    paired : ndarray of uint8, (planar rules,)
        Whether the rule is hard, and so is one of the other kind for the same labels. Some arcs then clash whatever the
        rest of the tree is.
    unique_prices, leaf_prices, planar_prices : ndarrays of float64
        The price of each rule.
    """

    labels: tuple[str, ...]
    rules: Rules
    class_of: npt.NDArray[np.int32]
    n_classes: int
    prices: npt.NDArray[np.float64]
    unique: npt.NDArray[np.uint8]
    leaf: npt.NDArray[np.uint8]
    planar: npt.NDArray[np.uint8]
    other: npt.NDArray[np.uint8]
    paired: npt.NDArray[np.uint8]
    unique_prices: npt.NDArray[np.float64]
    leaf_prices: npt.NDArray[np.float64]
    planar_prices: npt.NDArray[np.float64]
    kinds: dict[str | None, int]
    head_kinds: dict[str | None, int]

    def dependent_kinds(self, pos: Sequence[str | None] | None, n: int) -> npt.NDArray[np.int32]:
        """Return the kind of each token as a dependent, (n,)."""
        if pos is None:
            return np.zeros(n, dtype=np.int32)
        return np.array([self.kinds.get(tag, 0 if tag in _UNKNOWN_POS else 1) for tag in pos], dtype=np.int32)

    def kinds_of_heads(self, pos: Sequence[str | None] | None, n: int) -> npt.NDArray[np.int32]:
        """Return the kind of ROOT and of each token as a head, (n+1,)."""
        root = self.head_kinds[ROOT_POS]
        if pos is None:
            return np.array([root, *[0] * n], dtype=np.int32)
        known = [self.head_kinds.get(tag, 0 if tag in _UNKNOWN_POS else 1) for tag in pos]
        return np.array([root, *known], dtype=np.int32)


@lru_cache(maxsize=64)
def compile_rules(rules: Rules, labels: tuple[str, ...]) -> CompiledRules:
    """Return the rules over labels that are numbered in this order. The last ones are cached."""
    n_labels = len(labels)
    rows = [
        *([rule.covers(label) for label in labels] for rule in rules.unique),
        *([rule.covers(label) for label in labels] for rule in rules.leaf),
        *([not rule.allows(label) for label in labels] for rule in rules.leaf),
        *([rule.covers(label) for label in labels] for rule in rules.planar),
    ]
    signatures: dict[tuple[bool, ...], int] = {}
    columns = list(zip(*rows, strict=True)) if rows else [()] * n_labels
    class_of = np.array([signatures.setdefault(column, len(signatures)) for column in columns], dtype=np.int32)
    table = np.array(list(signatures), dtype=np.uint8).reshape(len(signatures), len(rows)).T
    u, f = len(rules.unique), len(rules.leaf)

    # Kind 0 is an unknown part of speech, and kind 1 is any that no rule names.
    named = sorted({tag for rule in rules.forbidden for tag in (*rule.pos, *rule.pos_not)})
    named_heads = sorted({ROOT_POS, *(tag for rule in rules.forbidden for tag in (*rule.head_pos, *rule.head_pos_not))})
    kinds: dict[str | None, int] = {tag: k for k, tag in enumerate(named, 2)}
    head_kinds: dict[str | None, int] = {tag: k for k, tag in enumerate(named_heads, 2)}
    prices = np.zeros((len(kinds) + 2, len(head_kinds) + 2, 2, n_labels))
    tags = [None, "\0", *named]  # no part of speech is "\0"
    head_tags = [None, "\0", *named_heads]
    for rule in rules.forbidden:
        covered = [k for k, label in enumerate(labels) if rule.covers(label)]
        own = [k for k, tag in enumerate(tags) if rule.matches_pos(tag)]
        heads = [k for k, tag in enumerate(head_tags) if rule.matches_head_pos(tag)]
        prices[np.ix_(own, heads, [0, 1], covered)] += rule.price
    from_tokens = [k for k, tag in enumerate(head_tags) if tag != ROOT_POS]
    for way in rules.direction:
        covered = [k for k, label in enumerate(labels) if way.covers(label)]
        prices[np.ix_(range(len(tags)), from_tokens, [1 if way.side == "right" else 0], covered)] += way.price
    planar = np.ascontiguousarray(table[u + 2 * f :])
    hard = [
        (rule.which, tuple(row))
        for rule, row in zip(rules.planar, planar.tolist(), strict=True)
        if rule.price == math.inf
    ]
    paired = [
        {("own", tuple(row)), ("other", tuple(row))} <= {*hard} and rule.price == math.inf
        for rule, row in zip(rules.planar, planar.tolist(), strict=True)
    ]
    return CompiledRules(
        labels=labels,
        rules=rules,
        class_of=class_of,
        n_classes=len(signatures),
        prices=prices,
        unique=np.ascontiguousarray(table[:u]),
        leaf=np.ascontiguousarray(table[u : u + 2 * f].reshape(2, f, len(signatures))),
        planar=planar,
        other=np.array([rule.which == "other" for rule in rules.planar], dtype=np.uint8),
        paired=np.array(paired, dtype=np.uint8),
        unique_prices=np.array([rule.price for rule in rules.unique], dtype=np.float64),
        leaf_prices=np.array([rule.price for rule in rules.leaf], dtype=np.float64),
        planar_prices=np.array([rule.price for rule in rules.planar], dtype=np.float64),
        kinds=kinds,
        head_kinds=head_kinds,
    )


# ---------------------------------------------------------------------------------------------------------------------
# Presets.

_MODIFIERS = ("goeswith", "fixed", "reparandum", "conj", "cc", "punct")

# Level 3 of the validator of Universal Dependencies (udtools 0.2.9), class Syntax, under the names of its tests.
UD = Rules(
    unique=[
        Unique(("nsubj", "csubj"), "too-many-subjects", excluding=("nsubj:outer", "csubj:outer")),
        Unique(("obj",), "too-many-objects"),
    ],
    leaf=[
        Leaf(("mark", "case"), "leaf-mark-case", allowed=("advmod", "obl", *_MODIFIERS)),
        Leaf(("aux", "cop"), "leaf-aux-cop", allowed=_MODIFIERS),
        Leaf(
            ("det",),
            "leaf-det",
            allowed=(
                *("det", "case", "advmod", "obl", "clf", "flat", "compound", "discourse", "parataxis"),
                *_MODIFIERS,
            ),
        ),
        Leaf(("clf",), "leaf-clf", allowed=("advmod", "obl", *_MODIFIERS)),
        Leaf(("cc",), "leaf-cc", allowed=("goeswith", "fixed", "reparandum", "conj", "punct")),
        Leaf(("fixed",), "leaf-fixed", allowed=("goeswith", "reparandum", "conj", "punct")),
        Leaf(("goeswith",), "leaf-goeswith"),
        Leaf(("punct",), "leaf-punct", allowed=("punct",)),
    ],
    direction=[
        Direction((label,), f"right-to-left-{label}") for label in ("conj", "fixed", "flat", "goeswith", "appos")
    ],
    forbidden=[
        Forbidden(name="0-is-not-root", labels_not=("root",), head_pos=("ROOT",)),
        Forbidden(("root",), "root-is-not-0", head_pos_not=("ROOT",)),
        Forbidden(("det",), "rel-upos-det", pos_not=("DET", "PRON")),
        Forbidden(("nummod",), "rel-upos-nummod", pos_not=("NUM", "NOUN", "SYM")),
        Forbidden(("advmod",), "rel-upos-advmod", pos_not=("ADV", "ADJ", "CCONJ", "DET", "PART", "SYM")),
        Forbidden(("expl",), "rel-upos-expl", pos_not=("PRON", "DET", "PART")),
        Forbidden(("aux",), "rel-upos-aux", pos_not=("AUX",)),
        Forbidden(("cop",), "rel-upos-cop", pos_not=("AUX", "PRON", "DET", "SYM")),
        Forbidden(("case",), "rel-upos-case", pos=("PROPN", "ADJ", "PRON", "DET", "NUM", "AUX")),
        Forbidden(("mark",), "rel-upos-mark", pos=("NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "AUX", "INTJ")),
        Forbidden(("cc",), "rel-upos-cc", pos=("NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "VERB", "AUX", "INTJ")),
        Forbidden(("punct",), "rel-upos-punct", pos_not=("PUNCT",)),
        Forbidden(name="upos-rel-punct", labels_not=("punct", "root"), pos=("PUNCT",)),
        Forbidden(("fixed",), "rel-upos-fixed", pos=("PROPN",)),
        Forbidden(("fixed",), "rel-upos-fixed", head_pos=("PROPN",)),
    ],
    planar=[
        Planar(("punct",), "punct-causes-nonproj", which="other"),
        Planar(("punct",), "punct-is-nonproj", which="own"),
    ],
)

PRESETS = {"ud": UD}


def to_rules(value: Rules | str | Mapping[str, Any], *, what: str = "rules") -> Rules:
    """Return rules given in any form: `Rules`, the name of a preset, the path of a JSON file, or a dict.

    Raises
    ------
    RulesError
        If it is none of these.
    """
    if isinstance(value, Rules):
        return value
    if isinstance(value, Mapping):
        return Rules.from_dict(value)
    if isinstance(value, str) and value in PRESETS:
        return PRESETS[value]
    if isinstance(value, str) and value.endswith(".json"):
        try:
            with open(value, encoding="utf8") as file:
                return Rules.from_dict(json.load(file))
        except (OSError, ValueError) as error:
            if isinstance(error, RulesError):
                raise RulesError(f"{value}: {error}") from error
            raise RulesError(f"{value}: the rules cannot be read: {error}") from error
    raise RulesError(f'{what}: "ud", the path of a .json file or a dict of rules; found {str(value)[:100]!r}.')
