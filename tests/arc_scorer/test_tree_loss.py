"""The likelihood of trees: its value from the list of all trees, its gradient from finite differences."""

import numpy as np
import pytest
from thinc.api import NumpyOps

from generators import all_trees, random_tree
from spacy_mindroot.arc_scorer.batching import batch_sentences
from spacy_mindroot.arc_scorer.loss import head_loss
from spacy_mindroot.arc_scorer.tree_loss import head_and_tree_loss, tree_loss
from spacy_mindroot.constraints import keep_heads
from spacy_mindroot.trees import MISSING

OPS = NumpyOps()
LENGTHS = [3, 1, 5, 4, 4, 5]


def random_arcs(batch, rng, scale=2.0):
    return [np.where(g.allowed, rng.normal(0, scale, g.allowed.shape), -np.inf).astype("f") for g in batch.groups]


def of_sentence(batch, blocks, k):
    """The part of padded blocks that belongs to sentence k."""
    n = batch.lengths[k]
    for group, block in zip(batch.groups, blocks, strict=True):
        for row in np.flatnonzero(group.sentences == k):
            return block[row, :n, : n + 1]


def gold(rng, unknown):
    heads = np.concatenate([random_tree(n, rng) for n in LENGTHS]).astype(np.int64)
    heads[rng.random(len(heads)) < unknown] = MISSING
    return heads


def by_summation(scores, heads):
    """Minus the log-probability of the trees with a single root that have the known heads."""
    trees, single = all_trees(len(heads))
    trees = trees[single]
    weights = np.exp(scores.astype(float)[np.arange(len(heads)), trees].sum(axis=1))
    agree = ((trees == heads) | (heads == MISSING)).all(axis=1)
    return -np.log(weights[agree].sum() / weights.sum())


@pytest.mark.parametrize("unknown", [0, 0.3, 0.8])
def test_is_the_probability_of_what_is_known(unknown, rng):
    batch = batch_sentences(OPS, LENGTHS)
    for _ in range(10):
        arcs, heads = random_arcs(batch, rng), gold(rng, unknown)
        starts = np.cumsum([0, *LENGTHS])
        expected = sum(
            by_summation(of_sentence(batch, arcs, k), heads[starts[k] : starts[k + 1]]) for k in range(len(LENGTHS))
        )
        assert tree_loss(OPS, batch, arcs, heads)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("unknown", [0, 0.3])
def test_gradient(unknown, rng):
    batch = batch_sentences(OPS, [*LENGTHS, 30])
    arcs = random_arcs(batch, rng)
    heads = np.concatenate([gold(rng, unknown), random_tree(30, rng)])
    _, gradients = tree_loss(OPS, batch, arcs, heads)
    for block, gradient, group in zip(arcs, gradients, batch.groups, strict=True):
        assert gradient.dtype == np.float32 and gradient.shape == block.shape
        is_arc = group.allowed & group.real[:, :, np.newaxis]
        assert (gradient[~is_arc] == 0).all()
        places = np.argwhere(is_arc)
        for place in map(tuple, places[rng.integers(len(places), size=20)]):
            before, values = block[place], []
            for step in (2**-7, -(2**-7)):
                block[place] = before + np.float32(step)
                values.append(tree_loss(OPS, batch, arcs, heads)[0])
            block[place] = before
            assert (values[0] - values[1]) / 2**-6 == pytest.approx(gradient[place], abs=1e-4)


@pytest.mark.parametrize("impossible", [[0, 0, 1], [2, 1, 0], [0, 0, MISSING]], ids=["roots", "cycle", "partial"])
def test_heads_that_no_tree_has_are_learnt_one_by_one(impossible, rng):
    batch = batch_sentences(OPS, [3, 4])
    arcs = random_arcs(batch, rng)
    heads = np.array([*impossible, 0, 1, 2, 2])
    loss, gradients = tree_loss(OPS, batch, arcs, heads)
    of_heads, of_tree = heads.copy(), heads.copy()
    of_heads[3:], of_tree[:3] = MISSING, MISSING
    expected = [head_loss(OPS, batch, arcs, of_heads), tree_loss(OPS, batch, arcs, of_tree)]
    assert loss == pytest.approx(sum(value for value, _ in expected), rel=1e-6)
    for gradient, one, other in zip(gradients, *(blocks for _, blocks in expected), strict=True):
        np.testing.assert_allclose(gradient, one + other, atol=1e-6)


def test_unknown_heads_cost_nothing(rng):
    batch = batch_sentences(OPS, LENGTHS)
    loss, gradients = tree_loss(OPS, batch, random_arcs(batch, rng), np.full(sum(LENGTHS), MISSING))
    assert loss == 0 and not any(gradient.any() for gradient in gradients)


def test_certain_of_a_cycle(rng):
    """Scores as far apart as those of a network that has gone astray: exact all the same, and finite."""
    batch = batch_sentences(OPS, [4])
    (block,) = arcs = random_arcs(batch, rng)
    block[0, 0, 2] = block[0, 1, 1] = 400
    loss, (gradient,) = tree_loss(OPS, batch, arcs, np.array([0, 1, 2, 3]))
    assert loss == pytest.approx(by_summation(block[0] - [[400], [400], [0], [0]], np.array([0, 1, 2, 3])), rel=1e-6)
    assert np.isfinite(gradient).all() and np.abs(gradient.sum(axis=2)).max() < 1e-6


