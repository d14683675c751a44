"""Random labelled problems, random rules, and all labelled trees of a short sentence."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product

import numpy as np

from generators import all_trees
from spacy_mindroot.rules import Direction, Forbidden, Leaf, Planar, Rules, Unique

LABELS = ["root", "nsubj", "nsubj:pass", "obj", "punct", "case"]
POS = ["NOUN", "VERB", "PUNCT", "", "ADP"]


def random_rules(rng, labels=LABELS):
    """Return a few random rules, half of them with a price."""

    def some(names, least=1):
        count = int(rng.integers(least, min(3, len(names)) + 1))
        return tuple(str(name) for name in rng.choice(names, count, replace=False))

    def price():
        return math.inf if rng.random() < 0.6 else float(rng.choice([0.5, 1.0, 2.0]))

    def few():
        return range(rng.integers(3))

    named = [*labels, "nsubj"]
    return Rules(
        unique=[Unique(some(named), price=price(), excluding=some(labels, 0)) for _ in few()],
        leaf=[Leaf(some(named), price=price(), allowed=some(named, 0)) for _ in few()],
        direction=[Direction(some(named), side=str(rng.choice(["left", "right"])), price=price()) for _ in few()],
        forbidden=[
            Forbidden(
                some(named),
                price=price(),
                **{str(rng.choice(["pos", "pos_not"])): some(POS[:3], 0)},
                **{str(rng.choice(["head_pos", "head_pos_not"])): some([*POS[:3], "ROOT"], 0)},
            )
            for _ in few()
        ],
        planar=[Planar(some(named), price=price(), which=str(rng.choice(["own", "other"]))) for _ in few()],
    )


def random_problem(rng, most_tokens=4, most_labels=3):
    """Return arc scores, label scores, labels, rules and parts of speech. Ties and -inf are frequent."""
    n = int(rng.integers(1, most_tokens + 1))
    labels = [str(name) for name in rng.permutation(LABELS)[: rng.integers(1, most_labels + 1)]]
    kind = rng.integers(4)
    if kind == 0:
        arcs = rng.normal(0, 2, (n, n + 1))
        scores = rng.normal(0, 2, (n, n + 1, len(labels)))
    else:
        arcs = rng.integers(-2, 3, (n, n + 1)).astype(float)
        scores = rng.integers(-2, 3, (n, n + 1, len(labels))).astype(float)
    if kind == 2:
        arcs[rng.random(arcs.shape) < 0.25] = -np.inf
        scores[rng.random(scores.shape) < 0.25] = -np.inf
    arcs[np.arange(n), np.arange(n) + 1] = np.nan
    pos = [str(tag) for tag in rng.choice(POS, n)] if rng.random() < 0.7 else None
    return arcs, scores, labels, random_rules(rng), pos


def penalty(rules, heads, labels, pos=None):
    """Return the sum of the prices of all violations; inf if a hard rule is broken."""
    return math.fsum(violation.price for violation in rules.violations(heads, labels, pos))


def best_by_exhaustion(arcs, scores, labels, rules, pos, *, projective=False):
    """Return the greatest weight of all labelled trees, -inf if none is valid."""
    trees, single = all_trees(len(arcs))
    trees = trees[single]
    choices = np.array(list(product(range(len(labels)), repeat=len(arcs))))
    tokens = np.arange(len(arcs))
    own = arcs[tokens, trees].sum(axis=1)[:, None] + scores[tokens, trees[:, None], choices[None]].sum(axis=2)
    best = -math.inf
    for number in np.argsort(-own, axis=None):  # prices only lower a weight
        tree, choice = divmod(int(number), len(choices))
        weight = float(own[tree, choice])
        if weight <= best or weight == -math.inf:
            break
        heads = trees[tree].tolist()
        if not (projective and _crosses(heads)):
            best = max(best, weight - penalty(rules, heads, [labels[k] for k in choices[choice]], pos))
    return best


def weights_of_all_labelled_trees(arcs, scores, labels, rules, pos):
    """Return the weight of every labelled tree less the prices of its violations, (trees, choices of labels).

    Tables instead of the tests of `Rules`, so that many problems can be checked.
    """
    n = len(arcs)
    trees, choices, crossing = _all_labelled_trees(n, len(labels))
    tokens = np.arange(n)
    tags = [None] * n if pos is None else pos
    single = scores + arcs[:, :, None]  # the scores of arcs with a label
    for rule in (*rules.forbidden, *rules.direction):
        for token, head, k in product(range(n), range(n + 1), range(len(labels))):
            if head != token + 1 and rule.covers(labels[k]) and _matches(rule, token, head, tags):
                single[token, head, k] -= rule.price
    weights = single[tokens, trees[:, None], choices[None]].sum(axis=2)
    for rule in rules.unique:
        below = _covered(rule, labels)[choices]
        for head in range(n + 1):
            count = (trees == head).astype(int) @ below.T.astype(int)
            weights -= _cost(rule.price, np.maximum(count - 1, 0))
    for rule in rules.leaf:
        covered = np.column_stack([np.zeros(len(choices), dtype=bool), _covered(rule, labels)[choices]])
        wrong = np.array([not rule.allows(label) for label in labels])[choices]
        for token in tokens:
            count = covered[:, trees[:, token]].T & wrong[None, :, token]
            weights -= _cost(rule.price, count)
    for rule in rules.planar:
        count = crossing[rule.which].astype(int) @ _covered(rule, labels)[choices].T.astype(int)
        weights -= _cost(rule.price, count)
    return weights


@lru_cache
def _all_labelled_trees(n, n_labels):
    """Return all single-rooted trees, all choices of labels, and which tokens cross in a tree, by kind of the rule."""
    trees, single = all_trees(n)
    trees = trees[single]
    choices = np.array(list(product(range(n_labels), repeat=n)))
    crossing = {}
    for which in ("own", "other"):
        rules = Rules(planar=[Planar(("x",), which=which)])
        found = [[violation.token - 1 for violation in rules.violations(heads, ["x"] * n)] for heads in trees]
        crossing[which] = np.array([[token in own for token in range(n)] for own in found])
    return trees, choices, crossing


def _covered(rule, labels):
    return np.array([rule.covers(label) for label in labels])


def _cost(price, count):
    """Return price * count, where none of a hard rule costs nothing."""
    return np.where(count > 0, price, 0.0) * np.where(count > 0, count, 1)


def _matches(rule, token, head, tags):
    if isinstance(rule, Direction):
        return head != 0 and (head < token + 1) != (rule.side == "right")
    return rule.matches_pos(tags[token]) and rule.matches_head_pos(tags[head - 1] if head else "ROOT")


def _crosses(heads):
    arcs = [sorted((dependent, head)) for dependent, head in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)
