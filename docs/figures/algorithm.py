"""The example of the page on the algorithm: runs the reference implementation step by step, and draws each step.

`python docs/figures/algorithm.py` writes the pictures. All numbers come from `spacy_mindroot.core.reference`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from arcs import Drawn, draw

from spacy_mindroot.core import reference

WORDS = ["ROOT", "Anna", "knows", "dogs", "bark"]
SCORES = [
    [1, 0, 9, 2, 1],
    [8, 2, 0, 1, 6],
    [7, 1, 3, 0, 8],
    [4, 0, 7, 9, 0],
]


class Steps(NamedTuple):
    """The steps of the algorithm on the example, named as in `spacy_mindroot.core.reference`.

    greedy: The best arc to each token.
    cycle: The arcs of the cycle among them.
    contracted: The best arc to each node once the cycle is one node.
    node: The number of that node.
    costs: For each arc from ROOT in `contracted`, the cost of swapping it, and the arc that takes its place.
    constrained: The best arc to each node after the cheapest swap.
    unconstrained, single_root: The heads of the trees, with `contracted` and `constrained` expanded.
    """

    greedy: Any
    cycle: Any
    contracted: Any
    node: int
    costs: dict[int, tuple[float, Any]]
    constrained: Any
    unconstrained: list[int]
    single_root: list[int]


def steps(scores: list[list[int]] = SCORES) -> Steps:
    """Run the algorithm on the example. It is one in which the greedy graph has one cycle, and one swap suffices."""
    graph = {
        dependent: {head: reference.Arc(float(w), head, dependent) for head, w in enumerate(row) if head != dependent}
        for dependent, row in enumerate(scores, 1)
    }
    greedy = reference.greedy_graph(graph)
    cycle = reference.find_cycle(greedy)
    smaller = reference.contract(graph, cycle)
    contracted = reference.greedy_graph(smaller)
    costs = {}
    for node, arc in contracted.items():
        if arc.head == reference.ROOT:
            others = [other for other in smaller[node].values() if other.head != reference.ROOT]
            best = max(others, key=lambda other: other.weight)
            costs[node] = (arc.weight - best.weight, best)
    constrained = reference.constrain(smaller)
    return Steps(
        greedy,
        cycle,
        contracted,
        max(smaller),
        costs,
        constrained,
        _heads(reference.stitch(contracted, cycle)),
        _heads(reference.stitch(constrained, cycle)),
    )


def _heads(tree: Any) -> list[int]:
    return [tree[token].head for token in sorted(tree)]


def weight(heads: list[int]) -> int:
    """Return the weight of a tree of the example."""
    return sum(SCORES[token][head] for token, head in enumerate(heads))


def pictures() -> dict[str, str]:
    """Return the pictures by file name."""
    run = steps()
    ends = {run.node: list(run.cycle)}  # the words of the contracted node
    boxed = (min(run.cycle), max(run.cycle))

    def contracted_arc(arc: Any, style: str) -> Drawn:
        """An arc of the contracted graph, drawn between the two words whose arc it is."""
        token_arc = reference.innermost(arc)
        return Drawn(token_arc.head, token_arc.dependent, _number(arc.weight), style)

    swaps = [contracted_arc(arc, "chosen") for arc in run.contracted.values()]
    swaps += [contracted_arc(other, "rival") for _, other in run.costs.values()]
    assert all(len(words) == 2 for words in ends.values())
    return {
        "greedy.svg": draw(
            WORDS,
            [
                Drawn(arc.head, arc.dependent, _number(arc.weight), "rival" if arc.dependent in run.cycle else "chosen")
                for arc in run.greedy.values()
            ],
            title="The best head of each word. Two of the arcs form a cycle, drawn with dashes.",
        ),
        "contracted.svg": draw(
            WORDS,
            [contracted_arc(arc, "chosen") for arc in run.contracted.values()],
            title="The cycle as one node, and the best arc to each node. Two arcs leave ROOT.",
            boxed=boxed,
        ),
        "swaps.svg": draw(
            WORDS,
            swaps,
            title="The best arcs, and with dashes the arc that would take the place of each arc from ROOT.",
            boxed=boxed,
        ),
        "constrained.svg": draw(
            WORDS,
            [contracted_arc(arc, "chosen") for arc in run.constrained.values()],
            title="After the cheaper swap, one arc leaves ROOT.",
            boxed=boxed,
        ),
        "tree.svg": draw(
            WORDS,
            [Drawn(head, token, _number(SCORES[token - 1][head])) for token, head in enumerate(run.single_root, 1)],
            title="The best tree with one root.",
        ),
        "unconstrained.svg": draw(
            WORDS,
            [
                Drawn(head, token, _number(SCORES[token - 1][head]), "chosen" if head else "rival")
                for token, head in enumerate(run.unconstrained, 1)
            ],
            title="The best tree without the constraint: two words depend on ROOT.",
        ),
    }


def _number(weight: float) -> str:
    return f"{int(weight)}".replace("-", "−") if math.isfinite(weight) else "−∞"


if __name__ == "__main__":
    for name, picture in pictures().items():
        (Path(__file__).parent / name).write_text(picture, encoding="utf8")
