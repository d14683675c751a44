"""The layers: gradients against finite differences, and what a group of sentences of different lengths must not change."""

import numpy as np
import pytest
from thinc.api import NumpyOps, Ops, fix_random_seed

from spacy_mindroot.arc_scorer.arc_biaffine import ArcBiaffine
from spacy_mindroot.arc_scorer.arc_distance import ArcDistance
from spacy_mindroot.arc_scorer.batching import BUCKETS, batch_sentences, distance_buckets
from spacy_mindroot.arc_scorer.bilstm import BiLSTM
from spacy_mindroot.arc_scorer.label_biaffine import LabelBiaffine
from spacy_mindroot.arc_scorer.loss import class_loss, head_loss, log_softmax
from spacy_mindroot.arc_scorer.tag_features import TagFeatures
from spacy_mindroot.trees import MISSING

OPS = NumpyOps()
LENGTHS = [3, 1, 6, 4, 4, 30]
N, WIDTH = sum(LENGTHS), 5


def vectors(rng, rows=N, width=WIDTH):
    return rng.normal(size=(rows, width)).astype("f")


def randomise(model, rng):
    """Gives a layer parameters that are not zero."""
    for name in model.param_names:
        model.set_param(name, rng.normal(size=model.get_param(name).shape).astype("f"))
    return model


def gradient_errors(loss, arrays, gradients, rng, *, step, checks=12):
    """The differences between gradients and central finite differences, at random places of each array."""
    for array, gradient in zip(arrays, gradients, strict=True):
        assert array.shape == gradient.shape
        for _ in range(checks):
            place = tuple(rng.integers(size) for size in array.shape)
            before = array[place]
            array[place] = before + step
            above = loss()
            array[place] = before - step
            below = loss()
            array[place] = before
            yield abs((above - below) / (2 * step) - gradient[place]) / max(1, abs(gradient[place]))


@pytest.mark.parametrize("make", [ArcBiaffine, ArcDistance])
def test_gradients_of_arc_layers(make, rng):
    """The scores are linear in each single number, so that differences are exact but for rounding."""
    batch = batch_sentences(OPS, LENGTHS)
    dependents, heads = vectors(rng), vectors(rng)
    model = make(WIDTH)
    model.initialize(X=(dependents, heads, batch))
    randomise(model, rng)
    weights = [
        rng.normal(size=group.allowed.shape).astype("f") * group.allowed * group.real[:, :, None]
        for group in batch.groups
    ]

    def loss():
        return sum(
            float((s * w).sum()) for s, w in zip(model.predict((dependents, heads, batch)), weights, strict=True)
        )

    _, backprop = model.begin_update((dependents, heads, batch))
    d_dependents, d_heads = backprop(weights)
    arrays = [dependents, heads, *(model.get_param(name) for name in model.param_names)]
    gradients = [d_dependents, d_heads, *(model.get_grad(name) for name in model.param_names)]
    assert max(gradient_errors(loss, arrays, gradients, rng, step=0.5)) < 1e-3


TEXTS = (3, 1, 5, 0, 3)


def lstm_direction(X, W, R, b):
    """One direction of an LSTM as in the books, a step after the other, in double precision."""
    H = len(R)
    hidden, cell, outputs = np.zeros(H), np.zeros(H), []
    for x in X:
        gates = x @ W + b + hidden @ R
        i, f, o = (1 / (1 + np.exp(-gates[k * H : (k + 1) * H])) for k in range(3))
        cell = f * cell + i * np.tanh(gates[3 * H :])
        hidden = o * np.tanh(cell)
        outputs.append(hidden)
    return np.array(outputs).reshape(-1, H)


@pytest.mark.parametrize("ops", [NumpyOps(), Ops()], ids=["NumpyOps", "Ops"])
def test_the_bilstm_is_two_lstms(ops, rng):
    """Also with the operations that thinc has for other devices, without its own LSTM."""
    model = BiLSTM(6, 4)
    model.ops = ops
    model.initialize()
    randomise(model, rng)
    texts = [vectors(rng, n, 4) for n in TEXTS]
    W, R, b = (model.get_param(name).astype("d") for name in ("W", "R", "b"))
    for text, output in zip(texts, model.predict(texts), strict=True):
        from_left = lstm_direction(text, W[0], R[0], b[0])
        from_right = lstm_direction(text[::-1], W[1], R[1], b[1])[::-1]
        np.testing.assert_allclose(output, np.concatenate([from_left, from_right], axis=1), atol=1e-5)


