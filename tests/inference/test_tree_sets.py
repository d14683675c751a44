"""Sets of trees: what is in them, exactly, and that they contain the right tree as often as promised."""

import math

import numpy as np
import pytest

from generators import weights_of_all_trees
from spacy_mindroot import decode
from spacy_mindroot.inference import marginals
from spacy_mindroot.inference.conformal import conformities, thresholds_of
from spacy_mindroot.inference.tree_sets import sentence_conformities, tree_set


def allowed_arcs(p, threshold, heads):
    """The sets before any head is removed, straight from the definition."""
    n = len(p)
    allowed = p * n >= threshold
    allowed[np.arange(n), np.arange(n) + 1] = False
    allowed[np.arange(n), heads] = True
    return allowed


def threshold_for(p, gold, coverage, heads):
    """The threshold of sets by sentence, as a calibration has it."""
    return thresholds_of(sentence_conformities(conformities(p, gold, heads), gold), [coverage])[0]


@pytest.mark.parametrize("temperature", [0.3, 1.0, None])
def test_size_heads_and_trees_are_those_of_all_trees_in_the_sets(temperature, rng):
    """With probabilities of a scorer, few heads are removed; so also with those that fit no tree."""
    sizes, removed = set(), 0
    for _ in range(400):
        n = int(rng.integers(1, 6))
        scores = rng.normal(0, 2, (n, n + 1))
        scores[rng.random(scores.shape) < 0.1] -= 1e6  # masks
        heads = decode(scores)
        p = rng.random((n, n + 1)) ** 4 if temperature is None else marginals(scores, temperature=temperature)
        threshold = n * rng.choice([0, 0.02, 0.1, 0.3, 0.9])
        found = tree_set(p, threshold, heads, scores=scores)
        allowed = allowed_arcs(p, threshold, heads)
        trees, weights = weights_of_all_trees(scores, single_root=True)
        inside = allowed[np.arange(n), trees].all(axis=1)
        assert found.size == inside.sum()
        for token in range(n):
            assert set(found.heads[token].tolist()) == set(trees[inside, token].tolist())
            assert np.all(np.diff(p[token, found.heads[token]]) <= 0)
        removed += allowed.sum() - sum(map(len, found.heads))
        if found.size <= 10:
            assert {tuple(tree) for tree in found.trees} == {tuple(tree) for tree in trees[inside].tolist()}
            own = [weights[(trees == tree).all(axis=1)][0] for tree in found.trees]
            assert own == sorted(own, reverse=True) and found.trees[0].tolist() == heads.tolist()
        else:
            assert found.trees == []
        sizes.add(found.size)
    assert removed > (100 if temperature is None else 0) and {1, 2} < sizes and max(sizes) > 10


def test_the_right_tree_is_in_the_set_exactly_if_its_heads_are_in_the_sets(rng):
    """Removing heads that are in no tree never loses a single-rooted tree."""
    for _ in range(300):
        n = int(rng.integers(2, 6))
        p = marginals(rng.normal(0, 2, (n, n + 1)))
        heads, gold = decode(np.log(p + 1e-9)), decode(rng.normal(0, 2, (n, n + 1)))
        before = allowed_arcs(p, 0.3, heads)[np.arange(n), gold].all()
        after = all(head in own for head, own in zip(gold, tree_set(p, 0.3, heads).heads, strict=True))
        assert before == after


def test_the_set_of_a_sure_sentence_is_its_tree_and_no_set_is_empty(rng):
    scores = rng.normal(0, 2, (40, 41))
    heads = decode(scores)
    found = tree_set(marginals(scores), 41.0, heads, scores=scores)
    assert found.size == 1 and isinstance(found.size, int)
    assert [own.tolist() for own in found.heads] == [[head] for head in heads]
    assert [tree.tolist() for tree in found.trees] == [heads.tolist()]


def test_large_sets_are_counted_in_floats():
    def size(n):  # of all single-rooted trees: n choices of the root, n ** (n - 2) trees over the tokens
        return tree_set(np.full((n, n + 1), 1 / n), 0, [0, *range(1, n)]).size

    assert size(9) == 9**8 and isinstance(size(9), int)
    assert size(40) == pytest.approx(40.0**39, rel=1e-9) and isinstance(size(40), float)
    assert size(300) == math.inf


def test_the_threshold_is_an_order_statistic_of_sentences(rng):
    """Of N conformities, the k-th largest, k = ceil((N + 1) coverage); each is the least of a sentence, times n."""
    for n in (4, 9, 10, 50):
        least = rng.permutation(np.arange(1, n + 1)) / (2 * n + 2)
        p = [np.array([[own, 0, 1 - own], [0.45, 0.55, 0]]) for own in least]
        gold, heads = [[0, 1]] * n, [[2, 0]] * n
        for coverage in (0.5, 0.8, 0.9, 0.95):
            k = math.ceil((n + 1) * coverage - 1e-9)
            expected = 2 * np.sort(least)[::-1][k - 1] if k <= n else 0
            assert threshold_for(p, gold, coverage, heads) == expected
            incomplete = threshold_for([*p, p[0]], [*gold, [0, -1]], coverage, [*heads, [2, 0]])
            assert incomplete == expected  # without its other head, nothing is known of the sentence


def test_a_right_tree_is_in_every_set_and_one_with_two_roots_in_none():
    p = [np.array([[0.2, 0, 0.8], [0.6, 0.4, 0]])] * 10
    assert threshold_for(p, [[2, 0]] * 10, 0.9, [[2, 0]] * 10) > 10**6
    assert threshold_for(p, [[0, 0]] * 10, 0.9, [[2, 0]] * 10) == 0


@pytest.mark.parametrize("coverage", [0.6, 0.9])
def test_coverage_on_average_over_draws(coverage, rng):
    """Sentences of several lengths, by a scorer that is not calibrated."""
    inside, short, long = [], [], []
    for _ in range(40):
        p, gold, heads = [], [], []
        for _ in range(80):
            n = int(rng.integers(2, 16))
            scores = rng.normal(0, 2, (n, n + 1))
            gold.append(decode(scores + rng.gumbel(0, 1.0, scores.shape)))
            p.append(marginals(2 * scores))
            heads.append(decode(scores))
        threshold = threshold_for(p[:40], gold[:40], coverage, heads[:40])
        for own, right, tree in zip(p[40:], gold[40:], heads[40:], strict=True):
            found = tree_set(own, threshold, tree)
            covered = all(head in of for head, of in zip(right, found.heads, strict=True))
            inside.append(covered)
            (short if len(own) < 9 else long).append(covered)
    assert coverage - 0.02 <= np.mean(inside) <= coverage + 1 / 41 + 0.03
    assert np.mean([decode(own).tolist() == g.tolist() for own, g in zip(p, gold, strict=True)]) < 0.5
    assert coverage < 0.9 or abs(np.mean(short) - np.mean(long)) < 0.2  # long sentences get larger sets


def test_sentences_at_the_threshold_are_in_their_own_sets(rng):
    """Whatever the rounding: the same product is calibrated and tested."""
    for p_gold in rng.uniform(0.05, 0.45, 300):
        p = [[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 1 - p_gold, p_gold, 0]]
        threshold = threshold_for([p] * 50, [[0, 1, 2]] * 50, 0.9, heads=[[0, 1, 1]] * 50)
        assert 2 in tree_set(p, threshold, [0, 1, 1]).heads[2]
