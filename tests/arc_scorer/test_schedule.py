"""The learning rate schedule: its shape, and that it is never 0."""

from itertools import islice

import pytest
import spacy
from thinc.api import Optimizer

from spacy_mindroot.errors import MindRootError

NAME = "spacy-mindroot.warmup_linear.v1"


def rates(count, **settings):
    make = spacy.registry.schedules.get(NAME)
    return list(islice(make(**{"initial_rate": 2.0, "warmup_steps": 4, "total_steps": 12, **settings}), count))


def test_rises_falls_and_stays():
    expected = [0.5, 0.875, 1.25, 1.625, 2, 1.8, 1.6, 1.4, 1.2, 1, 0.8, 0.6, 0.4, 0.4, 0.4]
    assert rates(15, start_factor=0.25, end_factor=0.2) == pytest.approx(expected)


def test_is_never_0():
    assert rates(1)[0] == pytest.approx(0.2)
    assert min(rates(100)) == pytest.approx(0.02)
    optimizer = Optimizer(spacy.registry.schedules.get(NAME)(0.003, 100, 2500))
    assert optimizer.learn_rate == pytest.approx(0.0003)
    for _ in range(3000):
        optimizer.step_schedules()
    assert optimizer.learn_rate == pytest.approx(0.00003)


@pytest.mark.parametrize(("warmup_steps", "total_steps"), [(0, 0), (0, 5), (5, 5), (5, 0)])
def test_without_rise_or_fall(warmup_steps, total_steps):
    found = rates(20, warmup_steps=warmup_steps, total_steps=total_steps)
    assert all(0 < rate <= 2 for rate in found)
    assert found[warmup_steps] == 2 and found[-1] == pytest.approx(0.02)


@pytest.mark.parametrize("settings", [{"start_factor": 0}, {"start_factor": 1.5}, {"end_factor": -0.1}])
def test_factors_out_of_range(settings):
    name, value = next(iter(settings.items()))
    with pytest.raises(MindRootError, match=f"{NAME}: {name} must be greater than 0 and at most 1, but found {value}"):
        rates(1, **settings)
