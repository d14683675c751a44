"""Sets of heads and of trees on score files: their coverage and sizes, and what coverage depends on where data are few.

Calibration, thresholds included, is fitted to some sentences of a file and measured on others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spacy_mindroot import decode_batch
from spacy_mindroot.inference.arc_confidence import confidences_of
from spacy_mindroot.inference.calibration import Calibration, fit_to_trees
from spacy_mindroot.inference.conformal import SLACK, conformities, thresholds_of
from spacy_mindroot.inference.tree_sets import sentence_conformities, tree_set
from spacy_mindroot.score_file import read_score_file

_MOST = 300  # sentences to measure a draw on
_LOW = 0.88  # the least coverage of 90 % sets that is good enough


class Scored:
    """The sentences of a score file with their trees."""

    def __init__(self, path: Path) -> None:
        found = read_score_file(path)
        self.scores = [each.scores for each in found]
        self.gold = [each.gold_heads for each in found]
        self.heads = decode_batch(self.scores)
        self.lengths = np.array([len(own) for own in self.gold])

    def __len__(self) -> int:
        return len(self.scores)

    def of(self, chosen: np.ndarray) -> tuple[list, list, list]:
        """Return the scores, trees and gold heads of some sentences."""
        scores, heads, gold = ([of[k] for k in chosen] for of in (self.scores, self.heads, self.gold))
        return scores, heads, gold

    def uas(self, chosen: np.ndarray) -> float:
        """Return the share of right heads in some sentences."""
        return float(np.concatenate([self.heads[k] == self.gold[k] for k in chosen]).mean())

    def fit(self, chosen: np.ndarray) -> Calibration:
        """Return the calibration that fits some sentences."""
        return fit_to_trees(*self.of(chosen))

    def arcs(self, fit: Calibration, chosen: np.ndarray) -> list[np.ndarray]:
        """Return the calibrated probabilities of the arcs of some sentences."""
        scores, heads, _ = self.of(chosen)
        return confidences_of(scores, heads, **fit.distribution(), marginals=True)[1]

    def conformities(self, fit: Calibration, chosen: np.ndarray) -> list[np.ndarray]:
        """Return the conformities of the tokens of some sentences. See `head_set_threshold`."""
        _, heads, gold = self.of(chosen)
        return conformities(self.arcs(fit, chosen), gold, heads)


def tree_sets_of(
    arcs: Sequence[np.ndarray], heads: Sequence[np.ndarray], gold: Sequence[np.ndarray], threshold: float
) -> tuple[float, float, float, float]:
    """Return the coverage of sets of trees, the decimal logarithm of their median size, the share of sets of one tree,
    and how many of these trees are right (NaN without any). Coverage and shares are of sentences, in percent.
    """
    sets = [tree_set(p, threshold, own) for p, own in zip(arcs, heads, strict=True)]
    inside = [
        all(head in of for of, head in zip(own.heads, right, strict=True))
        for own, right in zip(sets, gold, strict=True)
    ]
    sizes = np.array([float(own.size) for own in sets])
    one = sizes == 1
    right = 100 * np.mean(np.array(inside)[one]) if one.any() else np.nan
    figures = 100 * np.mean(inside), np.log10(np.median(sizes)), 100 * np.mean(one), right
    return tuple(round(float(value), 2) for value in figures)


def halves(scored: Scored, seeds: int, coverage: float) -> np.ndarray:
    """Return the coverage of head sets, and the figures of `tree_sets_of`, on the other half; means."""
    found = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(scored))
        first, second = np.array_split(order, 2)
        for fitted, measured in ((first, second), (second, first)):
            fit = scored.fit(fitted)
            inside = np.concatenate(scored.conformities(fit, measured)) >= fit.threshold(coverage)
            arcs, (_, heads, gold) = scored.arcs(fit, measured), scored.of(measured)
            trees = tree_sets_of(arcs, heads, gold, fit.threshold(coverage, "sentence"))
            found.append((100 * inside.mean(), *trees))
    return np.mean(found, axis=0)  # NaN without a set of one tree in a half


@dataclass(frozen=True)
class Split:
    """The coverage of 90 % sets: of heads with the plain quantile and with that for few sentences, and of trees."""

    plain: float
    heads: float
    trees: float

    @classmethod
    def of(cls, scored: Scored, fitted: np.ndarray, measured: np.ndarray, coverage: float = 0.9) -> Split:
        """Calibrate on some sentences and measure on others."""
        fit = scored.fit(fitted)
        own, others = scored.conformities(fit, fitted), scored.conformities(fit, measured)
        values, gold = np.concatenate(others), scored.of(measured)[2]
        plain, heads = (thresholds_of(own, [coverage], slack)[0] for slack in (None, SLACK))
        trees = np.concatenate(sentence_conformities(others, gold)) >= fit.threshold(coverage, "sentence")
        return cls(float((values >= plain).mean()), float((values >= heads).mean()), float(trees.mean()))


@dataclass(frozen=True)
class Few:
    """Sets calibrated on a few sentences: means and deviations of coverage over draws, and how often it is below 88 %.

    by_chance is the deviation if each token were drawn by itself. All in percent.
    """

    sentences: int
    plain: float
    deviation: float
    by_chance: float
    plain_low: float
    heads: float
    heads_low: float
    trees: float
    trees_deviation: float


def few(parsers: Sequence[Scored], sentences: int, draws: int, coverage: float = 0.9) -> Few | None:
    """Calibrate on so many random sentences, as often as `draws`; None if there are less than twice as many.

    parsers (Sequence[Scored]): The scores of several parsers of the same sentences: the one with the best UAS on those
        that are drawn is taken, as the best step of a training is.
    """
    if len(parsers[0]) < 2 * sentences:
        return None
    rng = np.random.default_rng(0)
    found = []
    for _ in range(draws):
        order = rng.permutation(len(parsers[0]))
        fitted, measured = order[:sentences], order[sentences : sentences + _MOST]
        best = max(parsers, key=lambda own, chosen=fitted: own.uas(chosen))
        found.append(Split.of(best, fitted, measured, coverage))
    plain, heads, trees = (
        100 * np.array([getattr(own, name) for own in found]) for name in ("plain", "heads", "trees")
    )
    tokens = sentences * parsers[0].lengths.mean()
    return Few(
        *(sentences, plain.mean(), plain.std(), 100 * np.sqrt(coverage * (1 - coverage) / tokens)),
        *(100 * np.mean(plain < 100 * _LOW), heads.mean(), 100 * np.mean(heads < 100 * _LOW)),
        *(trees.mean(), trees.std()),
    )


def kinds(scored: Scored) -> Iterator[tuple[str, Split]]:
    """Yield what becomes of coverage if the sentences to measure on are of another kind."""
    by_length, by_place = np.argsort(scored.lengths, kind="stable"), np.arange(len(scored))
    for order, names in ((by_length, ("short", "long")), (by_place, ("first", "last"))):
        first, second = np.array_split(order, 2)
        yield f"{names[0]} to {names[1]}", Split.of(scored, first, second)
        yield f"{names[1]} to {names[0]}", Split.of(scored, second, first)
