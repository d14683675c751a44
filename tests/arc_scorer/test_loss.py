"""The losses: gradients, and what is not known."""

import numpy as np
import pytest

from scorer_helpers import LENGTHS, OPS, N, gradient_errors
from spacy_mindroot.arc_scorer.batching import batch_sentences
from spacy_mindroot.arc_scorer.loss import class_loss, head_loss, log_softmax
from spacy_mindroot.trees import MISSING


def test_gradients(rng):
    batch = batch_sentences(OPS, LENGTHS)
    arcs = [np.where(g.allowed, rng.normal(size=g.allowed.shape), -np.inf).astype("f") for g in batch.groups]
    heads = np.concatenate([rng.integers(0, n + 1, n) for n in LENGTHS])
    heads = np.where(heads == np.concatenate([np.arange(1, n + 1) for n in LENGTHS]), 0, heads)
    heads[::5] = MISSING
    _, gradients = head_loss(OPS, batch, arcs, heads)

    for block, gradient, group in zip(arcs, gradients, batch.groups, strict=True):
        finite = np.argwhere(np.isfinite(block) & group.real[:, :, None])
        for place in map(tuple, finite[rng.integers(len(finite), size=15)]):
            before = block[place]
            values = []
            for step in (0.01, -0.01):
                block[place] = before + step
                values.append(head_loss(OPS, batch, arcs, heads)[0])
            block[place] = before
            assert (values[0] - values[1]) / 0.02 == pytest.approx(gradient[place], abs=1e-2)
        assert (gradient[~group.allowed] == 0).all()

    scores, classes = rng.normal(size=(N, 4)).astype("f"), rng.integers(-1, 4, N)
    loss, gradient = class_loss(OPS, scores, classes)
    assert loss == pytest.approx(-log_softmax(np, scores)[np.arange(N), classes][classes >= 0].sum(), rel=1e-5)
    assert (gradient[classes == MISSING] == 0).all()
    errors = gradient_errors(
        lambda: class_loss(OPS, scores, classes)[0], [scores], [gradient], rng, step=1e-2, checks=30
    )
    assert max(errors) < 2e-2


def test_unknown_heads_cost_nothing():
    batch = batch_sentences(OPS, [4])
    arcs = [np.where(batch.groups[0].allowed, 0, -np.inf).astype("f")]
    loss, (gradient,) = head_loss(OPS, batch, arcs, np.full(4, MISSING))
    assert loss == 0 and not gradient.any()


@pytest.mark.parametrize("size", [1, 2, 7, 26, 300])
def test_log_probabilities_on_the_host(size, rng):
    """The compiled loop, against double precision: moderate and extreme scores, and forbidden arcs."""
    for scale in (1, 30, 1e4):
        scores = (scale * rng.normal(size=(5, 4, size))).astype("f")
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        scores[..., 0] = 3
        found = log_softmax(np, scores)
        expected = log_softmax(np, scores.astype("d"))
        assert found.dtype == np.float32 and found.shape == scores.shape
        np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
        there = np.isfinite(expected)
        np.testing.assert_allclose(found[there], expected[there], rtol=2e-6, atol=2e-6)
    scores[0, 0, size // 2] = np.nan
    found = log_softmax(np, scores)
    assert np.isnan(found[0, 0]).all() and not np.isnan(found[1:]).any()


def test_log_probabilities_of_a_view(rng):
    """Of an array that is not contiguous, and of none."""
    scores = rng.normal(size=(4, 6, 5)).astype("f")[:, ::2]
    np.testing.assert_allclose(log_softmax(np, scores), log_softmax(np, scores.astype("d")), atol=1e-6)
    assert log_softmax(np, np.empty((0, 3), dtype="f")).shape == (0, 3)
