"""The search of core/rule_search.hh in plain Python: the same steps in the same order, and the same bits as results."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from spacy_mindroot.core import _core
from spacy_mindroot.core.fault import Fault, FaultKind
from spacy_mindroot.core.rules import Found

__all__ = ["search"]

ANY = -1
ALL = 0  # the number of the mask that covers all classes

# Edits of the working scores, (operation, row, column, mask, rule). Rows are tokens from 0, columns heads, 0 = ROOT.
KEEP, DROP, PRICE_OTHERS, PRICE, UNIQUE_DONE, LEAF_DONE = range(6)
Edit = tuple[int, int, int, int, int]
Branches = list[list[Edit]]


class _Node(NamedTuple):
    parent: _Node | None
    edits: list[Edit]
    depth: int
    bound: float
    branches: Branches


def search(
    arcs: npt.NDArray[np.float64],
    labels: npt.NDArray[np.floating[Any]],
    kinds: npt.NDArray[np.int32],
    head_kinds: npt.NDArray[np.int32],
    rules: Any,
    max_nodes: int,
    projective: bool = False,
) -> Found | Fault:
    """Return what `_rules.search` returns for the same arguments."""
    return _Search(arcs, labels, kinds, head_kinds, rules, projective).run(max_nodes)


class _Search:
    def __init__(self, arcs: Any, labels: Any, kinds: Any, head_kinds: Any, rules: Any, projective: bool) -> None:
        self.n = n = len(arcs)
        self.rules, self.projective = rules, projective
        self.masks = rules.masks.astype(bool)
        n_unique, n_leaf, _ = rules.counts
        self.leaf_mask = 1 + n_unique
        self.below_mask = self.leaf_mask + n_leaf
        self.planar_mask = self.below_mask + n_leaf
        _, self.unique_prices, self.leaf_prices, _, self.planar_prices = np.split(
            rules.mask_prices, [1, self.leaf_mask, self.below_mask, self.planar_mask]
        )

        # The best label of each class for each arc, with the rules about single arcs.
        right = (np.arange(n + 1) > np.arange(1, n + 1)[:, None]).astype(int)
        own = np.arange(n), np.arange(1, n + 1)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = arcs[:, :, None] + labels - rules.prices[kinds[:, None], head_kinds[None, :], right]
        scores[own] = -math.inf
        self.wrong = np.argwhere(~(scores < math.inf).all(axis=2)).tolist()
        self.cells = np.full((n, n + 1, self.masks.shape[1]), -math.inf)
        self.label = np.zeros(self.cells.shape, dtype=np.int32)
        for number, where in enumerate(rules.class_of):
            better = scores[:, :, number] > self.cells[:, :, where]
            self.cells[:, :, where][better] = scores[:, :, number][better]
            self.label[:, :, where][better] = number

        self.nodes = 0
        self.value = -math.inf
        self.heads: npt.NDArray[np.int32] | None = None
        self.labels: npt.NDArray[np.int32] | None = None

    def run(self, max_nodes: int) -> Found | Fault:
        if self.wrong:
            return Fault(FaultKind.NOT_FINITE, 0, self.wrong[0][0] + 1, self.wrong[0][1])
        opened: list[tuple[float, float, int, _Node]] = []
        order, dive, ceiling = 0, False, -math.inf
        waiting: list[tuple[_Node | None, list[Edit]]] = [(None, [])]
        while True:
            for parent, edits in waiting:
                node = self.evaluate(parent, edits)
                if isinstance(node, Fault):
                    return node
                if node is not None and node.branches and node.bound > self.value:
                    order += 1
                    heapq.heappush(opened, (-node.depth if dive else 0, -node.bound, order, node))
            if dive and self.heads is not None:  # one valid tree is enough
                break
            if not opened or (not dive and opened[0][3].bound <= self.value):
                opened = []
                break
            if self.nodes >= max_nodes and not dive:
                if self.heads is not None:
                    break
                dive = True
                ceiling = opened[0][3].bound
                self.projective |= len(self.planar_prices) > 0
                opened = [(-node.depth, bound, number, node) for _, bound, number, node in opened]
                heapq.heapify(opened)
            if self.nodes >= 2 * max_nodes:
                break
            *_, node = heapq.heappop(opened)
            waiting = [(node, edits) for edits in node.branches]
        bound = max([self.value, ceiling, *(node.bound for *_, node in opened)])
        return Found(self.heads, self.labels, self.value, bound, self.nodes)

    def evaluate(self, parent: _Node | None, edits: list[Edit]) -> _Node | Fault | None:
        """Return the node with these edits in addition to those of its parent; None if it has no tree."""
        self.nodes += 1
        cells, done, charged = self.edited(parent, edits)
        best = cells.argmax(axis=2)
        scores = cells.max(axis=2)
        heads = np.empty(self.n, dtype=np.int32)
        fault = _core.decode(scores, heads, True, self.projective)
        if fault is not None:
            return fault if fault.kind == FaultKind.NO_MEMORY else None
        bound = 0.0
        for token, head in enumerate(heads.tolist()):
            bound += float(scores[token, head])
        tokens = np.arange(self.n)
        classes = best[tokens, heads]
        branches: Branches = []
        value, hardest = bound, -math.inf
        for price, loss, divide in self.broken(heads.tolist(), classes.tolist(), cells, scores, done, charged):
            value -= price
            if loss > hardest:
                hardest, branches = loss, divide
        if value > self.value:
            self.value, self.heads, self.labels = value, heads, self.label[tokens, heads, classes]
        return _Node(parent, edits, parent.depth + 1 if parent else 0, bound, branches)

    def edited(self, parent: _Node | None, edits: list[Edit]) -> tuple[Any, set[Any], set[Any]]:
        """Return the working scores, the rules that no longer need a test at a token, and the prices imposed."""
        chain = [edits]
        while parent is not None:
            chain.append(parent.edits)
            parent = parent.parent
        cells = self.cells.copy()
        done: set[tuple[int, int, int]] = set()
        charged: set[tuple[int, int, int]] = set()
        for own in reversed(chain):
            for operation, row, column, number, rule in own:
                mask = self.masks[number]
                if operation == KEEP:
                    if column == ANY:
                        cells[row, :, ~mask] = -math.inf
                    else:
                        cells[row, np.arange(self.n + 1) != column] = -math.inf
                        cells[row, column, ~mask] = -math.inf
                elif operation == DROP:
                    if column == ANY:
                        cells[row, :, mask] = -math.inf
                    else:
                        cells[row, column, mask] = -math.inf
                elif operation == PRICE_OTHERS:
                    prices = self.unique_prices if number < self.leaf_mask else self.leaf_prices
                    for other in range(self.n):
                        if other != row:
                            cells[other, column, mask] -= prices[rule]
                elif operation == PRICE:
                    cells[row, column, mask] -= self.planar_prices[rule]
                    charged.add((rule, row, column))
                else:
                    done.add((operation, rule, column))
        return cells, done, charged

    def broken(
        self, heads: list[int], classes: list[int], cells: Any, scores: Any, done: set[Any], charged: set[Any]
    ) -> Iterator[tuple[float, float, Branches]]:
        """Yield the violations whose price the scores do not contain yet.

        Each with its price, an estimate of what it costs to avoid it, and the branches that deal with it.
        """

        def regret(token: int, column: int, number: int) -> float:
            other = cells[token][:, ~self.masks[number]].max(axis=1, initial=-math.inf)
            if column != ANY:
                other = np.where(np.arange(self.n + 1) == column, other, scores[token])
            return float(scores[token, heads[token]] - other.max())

        def regret_beside(token: int, number: int, dependent: int, upper: int) -> float:
            """Return what `regret` does, if the token may not have the labels wherever its arc clashes with an arc."""
            other = cells[token][:, ~self.masks[number]].max(axis=1, initial=-math.inf)
            free = [not _clashes(token + 1, column, dependent, upper) for column in range(self.n + 1)]
            return float(scores[token, heads[token]] - np.where(free, scores[token], other).max())

        for rule, price in enumerate(self.unique_prices.tolist()):
            number = 1 + rule
            for head in range(self.n + 1):
                tokens = [
                    token for token in range(self.n) if heads[token] == head and self.masks[number][classes[token]]
                ]
                if len(tokens) < 2 or (UNIQUE_DONE, rule, head) in done:
                    continue
                first, most, loss = tokens[0], -math.inf, 0.0
                for token in tokens:
                    own = min(regret(token, head, number), price)
                    if own > most:
                        loss += most if most > -math.inf else 0.0
                        first, most = token, own
                    else:
                        loss += own
                kept = [
                    (KEEP, first, head, number, rule),
                    (PRICE_OTHERS, first, head, number, rule),
                    (UNIQUE_DONE, first, head, number, rule),
                ]
                yield (len(tokens) - 1) * price, loss, [[(DROP, first, head, number, rule)], kept]
        for rule, price in enumerate(self.leaf_prices.tolist()):
            number, below = self.leaf_mask + rule, self.below_mask + rule
            for head in range(1, self.n + 1):
                tokens = [
                    token for token in range(self.n) if heads[token] == head and self.masks[below][classes[token]]
                ]
                if not tokens or not self.masks[number][classes[head - 1]] or (LEAF_DONE, rule, head) in done:
                    continue
                loss = 0.0
                for token in tokens:
                    loss += min(regret(token, head, below), price)
                kept = [
                    (KEEP, head - 1, ANY, number, rule),
                    (PRICE_OTHERS, head - 1, head, below, rule),
                    (LEAF_DONE, head - 1, head, below, rule),
                ]
                loss = min(loss, regret(head - 1, ANY, number))
                yield len(tokens) * price, loss, [[(DROP, head - 1, ANY, number, rule)], kept]
        for rule, price in enumerate(self.planar_prices.tolist()):
            number = self.planar_mask + rule
            crossing = _crossing_other if self.rules.other[rule] else _crossing_own
            for token, head in enumerate(heads):
                if not self.masks[number][classes[token]] or (rule, token, head) in charged:
                    continue
                found = crossing(heads, token + 1)
                if found is None:
                    continue
                arcs, wrong = found
                loss = min(price, regret(token, head, number))
                clashing = [
                    (min(regret(other - 1, upper, ALL), regret_beside(token, number, other, upper)), -other)
                    for other, upper in enumerate(heads, 1)
                    if self.rules.paired[rule] and _clashes(token + 1, head, other, upper)
                ]
                if clashing:
                    loss, clash = max(clashing)
                    clash = -clash
                    upper = heads[clash - 1]
                    kept = [(KEEP, clash - 1, upper, ALL, rule)]
                    for other in range(self.n + 1):
                        if other != token + 1 and _clashes(token + 1, other, clash, upper):
                            kept.append((DROP, token, other, number, rule))
                    yield price, loss, [[(DROP, clash - 1, upper, ALL, rule)], kept]
                    continue
                branches: Branches = []
                kept = []
                for dependent in arcs:
                    arc = (dependent - 1, heads[dependent - 1], ALL, rule)
                    branches.append([*kept, (DROP, *arc)])
                    kept.append((KEEP, *arc))
                    loss = min(loss, regret(dependent - 1, heads[dependent - 1], ALL))
                kept += [(PRICE, token, other, number, rule) for other in wrong if (rule, token, other) not in charged]
                yield price, loss, [*branches, kept]


def _path(heads: list[int], token: int) -> list[int]:
    """Return the token and all above it, without ROOT."""
    found = []
    while token:
        found.append(token)
        token = heads[token - 1]
    return found


def _crossing_own(heads: list[int], token: int) -> tuple[list[int], list[int]] | None:
    """Return why the arc to a token spans a token that is not below its head; None if it does not.

    The reason is a path to ROOT, as the dependents of its arcs. While it exists, the arc to the token crosses it from
    any of the heads that are returned with it.
    """
    head = heads[token - 1]
    shortest: list[int] | None = None
    for other in range(min(token, head) + 1, max(token, head)) if head else ():
        path = _path(heads, other)
        if head not in path and (shortest is None or len(path) < len(shortest)):
            shortest = path
    if shortest is None:
        return None
    wrong = []
    for other in range(1, len(heads) + 1):
        above = shortest[shortest.index(other) + 1 :] if other in shortest else shortest
        if other != token and any(min(token, other) < node < max(token, other) for node in above):
            wrong.append(other)
    return shortest, wrong


def _crossing_other(heads: list[int], token: int) -> tuple[list[int], list[int]] | None:
    """Return why an arc crosses the arc to a token that it spans; None if there is no such arc. As `_crossing_own`."""
    path = _path(heads, heads[token - 1])
    for dependent, upper in enumerate(heads, 1):
        if upper == 0 or upper in path or not _spans(token, heads[token - 1], dependent, upper):
            continue
        wrong = [other for other in [*path, 0] if _spans(token, other, dependent, upper)]
        return [dependent, *path], wrong
    return None


def _clashes(token: int, head: int, dependent: int, upper: int) -> bool:
    """Whether the arc to a token breaks one of the rules about crossing arcs, whatever the rest of the tree is."""
    if upper == 0:
        return head != 0 and min(token, head) < dependent < max(token, head)
    return _spans(token, head, dependent, upper)


def _spans(token: int, head: int, one: int, other: int) -> bool:
    """Whether an arc reaches from between a token and its head to beyond the token."""
    low, high = min(token, head), max(token, head)
    if low < other < high:
        one, other = other, one
    return low < one < high and ((other > token) if head < token else (0 < other < token))
