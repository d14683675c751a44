"""The BiLSTM: against a plain LSTM, and its gradients."""

import numpy as np
import pytest
from thinc.api import NumpyOps, Ops

from scorer_helpers import gradient_errors, randomise, vectors
from spacy_mindroot.arc_scorer.bilstm import BiLSTM

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


def test_no_texts():
    layer = BiLSTM(8, 8)
    layer.initialize()
    assert layer.predict([]) == []
