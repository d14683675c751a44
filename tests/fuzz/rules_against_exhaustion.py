"""Compares the search for the best tree under rules with exhaustive search over labelled trees of up to five tokens.

    python -m tests.fuzz.rules_against_exhaustion [--count N] [--seed N]

Ties, -inf, all kinds of rules, hard and with a price. Each sentence is searched twice: with the scores of all labels,
and with those of few arcs, on demand. A failure names its seed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # the helpers of the tests

from labelled_trees import penalty, random_problem, weights_of_all_labelled_trees

from spacy_mindroot.core import _rules
from spacy_mindroot.core.rules import Found
from spacy_mindroot.rules.compiled import compile_rules


def check(seed: int) -> bool:
    """Check one random sentence. Return whether there is a valid tree.

    RAISES (AssertionError): If the search finds another weight, or a tree that does not have it.
    """
    rng = np.random.default_rng(seed)
    arcs, scores, labels, rules, pos = random_problem(rng, *((4, 3), (4, 3), (5, 1), (5, 2))[seed % 4])
    if seed % 3:  # as log-probabilities: at most 0
        scores -= max(0, scores[np.isfinite(scores)].max(initial=0))
    compiled, n = compile_rules(rules, tuple(labels)), len(arcs)
    kinds = compiled.kinds_of(pos, n)
    found = _rules.search(np.ascontiguousarray(arcs), np.ascontiguousarray(scores), *kinds, compiled, 10**6)
    best = float(weights_of_all_labelled_trees(arcs, scores, labels, rules, pos).max())
    assert isinstance(found, Found) and found.bound == found.value, seed
    if found.heads is None or found.labels is None:
        assert best == -np.inf, (seed, best)
        return False
    assert_valid(found, arcs, scores, labels, rules, pos, best, seed)
    rows = np.ascontiguousarray(scores, dtype=np.float32)
    if seed % 3 and (rows == scores).all():
        demanded = _rules.search_on_demand(
            np.ascontiguousarray(arcs), lambda tokens, heads: rows[tokens, heads], *kinds, compiled, 10**6, False, 1.0
        )
        if demanded is not None:
            assert_valid(demanded, arcs, scores, labels, rules, pos, best, seed)
    return True


def assert_valid(found: Found, arcs, scores, labels, rules, pos, best: float, seed: int) -> None:
    """Fail unless a tree has the weight `best`, as it says."""
    tokens = np.arange(len(arcs))
    weight = arcs[tokens, found.heads].sum() + scores[tokens, found.heads, found.labels].sum()
    weight -= penalty(rules, found.heads, [labels[k] for k in found.labels], pos)
    assert abs(weight - best) < 1e-9 and abs(found.value - best) < 1e-9, (seed, weight, found.value, best)


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
