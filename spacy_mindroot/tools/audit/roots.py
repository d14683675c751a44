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
    """How probable several roots are in the sentences of a corpus, by the scores alone and once they are calibrated."""

    mean: float
    likely: float  # the share of sentences in which several roots are more probable than one
    calibrated_mean: float | None = None  # None without a calibration
    calibrated_likely: float | None = None
    temperature: float | None = None
    lapse: float | None = None


class RootTally:
    """Sums up the probabilities of several roots."""

    def __init__(self, calibration: Calibration | None = None) -> None:
        self.calibration = calibration
        self._plain, self._calibrated = array("d"), array("d")

    def add(self, scores: FloatArray) -> None:
        """Count a sentence, unless its scores are too large."""
        pairs = ((self._plain, None), (self._calibrated, self.calibration))
        for values, fit in pairs[: 1 + (self.calibration is not None)]:
            found = several_roots(scores, fit)
            if found is not None:
                values.append(found)

    def summarize(self) -> SeveralRoots | None:
        """Return the means and shares so far; None without a sentence."""
        if not self._plain:
            return None
        fit = self.calibration
        if fit is None or not self._calibrated:
            return SeveralRoots(*_summary(self._plain))
        return SeveralRoots(*_summary(self._plain), *_summary(self._calibrated), fit.arc_temperature, fit.arc_lapse)


def _summary(values: array[float]) -> tuple[float, float]:
    p = np.asarray(values)
    return float(p.mean()), float((p > 0.5).mean())
