"""The BiLSTM: against a plain LSTM, and its gradients."""

import numpy as np
import pytest
from thinc.api import NumpyOps, Ops

from scorer_helpers import gradient_errors, randomise, vectors
from spacy_mindroot.arc_scorer.bilstm import BiLSTM, on_device, on_host

TEXTS = (3, 1, 5, 0, 3)


def lstm_direction(X, W, R, b):
    """One direction of an LSTM as in textbooks, step by step, in double precision."""
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
    """Also with thinc's generic operations, which other devices use."""
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


@pytest.mark.parametrize("width", [6, 2 * 19])
def test_gradients_of_the_bilstm(width, rng):
    model = BiLSTM(width, 4)
    model.initialize()
    randomise(model, rng)
    texts = [vectors(rng, n, 4) for n in TEXTS]
    weights = [vectors(rng, n, width) for n in TEXTS]

    def loss():
        return sum(float((y.astype("d") * w).sum()) for y, w in zip(model.predict(texts), weights, strict=True))

    _, backprop = model.begin_update(texts)
    gradients = backprop(weights)
    arrays = [*(text for text in texts if len(text)), *(model.get_param(name) for name in model.param_names)]
    gradients = [*(d for d in gradients if len(d)), *(model.get_grad(name) for name in model.param_names)]
    assert max(gradient_errors(loss, arrays, gradients, rng, step=1e-2)) < 5e-3


@pytest.mark.parametrize("width", [2, 14, 32, 2 * 80])
@pytest.mark.parametrize("lengths", [[1], [0, 4], [7, 2, 2, 9, 0, 1, 5, 3, 3, 8, 6], [40] * 13])
def test_the_compiled_loop_computes_what_the_array_operations_compute(width, lengths, rng):
    """Widths that fill whole vectors, parts of one, and both; texts that fill whole blocks of rows, and not."""
    model = BiLSTM(width, 5)
    model.initialize()
    randomise(model, rng)
    model.set_param("R", model.get_param("R") / width)  # larger ones make long texts chaotic
    texts = [vectors(rng, n, 5) for n in lengths]
    weights = [vectors(rng, n, width) for n in lengths]
    results = []
    for compute in (on_host, on_device):
        output, backprop = compute(model, texts)
        d_texts = backprop(weights)
        results.append([*output, *d_texts, *(model.get_grad(name).copy() for name in model.param_names)])
        for name in model.param_names:
            model.set_grad(name, model.get_grad(name) * 0)
    for compiled, plain in zip(*results, strict=True):
        assert compiled.shape == plain.shape
        np.testing.assert_allclose(compiled, plain, atol=2e-5 * max(1, abs(plain).max(initial=0)))


def test_extreme_gates_are_finite():
    model = BiLSTM(16, 4)
    model.initialize()
    for scale in (1e2, 1e4, 1e30):
        (output,), backprop = on_host(model, [np.full((6, 4), scale, dtype="f")])
        assert np.isfinite(output).all() and abs(output).max() <= 1
        assert all(np.isfinite(d).all() for d in backprop([np.ones((6, 16), dtype="f")]))


def test_no_texts():
    layer = BiLSTM(8, 8)
    layer.initialize()
    assert layer.predict([]) == []
