"""Calibration of head probabilities: score files with gold heads against the marginals of their trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spacy_mindroot import decode_batch
from spacy_mindroot.inference import marginals_batch
from spacy_mindroot.score_file import read_score_file


@dataclass(frozen=True)
class Calibration:
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
        """Expected calibration error in points: the gap between confidence and accuracy, averaged over tokens."""
        _, mean, accuracy, share = reliability(confidence, self.right)
        return 100 * float(np.sum(np.abs(mean - accuracy) * share))

    def accuracy_of_most_confident(self, share: float) -> float:
        """UAS of the tokens with the highest head_prob, a share of all."""
        order = np.argsort(-self.head_prob, kind="stable")[: round(share * len(self.right))]
        return 100 * float(self.right[order].mean())


def calibrate(path: Path) -> Calibration:
    """Decodes a score file, with its marginals."""
    sentences = read_score_file(path)
    scores = [sentence.scores for sentence in sentences]
    gold = [sentence.gold_heads for sentence in sentences]
    heads = decode_batch(scores)
    return Calibration(
        treebank=path.stem,
        right=np.concatenate([own == theirs for own, theirs in zip(heads, gold, strict=True)]),
        head_prob=np.concatenate([_at(p, own) for p, own in zip(marginals_batch(scores), heads, strict=True)]),
        softmax=np.concatenate([np.exp(_at(matrix, own)) for matrix, own in zip(scores, heads, strict=True)]),
    )


def reliability(confidence: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tenths of confidence that are not empty: their numbers, mean confidence, accuracy, and share of all tokens."""
    tenth = np.minimum((confidence * 10).astype(int), 9)
    count = np.bincount(tenth, minlength=10)
    in_use = np.flatnonzero(count)
    mean, accuracy = (
        np.bincount(tenth, values, minlength=10)[in_use] / count[in_use] for values in (confidence, right)
    )
    return in_use, mean, accuracy, count[in_use] / len(right)


def plot(found: Sequence[Calibration], path: Path) -> None:
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
