"""Label scores: gradients, and the two ways to compute them."""

import numpy as np
import pytest

from scorer_helpers import LENGTHS, OPS, WIDTH, N, gradient_errors, randomise, vectors
from spacy_mindroot.arc_scorer.batching import BUCKETS, batch_sentences, distance_buckets
from spacy_mindroot.arc_scorer.label_biaffine import LabelBiaffine
from spacy_mindroot.errors import MindRootError


def random_heads(rng):
    """Head rows (-1 = ROOT) and distance buckets of the arcs of a batch."""
    return np.where(rng.random(N) < 0.2, -1, rng.integers(0, N, N)), rng.integers(0, BUCKETS, N)


def test_gradients(rng):
    dependents, heads = vectors(rng), vectors(rng)
    rows, distances = random_heads(rng)
    inputs = (dependents, heads, batch_sentences(OPS, LENGTHS), rows, distances)
    model = LabelBiaffine(WIDTH, nO=4)
    model.initialize(X=inputs)
    randomise(model, rng)
    weights = rng.normal(size=(N, 4)).astype("f")
    _, backprop = model.begin_update(inputs)
    d_dependents, d_heads = backprop(weights)
    arrays = [dependents, heads, *(model.get_param(name) for name in model.param_names)]
    gradients = [d_dependents, d_heads, *(model.get_grad(name) for name in model.param_names)]
    errors = gradient_errors(lambda: float((model.predict(inputs) * weights).sum()), arrays, gradients, rng, step=0.5)
    assert max(errors) < 1e-3


@pytest.mark.parametrize("part", [1, 1 << 21])
def test_labels_of_given_arcs_are_those_of_all_arcs(rng, part, monkeypatch):
    """The two ways to score labels agree, whether in one part or in many."""
    monkeypatch.setattr("spacy_mindroot.arc_scorer.label_biaffine._LARGEST_PART", part)
    batch = batch_sentences(OPS, LENGTHS)
    dependents, heads = vectors(rng), vectors(rng)
    model = LabelBiaffine(WIDTH, nO=4)
    model.initialize(X=(dependents, heads, batch, None, None))
    randomise(model, rng)
    start, starts = 0, []
    for n in LENGTHS:
        starts.append(start)
        start += n
    on_demand = model.predict((dependents, heads, batch, None, None))
    for group in batch.groups:
        block = np.concatenate(list(on_demand.of_all_arcs(group)), axis=1)
        for row, k in enumerate(group.sentences.tolist()):
            n, first = LENGTHS[k], starts[k]
            buckets = distance_buckets(n)
            for head in range(n + 1):
                rows, distances = np.full(N, -1), np.zeros(N, dtype=int)
                if head:
                    rows[first : first + n] = first + head - 1
                    distances[first : first + n] = buckets[:, head - 1]
                given = model.predict((dependents, heads, batch, rows, distances))[first : first + n]
                np.testing.assert_allclose(block[row, :n, head], given, rtol=1e-4, atol=1e-4)
                some = on_demand.of_arcs(k, np.arange(n), np.full(n, head))
                if head:
                    np.testing.assert_allclose(some[:, 1:], given, rtol=1e-4, atol=1e-4)
                assert ((some == -np.inf) == ((np.arange(5) == 0) != (head == 0))).all()


@pytest.mark.parametrize("tokens", [1, 4, 1 << 20])
def test_trees_may_be_asked_for_in_any_order(rng, tokens, monkeypatch):
    monkeypatch.setattr("spacy_mindroot.arc_scorer.label_biaffine._TOKENS_AT_A_TIME", tokens)
    batch = batch_sentences(OPS, LENGTHS)
    model = LabelBiaffine(WIDTH, nO=4)
    model.initialize(X=(vectors(rng), vectors(rng), batch, None, None))
    randomise(model, rng)
    inputs = (vectors(rng), vectors(rng), batch, None, None)
    arcs = [(np.arange(n), np.arange(n)) for n in LENGTHS]
    in_order = [model.predict(inputs).of_arcs(k, *own) for k, own in enumerate(arcs)]
    scores = model.predict(inputs)
    for k in rng.permutation(len(LENGTHS)).tolist():
        np.testing.assert_allclose(scores.of_arcs(k, *arcs[k]), in_order[k], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("width", "labels"), [(WIDTH, 4), (64, 40), (17, 1)])
def test_the_labels_of_some_arcs(width, labels, rng):
    """The compiled loop and array operations, at every distance."""
    batch = batch_sentences(OPS, LENGTHS)
    model = LabelBiaffine(width, nO=labels)
    model.initialize(X=(vectors(rng, N, width), vectors(rng, N, width), batch, None, None))
    randomise(model, rng)
    scores = model.predict((vectors(rng, N, width), vectors(rng, N, width), batch, None, None))
    for group in batch.groups:
        of_all = np.concatenate(list(scores.of_all_arcs(group)), axis=1)
        for row, k in enumerate(group.sentences.tolist()):
            dependents, heads = np.nonzero(rng.random((LENGTHS[k], LENGTHS[k] + 1)) < 0.5)
            some = scores.of_arcs(k, dependents, heads)
            attached = heads > 0
            np.testing.assert_allclose(
                some[attached, 1:], of_all[row, dependents, heads][attached], rtol=1e-4, atol=1e-4
            )
            assert (some[~attached, 0] == 0).all()
            assert ((some == -np.inf).sum(axis=1) == np.where(attached, 1, labels)).all()


def test_labels_of_a_long_sentence_come_in_small_parts(rng):
    """Those of all arcs of 1,000 tokens together take 160 MB with 40 labels."""
    batch = batch_sentences(OPS, [1000])
    model = LabelBiaffine(WIDTH, nO=40)
    model.initialize()
    scores = model.predict((vectors(rng, 1000), vectors(rng, 1000), batch, None, None))
    parts = list(scores.of_all_arcs(batch.groups[0]))
    assert sum(part.shape[1] for part in parts) == 1000
    assert max(part.nbytes for part in parts) <= 1 << 21


def test_label_scores_of_all_arcs_have_no_gradient(rng):
    batch = batch_sentences(OPS, LENGTHS)
    model = LabelBiaffine(WIDTH, nO=4)
    model.initialize()
    _, backprop = model.begin_update((vectors(rng), vectors(rng), batch, None, None))
    with pytest.raises(MindRootError, match="For training, pass the heads"):
        backprop(None)