def test_both_are_the_mean(rng):
    batch = batch_sentences(OPS, LENGTHS)
    arcs, heads = random_arcs(batch, rng), gold(rng, 0.2)
    found = [loss(OPS, batch, arcs, heads) for loss in (head_and_tree_loss, head_loss, tree_loss)]
    assert found[0][0] == pytest.approx((found[1][0] + found[2][0]) / 2)
    for both, one, other in zip(*(gradients for _, gradients in found), strict=True):
        np.testing.assert_allclose(both, (one + other) / 2)


def test_trees_alone_leave_open_what_arcs_from_root_weigh(rng):
    batch = batch_sentences(OPS, LENGTHS)
    arcs, heads = random_arcs(batch, rng), gold(rng, 0)
    shifted = [block + 3 * (np.arange(block.shape[2]) == 0).astype("f") for block in arcs]
    one, other = (tree_loss(OPS, batch, blocks, heads)[0] for blocks in (arcs, shifted))
    assert one == pytest.approx(other, rel=1e-6)
    one, other = (head_and_tree_loss(OPS, batch, blocks, heads)[0] for blocks in (arcs, shifted))
    assert abs(one - other) > 1


def one_hot(heads):
    """Each sentence's heads as probabilities of arcs."""
    starts = np.cumsum([0, *LENGTHS])
    return [
        (heads[start : start + n, np.newaxis] == np.arange(n + 1)).astype(float)
        for n, start in zip(LENGTHS, starts, strict=False)
    ]


def mixture(rng, n):
    """The probabilities of arcs under a random distribution over the trees with a single root, and the distribution."""
    trees, single = all_trees(n)
    trees = trees[single]
    p = rng.random(len(trees)) ** 6
    p /= p.sum()
    arcs = np.zeros((n, n + 1))
    for tree, weight in zip(trees, p, strict=True):
        arcs[np.arange(n), tree] += weight
    return arcs, trees, p


@pytest.mark.parametrize("loss", [head_loss, tree_loss, head_and_tree_loss])
def test_certain_teachers_are_gold(loss, rng):
    batch = batch_sentences(OPS, LENGTHS)
    arcs, heads = random_arcs(batch, rng), gold(rng, 0)
    expected, gradients = loss(OPS, batch, arcs, heads)
    found, soft = loss(OPS, batch, arcs, np.full(len(heads), MISSING), one_hot(heads))
    assert found == expected
    for one, other in zip(gradients, soft, strict=True):
        assert (one == other).all()


def test_is_the_cross_entropy_of_tree_distributions(rng):
    batch = batch_sentences(OPS, LENGTHS)
    arcs = random_arcs(batch, rng)
    mixtures = [mixture(rng, n) for n in LENGTHS]
    expected = 0
    for k, (_, trees, p) in enumerate(mixtures):
        weights = of_sentence(batch, arcs, k).astype(float)[np.arange(LENGTHS[k]), trees].sum(axis=1)
        expected -= p @ (weights - np.log(np.exp(weights).sum()))
    loss, _ = tree_loss(OPS, batch, arcs, gold(rng, 0.5), [q for q, _, _ in mixtures])
    assert loss == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("loss", [head_loss, tree_loss])
def test_gradient_of_teachers(loss, rng):
    batch = batch_sentences(OPS, LENGTHS)
    arcs, heads = random_arcs(batch, rng), gold(rng, 0.2)
    soft = [mixture(rng, n)[0] if k % 2 else None for k, n in enumerate(LENGTHS)]
    _, gradients = loss(OPS, batch, arcs, heads, soft)
    for block, gradient, group in zip(arcs, gradients, batch.groups, strict=True):
        is_arc = group.allowed & group.real[:, :, np.newaxis]
        assert (gradient[~is_arc] == 0).all()
        for place in map(tuple, np.argwhere(is_arc)):
            before, values = block[place], []
            for step in (2**-7, -(2**-7)):
                block[place] = before + np.float32(step)
                values.append(loss(OPS, batch, arcs, heads, soft)[0])
            block[place] = before
            assert (values[0] - values[1]) / 2**-6 == pytest.approx(gradient[place], abs=2e-3)


def test_sentences_of_teachers_need_no_gold_trees(rng, monkeypatch):
    """Their gold heads are not looked at: with the same heads for all, it costs no decoding."""
    batch = batch_sentences(OPS, LENGTHS)
    arcs, heads = random_arcs(batch, rng), gold(rng, 0)
    soft = [mixture(rng, n)[0] if k % 2 else None for k, n in enumerate(LENGTHS)]
    constrained = []
    monkeypatch.setattr(
        "spacy_mindroot.arc_scorer.tree_loss.keep_heads",
        lambda matrix, own: constrained.append(len(matrix)) or keep_heads(matrix, own),
    )
    found, _ = tree_loss(OPS, batch, arcs, heads, soft)
    assert sorted(constrained) == sorted(LENGTHS[::2])
    parts = [tree_loss(OPS, batch, arcs, np.full(len(heads), MISSING), soft)[0]]
    starts = np.cumsum(LENGTHS) - LENGTHS
    without = heads.copy()
    for k in range(1, len(LENGTHS), 2):
        without[starts[k] : starts[k] + LENGTHS[k]] = MISSING
    parts.append(tree_loss(OPS, batch, arcs, without)[0])
    assert found == pytest.approx(sum(parts), rel=1e-9)
