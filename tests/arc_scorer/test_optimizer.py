"""The compiled Adam: it is thinc's, step by step, with every setting; and what it leaves to thinc."""

import numpy as np
import pytest
import spacy
from thinc.api import Adam, Config, Model, Optimizer

from spacy_mindroot.arc_scorer.optimizer import CompiledAdam, make_adam

SHAPES = {"W": (37, 9), "table": (300, 41), "b": (1,), "cube": (2, 5, 7)}


def run(optimizer, rng, steps=6, *, lr_scale=1.0):
    """Return weights, gradients and averages after some steps with random gradients, some of them large."""
    weights = {name: rng.normal(size=shape).astype("f") for name, shape in SHAPES.items()}
    for step in range(steps):
        for name, array in weights.items():
            gradient = (rng.normal(size=array.shape) * 10.0 ** (step - 3)).astype("f")
            weights[name], gradient = optimizer((1, name), array, gradient, lr_scale=lr_scale)
            assert not gradient.any()
        optimizer.step_schedules()
    return weights, optimizer.averages


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"L2": 0.01},
        {"L2": 0.01, "L2_is_weight_decay": False},
        {"grad_clip": 0.0},
        {"use_averages": False},
        {"beta1": 0.5, "beta2": 0.9, "eps": 1e-4},
    ],
    ids=lambda settings: " ".join(settings) or "defaults",
)
@pytest.mark.parametrize("lr_scale", [1.0, 0.5])
def test_it_is_adam(settings, lr_scale):
    settings = {"L2": 0.0, **settings}
    theirs, averages = run(Adam(0.02, **settings), np.random.default_rng(1), lr_scale=lr_scale)
    ours, own_averages = run(make_adam(0.02, **settings), np.random.default_rng(1), lr_scale=lr_scale)
    for name in SHAPES:
        np.testing.assert_allclose(theirs[name], ours[name], rtol=1e-5, atol=1e-6)
    if settings.get("use_averages", True):
        assert averages.keys() == own_averages.keys()
        for key in averages:
            np.testing.assert_allclose(averages[key], own_averages[key], rtol=1e-5, atol=1e-6)
    else:
        assert averages is own_averages is None


def test_a_schedule():
    theirs, _ = run(Adam(iter([0.1, 0.02, 0.3])), np.random.default_rng(1))
    ours, _ = run(make_adam(iter([0.1, 0.02, 0.3])), np.random.default_rng(1))
    for name in SHAPES:
        np.testing.assert_allclose(theirs[name], ours[name], rtol=1e-5, atol=1e-6)


def test_what_is_left_to_thinc(monkeypatch, rng):
    """Arrays that the compiled loop does not take, and other updates."""
    calls = []
    original = Optimizer.__call__
    monkeypatch.setattr(Optimizer, "__call__", lambda self, *args, **kw: calls.append(1) or original(self, *args, **kw))
    plain = rng.normal(size=(4, 6)).astype("f")
    make_adam(0.1)((1, "W"), plain.copy(), plain.copy())
    assert not calls
    make_adam(0.1)((1, "W"), np.asfortranarray(plain), plain.copy())
    make_adam(0.1, beta1=0.0, beta2=0.0)((1, "W"), plain.copy(), plain.copy())
    CompiledAdam(0.1, use_radam=True)((1, "W"), plain.copy(), plain.copy())
    assert len(calls) == 3


def test_no_weights():
    empty, optimizer = np.empty((0, 3), dtype="f"), make_adam(0.1)
    weights, gradient = optimizer((1, "W"), empty, empty)
    assert weights.shape == gradient.shape == (0, 3) and not optimizer.nr_update


def test_from_a_config():
    config = Config().from_str('[optimizer]\n@optimizers = "spacy-mindroot.Adam.v1"\nlearn_rate = 0.5\nL2 = 0.01\n')
    optimizer = spacy.registry.resolve(config)["optimizer"]
    assert isinstance(optimizer, CompiledAdam) and optimizer.learn_rate == 0.5 and optimizer.L2 == 0.01
    model = Model("layer", lambda model, X, is_train: (X, lambda dY: dY), params={"W": np.ones((2, 2), dtype="f")})
    model.inc_grad("W", np.ones((2, 2), dtype="f"))
    model.finish_update(optimizer)
    assert (model.get_param("W") < 1).all() and not model.get_grad("W").any()
