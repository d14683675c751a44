"""Required and forbidden arcs, applied as a mask of the arc scores, so that every decoder works unchanged.

If no tree is left, `Constraints.conflict` finds the arcs to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .errors import ConstraintsError
from .scores import FloatArray, Ints, shown, to_list
from .trees import MISSING

__all__ = ["Arc", "Constraints", "keep_heads", "pairs_of_ints", "read_constraints"]

Arc = tuple[int, int]  # (dependent, head) as in CoNLL-U: tokens count from 1, head 0 is ROOT


@dataclass(frozen=True)
class Constraints:
    """Required and forbidden arcs of one sentence.

    An arc is a pair (dependent, head) as in CoNLL-U: tokens count from 1, head 0 is ROOT. Its score is
    `scores[dependent - 1, head]`.
    """

    required: list[Arc]
    forbidden: list[Arc]

    def __bool__(self) -> bool:
        return bool(self.required or self.forbidden)

    def mask(self, scores: FloatArray) -> FloatArray:
        """Return a copy of `scores`, (n, n+1), in which every arc that the constraints rule out is -inf.

        NaN and +inf are kept, so that the decoder reports them.
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
        """Return a minimal subset of these constraints that leaves no tree: dropping any one of them would leave one.

        `has_tree` says whether the given constraints leave a tree. All of these together must leave none. It is called
        O(log m) times for each arc of the result, where m is the number of constraints.
        """
        arcs = [(True, arc) for arc in self.required] + [(False, arc) for arc in self.forbidden]
        needed: list[tuple[bool, Arc]] = []
        while has_tree(_together(needed)):
            # Find the shortest prefix of `arcs` that conflicts with the arcs found so far. Its last arc is needed.
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
        """Return a sentence that says why these constraints, a result of `conflict`, are in conflict."""
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


def keep_heads(scores: FloatArray, heads: Ints) -> FloatArray:
    """Return a copy of `scores`, (n, n+1), in which every arc that the known `heads`, (n,), rule out is -inf."""
    ruled_out = (heads != MISSING)[:, np.newaxis] & (heads[:, np.newaxis] != np.arange(scores.shape[1]))
    return np.where(ruled_out, scores.dtype.type(-np.inf), scores)


def read_constraints(required: Iterable[Arc], forbidden: Iterable[Arc], n: int) -> Constraints:
    """Return the constraints on a sentence of n tokens.

    Raise ConstraintsError if an arc is not a pair of ints, or does not exist in a sentence of n tokens.
    """
    return Constraints(_arcs(required, "required", n), _arcs(forbidden, "forbidden", n))


def pairs_of_ints(arcs: Iterable[Arc], name: str, *, where: str = "") -> list[Arc]:
    """Return arcs (dependent, head) as pairs of Python ints. Raise ConstraintsError if they are none.

    Its message says what they are, `name` ("required" or "forbidden"), and begins with `where`.
    """
    pairs = []
    for arc in to_list(arcs, f"{where}{name} arcs", ConstraintsError):
        try:
            numbers = list(arc)
            if bool in map(type, numbers):
                raise TypeError
            dependent, head = (number.__index__() for number in numbers)
        except (TypeError, ValueError, AttributeError) as error:
            raise ConstraintsError(
                f"{where}{name} arcs are pairs of ints (dependent, head); found {shown(arc)}."
            ) from error
        pairs.append((dependent, head))
    return pairs


def _together(arcs: list[tuple[bool, Arc]]) -> Constraints:
    return Constraints(
        [arc for is_required, arc in arcs if is_required], [arc for is_required, arc in arcs if not is_required]
    )


def _arcs(arcs: Iterable[Arc], name: str, n: int) -> list[Arc]:
    pairs = pairs_of_ints(arcs, name)
    for dependent, head in pairs:
        if not 1 <= dependent <= n or not 0 <= head <= n or dependent == head:
            raise ConstraintsError(
                f"there is no arc {shown((dependent, head))} to be {name} in a sentence of {n} tokens: arcs are "
                f"(dependent, head), with dependents from 1 to {n}, heads from 0 (ROOT) to {n}, "
                "and no token is its own head."
            )
    return pairs
