"""Notices that a scorer gets the vectors of another tok2vec than the one that it was trained with.

A listener gets what the tok2vec of its pipeline makes, whichever that is. The means of the vectors of one tok2vec on
any two texts, even in two languages, are much alike. Those of two tok2vecs have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model

__all__ = ["is_foreign", "running_mean"]

_TOKENS = 50  # the mean of fewer says little
_LEAST = 0.2  # correlation: tried on six languages, it was 0.7 and more, and -0.1 between two encoders
_RATE = 0.1


def running_mean(model: Model[Any, Any], docs: Sequence[Doc], before: Sequence[float] | None) -> list[float] | None:
    """Return the running mean of the vectors that a model has heard in training; None if it does not listen.

    docs (Sequence[Doc]): The Docs of the last update.
    before (Optional[Sequence[float]]): The mean before it.
    """
    mean = _mean(model, docs, is_train=True)
    if mean is None:
        return None
    mean = mean if before is None or len(before) != len(mean) else np.asarray(before) * (1 - _RATE) + mean * _RATE
    return [round(value, 4) for value in mean.tolist()]


def is_foreign(model: Model[Any, Any], docs: Sequence[Doc], trained_on: Sequence[float] | None) -> bool:
    """Whether the vectors that a model hears for Docs are unlike those that it was trained on.

    trained_on (Optional[Sequence[float]]): See `running_mean`; None if it is not known.
    """
    if trained_on is None or sum(map(len, docs)) < _TOKENS:
        return False
    mean = _mean(model, docs, is_train=False)
    if mean is None:
        return False
    return not mean.any() or len(mean) != len(trained_on) or np.corrcoef(mean, trained_on)[0, 1] < _LEAST


def _mean(model: Model[Any, Any], docs: Sequence[Doc], *, is_train: bool) -> Any:
    for layer in model.walk():
        if isinstance(layer, Tok2VecListener):
            vectors, _ = layer(docs, is_train)  # which are there already
            return model.ops.to_numpy(model.ops.xp.concatenate(vectors).mean(axis=0))
    return None
