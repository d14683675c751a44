"""The compiled maxout layers: they are thinc's and spaCy's layers, in outputs, gradients, and saved weights."""

import numpy as np
import pytest
from spacy.ml.models.tok2vec import MaxoutWindowEncoder
from thinc.api import Maxout, NumpyOps, fix_random_seed, set_dropout_rate

from scorer_helpers import DeviceOps, randomise, to_ops
from spacy_mindroot.arc_scorer.maxout import MaxoutNorm, MaxoutWindows


def pair(plain, own, rng):
    """Give two models the same random weights, and return them."""
    for model in (plain, own):
        model.initialize()
    for node in plain.walk():
        randomise(node, rng)
    return plain, own.from_bytes(plain.to_bytes())


def same_results(plain, own, X, rng, *, atol=2e-5):
    """Assert that outputs and all gradients agree."""
    results = []
    weights = None
    for model in (plain, own):
        Y, backprop = model.begin_update(X)
        if weights is None:
            weights = (
                [rng.normal(size=y.shape).astype("f") for y in Y]
                if isinstance(Y, list)
                else (rng.normal(size=Y.shape).astype("f"))
            )
        predicted = model.predict(X)
        dX = backprop(weights)
        gradients = [node.get_grad(name) for node in model.walk() for name in node.param_names]
        lists = [part if isinstance(part, list) else [part] for part in (predicted, Y, dX)]
        results.append([*sum(lists, []), *gradients])
    assert len(results[0]) == len(results[1]) > 3
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=atol * max(1, np.abs(one).max(initial=0)))


@pytest.mark.parametrize("ops", [NumpyOps(), DeviceOps()], ids=["host", "device"])
@pytest.mark.parametrize("pieces", [1, 2, 3, 5])
@pytest.mark.parametrize("width", [1, 7, 32, 83])
def test_it_is_maxout_and_layer_normalization(width, pieces, ops, rng):
    """Widths that fill whole vectors, parts of one, and both."""
    plain, own = pair(
        Maxout(width, 9, pieces, dropout=0.0, normalize=True), to_ops(MaxoutNorm(width, 9, pieces), ops), rng
    )
    X = rng.normal(size=(13, 9)).astype("f")
    if width == 1:  # a single value has no deviation: the output is the shift
        np.testing.assert_array_equal(plain.predict(X), own.predict(X))
    else:
        same_results(plain, own, X, rng, atol=1e-4)


@pytest.mark.parametrize("ops", [NumpyOps(), DeviceOps()], ids=["host", "device"])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("window", [1, 2])
def test_windows_are_those_of_spacy(window, depth, ops, rng):
    plain, own = pair(MaxoutWindowEncoder(16, window, 3, depth), to_ops(MaxoutWindows(16, window, 3, depth), ops), rng)
    assert [node.name for node in plain.walk()] == [node.name for node in own.walk()]
    same_results(plain, own, [rng.normal(size=(n, 16)).astype("f") for n in (3, 0, 8, 1)], rng, atol=1e-4)


def test_the_first_of_equal_pieces_is_chosen(rng):
    own = MaxoutNorm(4, 3, 3)
    own.initialize()
    maxout = own.layers[0].layers[0]
    maxout.set_param("W", np.repeat(maxout.get_param("W")[:, :1], 3, axis=1))
    _, backprop = own.begin_update(rng.normal(size=(6, 3)).astype("f"))
    backprop(rng.normal(size=(6, 4)).astype("f"))
    assert maxout.get_grad("W")[:, 0].any() and not maxout.get_grad("W")[:, 1:].any()


def test_dropout(rng):
    """The same elements are dropped as in thinc's layer."""
    plain, own = pair(Maxout(16, 5, 2, dropout=0.0, normalize=True), MaxoutNorm(16, 5, 2), rng)
    X = rng.normal(size=(9, 5)).astype("f")
    outputs = []
    for model in (plain, own):
        set_dropout_rate(model, 0.5)
        fix_random_seed(3)
        Y, backprop = model.begin_update(X)
        outputs.append((Y, backprop(np.ones_like(Y))))
    assert 0.3 < (outputs[1][0] == 0).mean() < 0.7
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    assert own.predict(X).all()


def test_a_prediction_may_be_propagated_back(rng):
    """Prediction keeps nothing for that, and computes it again."""
    for own, X in (
        (MaxoutNorm(8, 8, 2), np.ones((2, 8), dtype="f")),
        (MaxoutWindows(8, 1, 2, 1), np.eye(8, dtype="f")),
    ):
        own.initialize()
        gradients = []
        for is_train in (True, False):
            Y, backprop = own(X, is_train)
            gradients.append(backprop(np.arange(Y.size, dtype="f").reshape(Y.shape)))
        np.testing.assert_allclose(*gradients, atol=1e-5)


def test_no_tokens():
    own = MaxoutNorm(8, 4, 2)
    own.initialize()
    Y, backprop = own.begin_update(np.empty((0, 4), dtype="f"))
    assert Y.shape == (0, 8) and backprop(Y).shape == (0, 4)
