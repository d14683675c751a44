"""Algorithm 1 of Zmigrod, Vieira and Cotterell (2020) in plain Python, for readers and for tests of the compiled core.

`decode` is called like `_core.decode`, for trees of any kind. It follows the paper line by line and makes no attempt at
speed: it takes about O(n^3), and it recurses once per contraction. The paper's `G` is `graph` here, and `graph[j][i]`
is the arc from i to j. ROOT is node 0, token t is node t, and contracted nodes are numbered from n+1 on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .fault import Fault, FaultKind

__all__ = ["decode"]

ROOT = 0


class Arc(NamedTuple):
    """The best arc between two nodes. `inner` is the arc of the graph before contraction that it stands for."""

    weight: float
    head: int
    dependent: int
    inner: Arc | None = None


Graph = dict[int, dict[int, Arc]]
Tree = dict[int, Arc]  # dependent -> its only incoming arc


class _NoTree(Exception):
    """Carries the `Fault` up through the recursion."""

    def __init__(self, kind: FaultKind, dependent: int = 0, head: int = 0):
        self.fault = Fault(kind, 0, dependent, head)


def decode(scores: npt.NDArray[np.floating], heads: npt.NDArray[np.int32], single_root: bool = True) -> Fault | None:
    """Write the heads of the best tree of one sentence to `heads`. Return the reason why there is no tree, or None."""
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
                raise _NoTree(FaultKind.NOT_FINITE, dependent, head)
            graph[dependent][head] = Arc(weight, head, dependent)
        if not graph[dependent]:
            raise _NoTree(FaultKind.NO_HEAD, dependent)
    return graph


def opt(graph: Graph, single_root: bool) -> Tree:
    """Return the best arborescence of `graph`, or the best dependency tree (`opt` in the paper)."""
    greedy = greedy_graph(graph)
    cycle = find_cycle(greedy)
    if cycle:
        contracted = contract(graph, cycle)
        return stitch(opt(contracted, single_root), cycle)
    return constrain(graph) if single_root else greedy


def constrain(graph: Graph) -> Tree:
    """Return the best dependency tree of a graph whose greedy graph is an arborescence (`constrain` in the paper)."""
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
            raise _NoTree(FaultKind.NO_SINGLE_ROOT, *sorted(innermost(arc).dependent for arc in root_arcs)[:2])
        without = {**graph, removed.dependent: {i: a for i, a in graph[removed.dependent].items() if i != ROOT}}
        cycle = find_cycle(greedy_graph(without))
        if cycle:  # reduction case: the graph in which the cycle is contracted still has the root arc
            return stitch(constrain(contract(graph, cycle)), cycle)
        graph = without  # optimisation case


def greedy_graph(graph: Graph) -> Tree:
    """Return the best incoming arc of every node; the one from the lowest head in case of a tie."""
    return {j: max(arcs.values(), key=lambda arc: (arc.weight, -arc.head)) for j, arcs in graph.items()}


def find_cycle(greedy: Tree) -> Tree:
    """Return the arcs of a critical cycle; empty if there is none."""
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
    """Return `graph` with the cycle contracted to one node.

    An arc that enters the cycle replaces the arc of the cycle that it breaks. Its new weight is the difference between
    the two. (The paper adds the weight of the broken cycle, which differs by a constant.)
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
        raise _NoTree(FaultKind.NO_ARBORESCENCE, min(innermost(arc).dependent for arc in cycle.values()))
    return contracted


def innermost(arc: Arc) -> Arc:
    """Return the arc between two tokens that `arc` stands for."""
    while arc.inner is not None:
        arc = arc.inner
    return arc


def stitch(tree: Tree, cycle: Tree) -> Tree:
    """Return the tree of the contracted graph with the cycle broken at the entrance site."""
    outer = [arc.inner for arc in tree.values() if arc.inner is not None]
    return {**cycle, **{arc.dependent: arc for arc in outer}}
