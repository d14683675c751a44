"""Compares the search for the best tree under rules with exhaustive search over labelled trees of up to five tokens.

    python -m tests.fuzz.rules_against_exhaustion [--count N] [--seed N]

Ties, -inf, all kinds of rules, hard and with a price. A failure names its seed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # the helpers of the tests

from labelled_trees import best_by_exhaustion, random_problem

from spacy_mindroot.core import _rules
from spacy_mindroot.core.rules_reference import Found
from spacy_mindroot.rules import compile_rules


def check(seed: int) -> bool:
    """Check one random sentence. Return whether there is a valid tree.

    RAISES (AssertionError): If the search finds another weight, or a tree that does not have it.
    """
    rng = np.random.default_rng(seed)
    arcs, scores, labels, rules, pos = random_problem(rng, *((4, 3), (4, 3), (5, 1), (5, 2))[seed % 4])
    compiled, n = compile_rules(rules, tuple(labels)), len(arcs)
    kinds = compiled.dependent_kinds(pos, n), compiled.kinds_of_heads(pos, n)
    found = _rules.search(np.ascontiguousarray(arcs), np.ascontiguousarray(scores), *kinds, compiled, 10**6)
    best = best_by_exhaustion(arcs, scores, labels, rules, pos)
    assert isinstance(found, Found) and found.bound == found.value, seed
    if found.heads is None or found.labels is None:
        assert best == -np.inf, (seed, best)
        return False
    tokens = np.arange(n)
    weight = arcs[tokens, found.heads].sum() + scores[tokens, found.heads, found.labels].sum()
    weight -= rules.penalty(found.heads, [labels[k] for k in found.labels], pos)
    assert abs(weight - best) < 1e-9 and abs(found.value - best) < 1e-9, (seed, weight, found.value, best)
    return True


def main() -> None:
    """Check random sentences, and say how many had no valid tree."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.rules_against_exhaustion", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="number of sentences")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others follow")
    options = parser.parse_args()
    without = 0
    for done in range(1, options.count + 1):
        without += not check(options.seed + done)
        if done % 5000 == 0 or done == options.count:
            print(f"{done:,} sentences, all right; {without:,} without a valid tree", flush=True)


if __name__ == "__main__":
    main()
