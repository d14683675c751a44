"""The numbers and pictures on the page that explains the algorithm are those of the real code."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from spacy_mindroot import decode, is_tree
from spacy_mindroot.core import reference

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "algorithm.md").read_text("utf8")


@pytest.fixture(scope="module")
def algorithm():
    sys.path.insert(0, str(DOCS / "figures"))
    try:
        import algorithm
    finally:
        sys.path.pop(0)
    return algorithm


def test_the_pictures_are_what_the_script_draws(algorithm):
    drawn = algorithm.pictures()
    assert drawn.keys() == {path.name for path in (DOCS / "figures").glob("*.svg")}
    for name, picture in drawn.items():
        assert (DOCS / "figures" / name).read_text("utf8") == picture, f"run docs/figures/algorithm.py: {name}"
        assert f"(figures/{name})" in PAGE


def test_the_example_is_decoded_so(algorithm):
    steps = algorithm.steps()
    assert steps.single_root == decode(algorithm.SCORES).tolist()
    assert steps.unconstrained == decode(algorithm.SCORES, single_root=False).tolist()
    assert is_tree(steps.single_root, single_root=True)
    assert algorithm.weight(steps.unconstrained) - algorithm.weight(steps.single_root) == min(
        cost for cost, _ in steps.costs.values()
    )


def test_the_page_has_the_scores_of_the_example(algorithm):
    for word, row in zip(algorithm.WORDS[1:], algorithm.SCORES, strict=True):
        (cells,) = re.findall(rf"^\| \*\*{word}\*\* \|(.*)\|$", PAGE, re.MULTILINE)
        assert [int(cell or 0) for cell in map(str.strip, cells.split("|"))] == row


def test_the_page_has_the_numbers_of_the_steps(algorithm):
    steps = algorithm.steps()
    shown = PAGE.replace("−", "-").replace("\n", " ")
    dogs, bark = sorted(steps.cycle)
    for arc in (steps.contracted[steps.node], steps.constrained[steps.node]):
        token_arc = reference.innermost(arc)
        replaced = steps.cycle[token_arc.dependent].weight
        assert f"{token_arc.weight:g} - {replaced:g} = {arc.weight:g}" in shown
    knows = 2
    for node, name in ((knows, r"\*knows\*"), (steps.node, "The cycle")):
        cost, other = steps.costs[node]
        best = steps.contracted[node].weight
        assert re.search(
            rf"{name}: the arc from ROOT weighs {best:g}, and the best other arc weighs {other.weight:g}. "
            rf"The swap cost is {cost:g}\.",
            shown,
        )
    assert (algorithm.WORDS[dogs], algorithm.WORDS[bark]) == ("dogs", "bark")
    assert steps.single_root[bark - 1] == knows
    assert steps.single_root[dogs - 1] == bark
