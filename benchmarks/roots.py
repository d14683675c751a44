"""Cost and cause of the root constraint: the probability of several roots, and the share of multi-rooted trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spacy_mindroot import decode_batch
from spacy_mindroot.inference import Calibration
from spacy_mindroot.score_file import read_score_file
from spacy_mindroot.tools.audit.roots import calibration_of, several_roots

__all__ = ["Roots", "auc", "measure", "plot"]

_BINS = np.array([0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
_LEAST = 8  # sentences in a bin that is shown


@dataclass(frozen=True)
class Roots:
    """The sentences of a score file.

    multi_rooted (np.ndarray): Whether the best tree without the constraint has several roots. (sentences,)
    plain, calibrated (np.ndarray): The probability of several roots. (sentences,)
    training (int): The number of training sentences; 0 if it is unknown.
    """

    treebank: str
    multi_rooted: np.ndarray
    plain: np.ndarray
    calibrated: np.ndarray
    calibration: Calibration
    training: int = 0


def measure(path: Path, training: int = 0) -> Roots:
    """Return the roots of a score file with gold heads."""
    sentences = read_score_file(path)
    fit = calibration_of(sentences) or Calibration()
    trees = decode_batch([each.scores for each in sentences], single_root=False)
    plain, calibrated = (np.array([several_roots(each.scores, own) for each in sentences]) for own in (None, fit))
    return Roots(path.stem, np.array([(own == 0).sum() > 1 for own in trees]), plain, calibrated, fit, training)


def auc(p: np.ndarray, right: np.ndarray) -> float:
    """Return how often a sentence that is right has a higher value than one that is not; NaN without either."""
    wins = np.sign(p[right][:, None] - p[~right][None, :])
    return float((wins.mean() + 1) / 2) if wins.size else float("nan")


def plot(found: Sequence[Roots], path: Path) -> None:
    """Left: multi-rooted trees by the probability of several roots. Right: both by treebank."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.8))
    colours = pyplot.get_cmap("tab10").colors
    for own, colour in zip(found, colours * (1 + len(found) // 10), strict=False):
        numbers = np.minimum(np.digitize(own.plain, _BINS[1:-1]), len(_BINS) - 2)
        shown = [k for k in range(len(_BINS) - 1) if (numbers == k).sum() >= _LEAST]
        means = [[100 * values[numbers == k].mean() for k in shown] for values in (own.plain, own.multi_rooted)]
        left.plot(*means, marker="o", markersize=4, linewidth=1.3, color=colour, label=own.treebank)
        x = [100 * own.plain.mean(), 100 * own.calibrated.mean()]
        y = [100 * own.multi_rooted.mean()] * 2
        right.plot(x, y, linestyle=":", linewidth=1, color=colour)
        right.scatter(x[:1], y[:1], color=colour, zorder=3)
        right.scatter(x[1:], y[1:], facecolors="white", edgecolors=[colour], zorder=3)
        right.scatter([100 * (own.plain > 0.5).mean()], y[:1], marker="x", color=colour, zorder=3)
    left.plot([0, 100], [0, 100], color="#999999", linewidth=1, linestyle="--")
    left.set(
        xlabel="probability of several roots, %", ylabel="multi-rooted trees, %", title="sentences, by probability"
    )
    left.legend(fontsize=8, frameon=False)
    most = 1.15 * max(100 * own.calibrated.mean() for own in found)
    right.plot([0, most], [0, most], color="#999999", linewidth=1, linestyle="--")
    for marker, face, label in (
        *(("x", "black", "sentences with more than one half"), ("o", "black", "mean probability")),
        ("o", "white", "mean, calibrated"),
    ):
        colour = {"color": "black"} if marker == "x" else {"facecolors": face, "edgecolors": "black"}
        right.scatter([], [], marker=marker, label=label, **colour)
    right.set(xlabel="predicted, %", ylabel="multi-rooted trees, %", title="treebanks", xlim=(0, most), ylim=(0, most))
    right.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
