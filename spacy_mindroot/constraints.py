"""Arcs that the tree must have, and arcs that it must not have: as a mask of the arc scores, which leaves every decoder as
it is. If no tree is left, finds the arcs that are in conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .errors import ConstraintsError
from .scores import FloatArray

Arc = tuple[int, int]  # (dependent, head) as in CoNLL-U: tokens count from 1, head 0 is ROOT


@dataclass(frozen=True)
class Constraints:
    """Arcs (dependent, head) of one sentence, as in CoNLL-U: tokens count from 1, head 0 is ROOT.

    The score of an arc is `scores[dependent - 1, head]`.
    """

    required: list[Arc]
    forbidden: list[Arc]

    def __bool__(self) -> bool:
        return bool(self.required or self.forbidden)

    def mask(self, scores: FloatArray) -> FloatArray:
        """The scores of the trees that are left: a copy in which all other arcs are -inf.

        A NaN or +inf stays, for the decoder to find.
        """
        matrix = scores.copy()
        to_mask = np.zeros(matrix.shape, dtype=bool)
        columns = np.arange(matrix.shape[1])
        for dependent, head in self.required:
            to_mask[dependent - 1] |= columns != head
        for dependent, head in self.forbidden:
            to_mask[dependent - 1, head] = True
        with np.errstate(invalid="ignore"):
            matrix[to_mask & (matrix < np.inf)] = -np.inf
        return matrix

    def conflict(self, has_tree: Callable[[Constraints], bool]) -> Constraints:
        """A smallest set of constraints that leaves no tree: without any one of them there is one.

        `has_tree` says whether some constraints leave a tree; these do not. Takes O(log) of its calls for each arc found.
        """
        arcs = [(True, arc) for arc in self.required] + [(False, arc) for arc in self.forbidden]
        needed: list[tuple[bool, Arc]] = []
        while has_tree(_together(needed)):
            # The shortest beginning of `arcs` that is in conflict together with those found so far: its last arc is needed.
            low, high = 0, len(arcs)
            while low < high:
                middle = (low + high) // 2
                if has_tree(_together(needed + arcs[:middle])):
                    low = middle + 1
                else:
                    high = middle
            needed.append(arcs[low - 1])
            arcs = arcs[: low - 1]
        return _together(needed[::-1])

    def reason(self) -> str:
        """In words, why these few constraints, from `conflict`, are in conflict, where that is plain."""
        dependents, heads = ({arc[i] for arc in self.required + self.forbidden} for i in (0, 1))
        if not self.forbidden:
            if len(self.required) == 1:
                return "By the arc scores no tree has this arc."
            if len(dependents) == 1:
                return "A token has only one head."
            if heads == {0}:
                return "A tree has only one root."
            if heads == dependents:
                return "They make a cycle."
        elif self.required == self.forbidden:
            return "It is the same arc."
        elif not self.required:
            if len(dependents) == 1:
                return "They leave the token no head."
            if heads == {0}:
                return "They leave no token to be the root."
        return "With the arcs that the scores allow, they can't all hold."


def read_constraints(required: Iterable[Arc], forbidden: Iterable[Arc], n: int) -> Constraints:
    """Checks arcs of a sentence of n tokens.

    RAISES (ConstraintsError): If one is not a pair of ints, or there is no such arc.
    """
    return Constraints(_arcs(required, "required", n), _arcs(forbidden, "forbidden", n))


def _together(arcs: list[tuple[bool, Arc]]) -> Constraints:
    return Constraints(
        [arc for is_required, arc in arcs if is_required], [arc for is_required, arc in arcs if not is_required]
    )


def pairs_of_ints(arcs: Iterable[Arc], name: str, *, where: str = "") -> list[Arc]:
    """Arcs as pairs of Python's ints. `name` says what they are, `where` whose.

    RAISES (ConstraintsError): If they are not a list of pairs of ints.
    """
    pairs = []
    try:
        arcs = list(arcs)
    except TypeError as error:
        raise ConstraintsError(f"{where}{name} arcs are a list of pairs (dependent, head); found {arcs!r}.") from error
    for arc in arcs:
        try:
            dependent, head = (number.__index__() for number in arc)
        except (TypeError, ValueError, AttributeError) as error:
            raise ConstraintsError(f"{where}{name} arcs are pairs of ints (dependent, head); found {arc!r}.") from error
        pairs.append((dependent, head))
    return pairs


def _arcs(arcs: Iterable[Arc], name: str, n: int) -> list[Arc]:
    pairs = pairs_of_ints(arcs, name)
    for dependent, head in pairs:
        if not 1 <= dependent <= n or not 0 <= head <= n or dependent == head:
            raise ConstraintsError(
                f"there is no arc {dependent, head} to be {name} in a sentence of {n} tokens: arcs are (dependent, head), with "
                f"dependents from 1 to {n}, heads from 0 (ROOT) to {n}, and no token is its own head."
            )
    return pairs