def test_gradients_of_the_bilstm(rng):
    model = BiLSTM(6, 4)
    model.initialize()
    randomise(model, rng)
    texts = [vectors(rng, n, 4) for n in TEXTS]
    weights = [vectors(rng, n, 6) for n in TEXTS]

    def loss():
        return sum(float((y.astype("d") * w).sum()) for y, w in zip(model.predict(texts), weights, strict=True))

    _, backprop = model.begin_update(texts)
    gradients = backprop(weights)
    arrays = [*(text for text in texts if len(text)), *(model.get_param(name) for name in model.param_names)]
    gradients = [*(d for d in gradients if len(d)), *(model.get_grad(name) for name in model.param_names)]
    assert max(gradient_errors(loss, arrays, gradients, rng, step=1e-2)) < 5e-3


def random_heads(rng):
    """Head rows (-1 = ROOT) and distance buckets of the arcs of a batch."""
    return np.where(rng.random(N) < 0.2, -1, rng.integers(0, N, N)), rng.integers(0, BUCKETS, N)


def test_gradients_of_labels(rng):
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


def test_gradients_of_tags(rng):
    X = vectors(rng)
    model = TagFeatures(3, n_tags=4)
    model.initialize(X=X)
    randomise(model, rng)
    on_vectors, on_scores = rng.normal(size=(N, WIDTH + 3)).astype("f"), rng.normal(size=(N, 4)).astype("f")

    def loss():
        features, scores = model.predict(X)
        return float((features * on_vectors).sum() + (scores * on_scores).sum())

    _, backprop = model.begin_update(X)
    dX = backprop((on_vectors, on_scores))
    arrays = [X, *(model.get_param(name) for name in model.param_names)]
    gradients = [dX, *(model.get_grad(name) for name in model.param_names)]
    assert max(gradient_errors(loss, arrays, gradients, rng, step=1e-2)) < 2e-2


def test_gradient_of_the_losses(rng):
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


@pytest.mark.parametrize("part", [1, 1 << 24])
def test_labels_of_given_arcs_are_those_of_all_arcs(rng, part, monkeypatch):
    """The two ways to score labels agree, in one part or many."""
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
    for group, parts in zip(batch.groups, model.predict((dependents, heads, batch, None, None)), strict=True):
        block = np.concatenate(list(parts), axis=1)
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


@pytest.mark.parametrize("make", [ArcBiaffine, ArcDistance])
def test_a_sentence_scores_the_same_alone_and_in_a_batch(make, rng):
    dependents, heads = vectors(rng), vectors(rng)
    batch = batch_sentences(OPS, LENGTHS)
    model = make(WIDTH)
    model.initialize(X=(dependents, heads, batch))
    randomise(model, rng)
    blocks = model.predict((dependents, heads, batch))
    start = 0
    for k, n in enumerate(LENGTHS):
        rows = slice(start, start + n)
        start += n
        alone = model.predict((dependents[rows], heads[rows], batch_sentences(OPS, [n])))[0][0]
        for group, block in zip(batch.groups, blocks, strict=True):
            for row in np.flatnonzero(group.sentences == k):
                np.testing.assert_allclose(block[row, :n, : n + 1], alone, rtol=1e-4, atol=1e-4)


def test_every_token_is_in_one_group(rng):
    for _ in range(50):
        lengths = rng.integers(1, rng.choice([5, 40, 300]), size=rng.integers(1, 60))
        batch = batch_sentences(OPS, lengths)
        assert sorted(k for group in batch.groups for k in group.sentences.tolist()) == list(range(len(lengths)))
        assert sorted(np.concatenate([g.tokens[g.real] for g in batch.groups])) == list(range(lengths.sum()))
        padded = rng.normal(size=(lengths.sum(), 3)).astype("f")
        back = np.zeros_like(padded)
        for group in batch.groups:
            group.unpad(group.pad(padded), into=back)
        assert np.array_equal(back, padded)


def test_padding_and_blocks_stay_small(rng):
    lengths = rng.integers(1, 60, size=500)
    batch = batch_sentences(OPS, [*lengths, 900])
    cells = sum(group.allowed.size for group in batch.groups)
    assert cells < 1.6 * sum(n * (n + 1) for n in [*lengths, 900])
    assert max(group.allowed.size for group in batch.groups if len(group.sentences) > 1) <= 1 << 18


def test_distances_fall_into_their_buckets():
    buckets = distance_buckets(40)
    assert (np.diag(buckets) == 0).all()
    assert buckets[0, [1, 2, 3, 4, 5, 6, 8, 9, 13, 14, 23, 24, 39]].tolist() == [1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]
    assert buckets[39, [38, 37, 0]].tolist() == [9, 10, 16]
    assert buckets.max() < BUCKETS


def test_initial_scores_do_not_depend_on_the_vectors(rng):
    """Weights start at zero: what is random at the start is noise that training must undo first."""
    fix_random_seed(0)
    batch = batch_sentences(OPS, LENGTHS)
    model = ArcBiaffine(WIDTH)
    model.initialize(X=(vectors(rng), vectors(rng), batch))
    assert all((block == 0).all() for block in model.predict((vectors(rng), vectors(rng), batch)))
