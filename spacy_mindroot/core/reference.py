"""Algorithm 1 of Zmigrod, Vieira and Cotterell (2020), in plain Python: to read, and to test the compiled core against.

Same signature as `_core.decode`. It follows the paper line by line and makes no attempt at speed (about O(n^3), and
recursion as deep as there are contractions). What the paper writes `G` is `graph` here: `graph[j][i]` is the arc from
i to j. ROOT is node 0, token t is node t, contracted nodes are numbered from n+1 on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .fault import Fault

ROOT = 0


class Arc(NamedTuple):
    """The best arc between two nodes. `inner` is the bookkeeping function: the arc of the graph before contraction."""

    weight: float
    head: int
    dependent: int
    inner: Arc | None = None


Graph = dict[int, dict[int, Arc]]
Tree = dict[int, Arc]  # dependent -> its only incoming arc


class _NoTree(Exception):
    """Carries the `Fault` up through the recursion."""

    def __init__(self, kind: str, dependent: int = 0, head: int = 0):
        self.fault = Fault(kind, 0, dependent, head)


def decode(scores: npt.NDArray[np.floating], heads: npt.NDArray[np.int32], single_root: bool = True) -> Fault | None:
    """Heads of the best tree of one sentence, written to `heads`.

    `scores` is (n, n+1), float32 or float64; `heads` is int32 (n,).
    Returns None, or the `Fault` that says why there is no such tree.
    """
    try:
        graph = _read(scores)
        if graph:
            tree = opt(graph, single_root)
            for dependent, arc in tree.items():
                heads[dependent - 1] = arc.head
    except _NoTree as no_tree:
        return no_tree.fault
    return None


def _read(scores: npt.NDArray[np.floating]) -> Graph:
    graph: Graph = {}
    for row, weights in enumerate(np.asarray(scores, dtype=np.float64).tolist()):
        dependent = row + 1
        graph[dependent] = {}
        for head, weight in enumerate(weights):
            if head == dependent or weight == -math.inf:
                continue
            if not weight < math.inf:
                raise _NoTree("not_finite", dependent, head)
            graph[dependent][head] = Arc(weight, head, dependent)
        if not graph[dependent]:
            raise _NoTree("no_head", dependent)
    return graph


def opt(graph: Graph, single_root: bool) -> Tree:
    """The best arborescence of `graph`, or the best dependency tree (`opt` in the paper)."""
    greedy = greedy_graph(graph)
    cycle = find_cycle(greedy)
    if cycle:
        contracted = contract(graph, cycle)
        return stitch(opt(contracted, single_root), cycle)
    return constrain(graph) if single_root else greedy


def constrain(graph: Graph) -> Tree:
    """The best dependency tree of a graph whose greedy graph is an arborescence (`constrain` in the paper)."""
    while True:
        greedy = greedy_graph(graph)
        root_arcs = [arc for arc in greedy.values() if arc.head == ROOT]  # sigma
        if len(root_arcs) == 1:
            return greedy
        removed, cost = None, math.inf
        for arc in root_arcs:
            alternatives = [other.weight for other in graph[arc.dependent].values() if other.head != ROOT]
            if alternatives and arc.weight - max(alternatives) < cost:
                removed, cost = arc, arc.weight - max(alternatives)
        if removed is None:
            raise _NoTree("no_single_root", *sorted(innermost(arc).dependent for arc in root_arcs)[:2])
        without = {**graph, removed.dependent: {i: a for i, a in graph[removed.dependent].items() if i != ROOT}}
        cycle = find_cycle(greedy_graph(without))
        if cycle:  # reduction case: the cycle is contracted in the graph that still has the root arc
            return stitch(constrain(contract(graph, cycle)), cycle)
        graph = without  # optimisation case


def greedy_graph(graph: Graph) -> Tree:
    """The best incoming arc of every node; the lowest head where several are equally good."""
    return {j: max(arcs.values(), key=lambda arc: (arc.weight, -arc.head)) for j, arcs in graph.items()}


def find_cycle(greedy: Tree) -> Tree:
    """A critical cycle, as the arcs that are on it; empty if there is none."""
    finished = {ROOT}
    for start in greedy:
        path: list[int] = []
        node = start
        while node not in finished and node not in path:
            path.append(node)
            node = greedy[node].head
        if node in path:
            return {member: greedy[member] for member in path[path.index(node) :]}
        finished.update(path)
    return {}


def contract(graph: Graph, cycle: Tree) -> Graph:
    """`graph` with the cycle as one node.

    An arc that enters the cycle replaces the arc of the cycle that it breaks, so it weighs the one minus the other
    (the paper adds the weight of the broken cycle, which differs by a constant).
    """
    node = max(graph) + 1
    contracted: Graph = {node: {}, **{dependent: {} for dependent in graph if dependent not in cycle}}
    for dependent, arcs in graph.items():
        for head, arc in arcs.items():
            if dependent in cycle and head in cycle:  # dead
                continue
            if dependent in cycle:  # enter
                new = Arc(arc.weight - cycle[dependent].weight, head, node, arc)
            elif head in cycle:  # exit
                new = Arc(arc.weight, node, dependent, arc)
            else:  # external
                new = Arc(arc.weight, head, dependent, arc)
            rival = contracted[new.dependent].get(new.head)
            if rival is None or new.weight > rival.weight:
                contracted[new.dependent][new.head] = new
    if not contracted[node]:
        raise _NoTree("no_arborescence", min(innermost(arc).dependent for arc in cycle.values()))
    return contracted


def innermost(arc: Arc) -> Arc:
    """The arc between two tokens that `arc` stands for."""
    while arc.inner is not None:
        arc = arc.inner
    return arc


def stitch(tree: Tree, cycle: Tree) -> Tree:
    """The tree of the contracted graph, with the cycle broken at the entrance site."""
    outer = [arc.inner for arc in tree.values() if arc.inner is not None]
    return {**cycle, **{arc.dependent: arc for arc in outer}}
