"""Rules for labelled trees, as data: which labels, arcs and combinations of arcs are valid, and what a breach costs.

`decode_labelled` finds the best tree under rules; `learn_rules` reads rules off a treebank.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy.typing as npt

from ..errors import RulesError
from ..scores import to_texts
from ..trees import is_tree, to_heads
from .kinds import Direction, Forbidden, Leaf, Planar, Unique, Violation
from .ud import UD_RULES

__all__ = ["PRESETS", "UD", "Rules", "to_rules"]

_KINDS = ("unique", "leaf", "direction", "forbidden", "planar")


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
        """Return the rules with these names. Raise RulesError if there is no rule of that name."""
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
        """Return the rules in a dict, as from JSON: one list, or none, for each kind of rules, such as `unique`.

        Raise RulesError if there is another key, or a value is not as described in `Rules`.
        """
        if not isinstance(data, Mapping):
            raise RulesError(f"rules are a dict with lists of rules; found {str(data)[:100]}.")
        unknown = [key for key in data if key not in _KINDS]
        if unknown:
            raise RulesError(f"there are no rules of kind {unknown[0]!r}. The kinds are: {', '.join(_KINDS)}.")
        return cls(**data)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rules as a dict of lists of dicts, for JSON. `from_dict` reads it."""
        return {kind: [rule.to_dict() for rule in getattr(self, kind)] for kind in _KINDS if getattr(self, kind)}

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
            The label of the arc to each token; None, "" or "_" where there is none.
        pos : sequence of str, (n,), optional
            Parts of speech (UPOS). None, "" or "_" where unknown. To rules that name only those of Universal
            Dependencies, tags of other tagsets are unknown, too.

        Returns
        -------
        list of Violation

        Raises
        ------
        RulesError
            If lengths differ, or the heads form no tree.
        """
        tree = to_heads(heads).tolist()
        names = to_texts(labels, "labels", len(tree), RulesError)
        tags = [""] * len(tree) if pos is None else to_texts(pos, "pos", len(tree), RulesError)
        if not is_tree(tree):
            raise RulesError("the heads form no tree. Repair them first, for example with `repair_heads`.")
        return [
            Violation(rule.name, token, tree[token - 1], rule.price)
            for rule in self
            for token in rule.faults(tree, names, tags)
        ]

    def _filtered(self, keep: Any) -> Rules:
        return Rules(**{kind: [rule for rule in getattr(self, kind) if keep(rule)] for kind in _KINDS})


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


UD = Rules(**UD_RULES)
PRESETS = {"ud": UD}


def to_rules(value: Rules | str | Mapping[str, Any], *, what: str = "rules") -> Rules:
    """Return rules given in any form: `Rules`, the name of a preset, the path of a JSON file, or a dict.

    Raise RulesError if it is none of these.
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
