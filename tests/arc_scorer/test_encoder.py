"""The encoder of the CPU configs."""

import numpy as np
import pytest
from thinc.api import set_dropout_rate

from spacy_mindroot.arc_scorer.encoder import build_cnn_bilstm
from spacy_mindroot.errors import MindRootError


def test_shapes():
    """With empty texts among others, with empty texts alone, and with several layers."""
    for depth, lstm_depth in ((1, 1), (0, 1), (1, 2)):
        encoder = build_cnn_bilstm(8, depth=depth, lstm_depth=lstm_depth)
        encoder.initialize(X=[np.ones((4, 8), dtype="f")])
        vectors = [np.ones((n, 8), dtype="f") for n in (4, 0, 2)]
        outputs, backprop = encoder.begin_update(vectors)
        assert [v.shape for v in outputs] == [v.shape for v in backprop(outputs)] == [(4, 8), (0, 8), (2, 8)]
        assert [v.shape for v in encoder.predict([np.zeros((0, 8), dtype="f")] * 2)] == [(0, 8)] * 2


@pytest.mark.parametrize("depth", [0, 1])
def test_residual_adds_the_input_of_the_bilstm(depth):
    """With the same weights, the output differs by that input, and the gradient by its part of the gradient."""
    rng = np.random.default_rng(0)
    texts = [rng.normal(size=(n, 8)).astype("f") for n in (4, 0, 2)]
    plain, residual = (build_cnn_bilstm(8, depth=depth, lstm_depth=2, residual=residual) for residual in (False, True))
    plain.initialize(X=texts)
    residual.from_bytes(plain.to_bytes())
    before, backprop_before = plain.layers[0].begin_update(texts) if depth else (texts, lambda d: d)
    expected, backprop = plain.begin_update(texts)
    found, backprop_found = residual.begin_update(texts)
    gradient = [rng.normal(size=text.shape).astype("f") for text in texts]
    d_input = [one + other for one, other in zip(backprop(gradient), backprop_before(gradient), strict=True)]
    for one, other, kept in zip(found, expected, before, strict=True):
        np.testing.assert_allclose(one, other + kept, atol=1e-6)
    for one, other in zip(backprop_found(gradient), d_input, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert [v.shape for v in residual.predict([np.zeros((0, 8), dtype="f")])] == [(0, 8)]


def test_dropout_before_the_bilstm_drops_the_residual_too():
    encoder = build_cnn_bilstm(8, depth=0, residual=True)
    encoder.initialize(X=[np.ones((4, 8), dtype="f")])
    set_dropout_rate(encoder, 0.999999)
    outputs, _ = encoder([np.ones((4, 8), dtype="f")], is_train=True)
    assert np.abs(outputs[0]).max() < 1
    assert np.abs(encoder.predict([np.ones((4, 8), dtype="f")])[0]).max() > 0.5


def test_settings_that_do_not_fit():
    for wrong in ({"width": 7}, {"width": 8, "lstm_depth": 0}):
        with pytest.raises(MindRootError, match="even and lstm_depth at least 1"):
            build_cnn_bilstm(**wrong)
