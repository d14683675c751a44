"""The level of root scores, which training with the root constraint leaves open.

The likelihood of a single-rooted tree (`loss = "tree"`) is the same if a number is added to the scores of all arcs from
ROOT, since each tree has one of them. How many roots there are without the constraint depends on that number alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...scores import FloatArray

__all__ = ["NOTE", "with_one_root_expected"]

NOTE = (
    'The parser was trained with the root constraint (loss = "tree"). That teaches it which word is the root, but not '
    "how many roots a sentence has. So the scores of all arcs from ROOT were raised or lowered by one number in each "
    "sentence, after which one root is expected without the constraint. To see what the constraint changes for a "
    'parser that has learnt how many roots there are, train one with loss = "head" (build --loss head).'
)

_STEPS = 60  # of bisection


def with_one_root_expected(scores: FloatArray) -> FloatArray:
    """Return arc scores (n, n+1) in which one root is expected, if each word chooses its head by itself (softmax).

    A number is added to the scores of all arcs from ROOT. Single-rooted trees keep their order.
    """
    n = len(scores)
    others: np.ndarray[Any, Any] = scores[:, 1:].astype(np.float64)
    np.fill_diagonal(others, -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        margins = scores[:, 0] - np.logaddexp.reduce(others, axis=1)  # the log-odds of ROOT
    if not np.isfinite(margins).any() or np.isposinf(margins).any():  # a word that can only be the root is it
        return scores
    known = margins[np.isfinite(margins)]
    low, high = -known.max() - np.log(n) - 1, -known.min() + np.log(n) + 1
    for _ in range(_STEPS):
        middle = (low + high) / 2
        with np.errstate(over="ignore"):
            expected = (1 / (1 + np.exp(-known - middle))).sum()
        if expected > 1:
            high = middle
        else:
            low = middle
    level: FloatArray = scores.copy()
    level[:, 0] += level.dtype.type(low)
    return level
