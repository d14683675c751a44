"""Calibration of head probabilities: score files with gold heads against the marginals of their trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spacy_mindroot import decode_batch
from spacy_mindroot.inference import Calibration, fit_calibration, head_sets, marginals
from spacy_mindroot.inference.arc_confidence import confidences_of
from spacy_mindroot.inference.calibration import calibration_error_by_chance, expected_calibration_error
from spacy_mindroot.score_file import read_score_file


@dataclass(frozen=True)
class HeadConfidence:
    """The heads of the best trees of a treebank, and how sure their parser was of them.

    right (np.ndarray): Whether each head is right. (tokens,)
    head_prob (np.ndarray): The marginal of each head. (tokens,)
    softmax (np.ndarray): Its probability among the heads of the token, each token by itself. (tokens,)
    """

    treebank: str
    right: np.ndarray
    head_prob: np.ndarray
    softmax: np.ndarray

    def error(self, confidence: np.ndarray) -> float:
        """Return the expected calibration error, in points."""
        return 100 * expected_calibration_error(confidence, self.right)

    def accuracy_of_most_confident(self, share: float) -> float:
        """UAS of the tokens with the highest head_prob, a share of all."""
        order = np.argsort(-self.head_prob, kind="stable")[: round(share * len(self.right))]
        return 100 * float(self.right[order].mean())


def calibrate(path: Path) -> HeadConfidence:
    """Decodes a score file, with its marginals."""
    sentences = read_score_file(path)
    scores = [sentence.scores for sentence in sentences]
    gold = [sentence.gold_heads for sentence in sentences]
    heads = decode_batch(scores)
    return HeadConfidence(
        treebank=path.stem,
        right=np.concatenate([own == theirs for own, theirs in zip(heads, gold, strict=True)]),
        head_prob=np.concatenate([_at(p, own) for p, own in zip(map(marginals, scores), heads, strict=True)]),
        softmax=np.concatenate([np.exp(_at(matrix, own)) for matrix, own in zip(scores, heads, strict=True)]),
    )


_DRAWS = 40


@dataclass(frozen=True)
class CrossFitted:
    """Figures for one half of the sentences after calibration on the other half; means over halves.

    ece_before, ece_after (float): The expected calibration error of heads, in points.
    ece_of_perfect (float): That of probabilities which are right by construction: whether each head is right is drawn
        anew, with its probability after calibration. So many tokens allow no smaller error.
    coverage, size (float): The share of right heads in 90 % head sets, in percent, and the mean size of these.
    spearman (float): Rank correlation of the expected and the true UAS of sentences.
    """

    treebank: str
    ece_before: float
    ece_after: float
    ece_of_perfect: float
    coverage: float
    size: float
    spearman: float


def cross_fit(path: Path, seeds: int) -> CrossFitted:
    """Calibrates on one random half of a score file and measures on the other, and the other way round."""
    sentences = read_score_file(path)
    scores = [sentence.scores for sentence in sentences]
    gold = [sentence.gold_heads for sentence in sentences]
    heads = decode_batch(scores)
    found = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(scores))
        middle = len(order) // 2
        for fitted_to, measured_on in ((order[:middle], order[middle:]), (order[middle:], order[:middle])):
            calibration = fit_calibration([scores[k] for k in fitted_to], [gold[k] for k in fitted_to])
            own, theirs = [heads[k] for k in measured_on], [gold[k] for k in measured_on]
            right = [a == b for a, b in zip(own, theirs, strict=True)]
            before, after = (
                confidences_of([scores[k] for k in measured_on], own, **fit.distribution(), marginals=True)
                for fit in (Calibration(), calibration)
            )
            threshold = calibration.threshold(0.9)
            sets = [head_sets(p, threshold, heads=h) for p, h in zip(after[1], own, strict=True)]
            inside = [h in of for s, t in zip(sets, theirs, strict=True) for of, h in zip(s, t, strict=True)]
            errors = [
                expected_calibration_error(np.concatenate([one.head_prob for one in of]), np.concatenate(right))
                for of in (before[0], after[0])
            ]
            p = np.concatenate([one.head_prob for one in after[0]])
            errors.append(calibration_error_by_chance(p, draws=_DRAWS, seed=seed))
            expected = np.array([one.head_prob.mean() for one in after[0]])
            found.append(
                (
                    *(100 * error for error in errors),
                    100 * np.mean(inside),
                    np.mean([len(of) for s in sets for of in s]),
                    spearman(expected, np.array([one.mean() for one in right])),
                )
            )
    return CrossFitted(path.stem, *np.mean(found, axis=0).tolist())


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Return Spearman's rank correlation. Ties get their mean rank. NaN if all values of one are the same."""
    with np.errstate(invalid="ignore"):
        return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def reliability(confidence: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tenths of confidence that are not empty: their numbers, mean confidence, accuracy, and share of all tokens."""
    tenth = np.minimum((confidence * 10).astype(int), 9)
    count = np.bincount(tenth, minlength=10)
    in_use = np.flatnonzero(count)
    mean, accuracy = (
        np.bincount(tenth, values, minlength=10)[in_use] / count[in_use] for values in (confidence, right)
    )
    return in_use, mean, accuracy, count[in_use] / len(right)


def plot(found: Sequence[HeadConfidence], path: Path) -> None:
    """Reliability of each treebank: accuracy against confidence, and below it how many tokens there are."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, (len(found) + 1) // 2, figsize=(11, 5.8), sharex=True, sharey=True, squeeze=False)
    for axis, calibration in zip(axes.flat, found, strict=False):
        tenths, mean, accuracy, share = reliability(calibration.head_prob, calibration.right)
        axis.bar((tenths + 0.5) / 10, share, width=0.092, color="#cfd8e3", label="share of tokens")
        axis.plot([0, 1], [0, 1], color="#888888", linewidth=1, linestyle="--", label="as sure as right")
        axis.plot(mean, accuracy, color="#1f4e8c", linewidth=1.8, marker="o", markersize=4, label="head_prob")
        axis.set_title(f"{calibration.treebank}\nECE {calibration.error(calibration.head_prob):.1f}", fontsize=10)
        axis.set_xlim(0, 1)
        axis.set_ylim(0, 1)
    for axis in axes[-1]:
        axis.set_xlabel("probability of the head")
    for axis in axes[:, 0]:
        axis.set_ylabel("heads that are right")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _at(matrix: np.ndarray, heads: np.ndarray) -> np.ndarray:
    return matrix[np.arange(len(heads)), heads]
