"""The probability that a sentence has several roots, which the root constraint takes away."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ...errors import CalibrationError, ScoreRangeError
from ...inference.calibration import Calibration, fit_calibration
from ...inference.matrix_tree import log_partition
from ...scored import ScoredSentence
from ...scores import FloatArray

__all__ = ["RootTally", "SeveralRoots", "calibration_of", "several_roots"]

_MOST = 2000  # sentences to calibrate on


def several_roots(scores: FloatArray, calibration: Calibration | None = None) -> float | None:
    """Return the probability of more than one root, 1 - Z / Z', by the sums over single-rooted and over all trees.

    None if the scores are too large for probabilities.
    """
    fit = calibration or Calibration()
    try:
        with np.errstate(over="ignore"):
            found = _share(scores / scores.dtype.type(fit.arc_temperature))
        if fit.arc_lapse:
            alike = np.where(scores == -np.inf, -np.inf, 0.0)
            found += fit.arc_lapse * (_share(alike) - found)
    except ScoreRangeError:
        return None
    return found


def _share(scores: FloatArray) -> float:
    return max(0.0, -math.expm1(log_partition(scores) - log_partition(scores, single_root=False)))


def calibration_of(sentences: Sequence[ScoredSentence]) -> Calibration | None:
    """Return the calibration that fits the first sentences with gold heads, at most 2,000; None if there are none."""
    known = ((each.scores, each.gold_heads) for each in sentences if each.gold_heads is not None and len(each.words))
    chosen = list(islice(known, _MOST))
    try:
        return fit_calibration([scores for scores, _ in chosen], [heads for _, heads in chosen])
    except (CalibrationError, ScoreRangeError):
        return None


@dataclass(frozen=True)
class SeveralRoots:
    """The probability of several roots in the sentences of a corpus, under a calibration."""

    mean: float
    likely: float  # the share of sentences in which several roots are more probable than one
    temperature: float
    lapse: float


class RootTally:
    """Sums up the probabilities of several roots, by the scores alone and, with a calibration, once more under it."""

    def __init__(self, calibration: Calibration | None = None) -> None:
        fits = [Calibration()] + ([] if calibration is None else [calibration])
        self._found = [(fit, array("d")) for fit in fits]

    def add(self, scores: FloatArray) -> None:
        """Count a sentence, unless its scores are too large."""
        for fit, values in self._found:
            probability = several_roots(scores, fit)
            if probability is not None:
                values.append(probability)

    def summarize(self) -> list[SeveralRoots]:
        """Return mean and share so far: by the scores, and calibrated. Empty without a sentence."""
        return [
            SeveralRoots(
                *(float(np.mean(values)), float(np.mean(np.asarray(values) > 0.5))), fit.arc_temperature, fit.arc_lapse
            )
            for fit, values in self._found
            if values
        ]
