"""Sets of heads that contain the right one with a chosen probability (split conformal prediction)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CalibrationError
from ..scores import is_number, shown, to_list, to_root_column
from ..trees import MISSING, to_heads

__all__ = [
    "COVERAGES",
    "SLACK",
    "UNITS",
    "check_coverage",
    "conformities",
    "head_set_threshold",
    "head_sets",
    "thresholds_of",
]

COVERAGES = range(50, 100)  # in percent: those for which a calibration keeps thresholds
UNITS = ("token", "sentence")  # what a coverage is a share of
SLACK = 0.02  # how far below the coverage of tokens a threshold may come by chance
_ERRORS = 2  # standard errors below the coverage that is seen

Floats = npt.NDArray[np.float64]


def head_sets(
    probabilities: npt.ArrayLike, threshold: float, *, heads: npt.ArrayLike | None = None
) -> list[npt.NDArray[np.int64]]:
    """Return the set of plausible heads of each token of a sentence.

    Parameters
    ----------
    probabilities : array-like, (n, n+1)
        The probability of each arc, as `marginals` returns it.
    threshold : float
        The least probability of a head in a set: from `head_set_threshold`, or `Calibration.threshold`, for a chosen
        coverage.
    heads : array-like of ints, (n,)
        A tree whose heads are in the sets in any case, such as the best tree. By default, the most probable head of
        each token.

    Returns
    -------
    list of ndarrays of int64
        The heads in the set of each token, the most probable first; 0 = ROOT, j = token j-1. No set is empty.

    Raises
    ------
    CalibrationError
        If the threshold is not a number.
    HeadsError, ScoresShapeError, ScoresTypeError
        If heads or probabilities are not as they should be.

    Notes
    -----
    Split conformal prediction [1]_ with the probability of a head as its conformity. Of all ways to choose sets, such a
    threshold gives the smallest sets on average for a coverage, provided that the probabilities are right [2]_.

    If the sentences to parse are exchangeable with those that the threshold comes from, which the scorer was not
    trained on, the sets contain the right head of a share of tokens that approaches the coverage as these sentences
    grow in number: see `head_set_threshold`. That is on average over tokens, not for each kind of token. For other
    kinds of text, nothing is guaranteed.

    References
    ----------
    .. [1] Vovk, Gammerman and Shafer (2005), "Algorithmic learning in a random world".
       https://doi.org/10.1007/b106715
    .. [2] Sadinle, Lei and Wasserman (2019), "Least ambiguous set-valued classifiers with bounded error levels".
       https://doi.org/10.1080/01621459.2017.1395341

    Examples
    --------
    >>> from spacy_mindroot.inference import head_sets
    >>> head_sets([[0.3, 0, 0.7], [0.95, 0.05, 0]], 0.2)
    [array([2, 0]), array([0])]
    """
    if not is_number(threshold):
        raise CalibrationError(f"threshold is {shown(threshold)}; it is a probability.")
    p, own = _with_heads(probabilities, heads)
    tokens = np.arange(len(p))
    chosen = p >= threshold
    chosen[tokens, tokens + 1] = False
    chosen[tokens, own] = True
    order = np.argsort(-np.where(chosen, p, -1), axis=1, kind="stable")
    return [heads_of[:size] for heads_of, size in zip(order, np.count_nonzero(chosen, axis=1).tolist(), strict=True)]


def head_set_threshold(
    probabilities: Sequence[npt.ArrayLike],
    gold_heads: Sequence[npt.ArrayLike],
    coverage: float,
    *,
    heads: Sequence[npt.ArrayLike] | None = None,
) -> float:
    """Return the threshold with which `head_sets` contain the right heads with a chosen probability.

    Parameters
    ----------
    probabilities : sequence of array-likes, (n, n+1) each
        The probability of each arc, for sentences that the scorer was not trained on.
    gold_heads : sequence of array-likes of ints, (n,) each
        The right heads, 0 = ROOT; -1 if unknown.
    coverage : float
        The probability, above 0 and below 1.
    heads : sequence of array-likes of ints, (n,) each
        As for `head_sets`.

    Returns
    -------
    float
        The k-th largest conformity, where k = ceil((N + 1) coverage) and N is the number of known heads. The
        conformity of a token is the probability of its right head, or 1 if that is in the set in any case. 0 if k > N:
        the sets then contain all heads.

        Less if the heads are in few sentences: the share of heads in their sets must be above `coverage - 0.02` by two
        standard errors, of sentences drawn at random. With a hundred sentences or more, that seldom changes anything.

    Raises
    ------
    CalibrationError
        If the coverage is out of range, no head is known, or the arguments are not for the same sentences.
    HeadsError, ScoresShapeError, ScoresTypeError
        If heads or probabilities of a sentence are not as they should be.

    Examples
    --------
    >>> from spacy_mindroot.inference import head_set_threshold
    >>> head_set_threshold([[[0.3, 0, 0.7], [0.95, 0.05, 0]]] * 200, [[2, 0], [0, 1]] * 100, 0.7)
    0.3
    """
    found = conformities(probabilities, gold_heads, heads)
    if not any(map(len, found)):
        raise CalibrationError("no token has a known head, so there is nothing to choose a threshold by.")
    return thresholds_of(found, [check_coverage(coverage)], SLACK)[0]


def check_coverage(coverage: float) -> float:
    """Return a coverage. Raise CalibrationError if it is none."""
    if not is_number(coverage) or not 0 < coverage < 1:
        raise CalibrationError(f"coverage is {shown(coverage)}. It must be above 0 and below 1.")
    return coverage


def conformities(
    probabilities: Sequence[npt.ArrayLike],
    gold_heads: Sequence[npt.ArrayLike],
    heads: Sequence[npt.ArrayLike] | None = None,
) -> list[Floats]:
    """Return the conformity of each token with a known head, one array per sentence. See `head_set_threshold`."""
    arcs, gold = (to_list(own, "probabilities and heads", CalibrationError) for own in (probabilities, gold_heads))
    trees = [None] * len(arcs) if heads is None else to_list(heads, "heads", CalibrationError)
    if not len(arcs) == len(gold) == len(trees):
        raise CalibrationError(
            f"there are probabilities for {len(arcs)} sentences, gold heads for {len(gold)} and trees for {len(trees)}."
        )
    found = []
    for of_arcs, of_gold, tree in zip(arcs, gold, trees, strict=True):
        p, own = _with_heads(of_arcs, tree)
        right = to_heads(of_gold, len(p), may_be_missing=True)
        known = np.flatnonzero(right != MISSING)
        found.append(np.where(right == own, 1.0, p[np.arange(len(p)), np.maximum(right, 0)])[known])
    return found


def thresholds_of(found: Sequence[Floats], coverages: Sequence[float], slack: float | None = None) -> list[float]:
    """Return the threshold for each coverage, given the conformities of sentences: of their tokens, or one of each.

    slack (Optional[float]): How far below the coverage its lower limit may be; None for any distance.
    """
    values = np.concatenate([np.empty(0), *found])
    order = np.argsort(values, kind="stable")
    sizes = np.array([len(own) for own in found])
    sentence = np.repeat(np.arange(len(found)), sizes)[order]
    thresholds = []
    for coverage in coverages:
        missed = len(values) - math.ceil(round((len(values) + 1) * coverage, 9))  # as many may be below the threshold
        if slack is not None:
            enough = 0
            while enough < missed:  # bisection
                middle = (enough + missed + 1) // 2
                if _lower_limit(sentence[:middle], sizes) >= coverage - slack:
                    enough = middle
                else:
                    missed = middle - 1
        thresholds.append(max(0.0, float(values[order[missed]])) if missed >= 0 else 0.0)
    return thresholds


def _lower_limit(missed: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> float:
    """Return the lower limit of the coverage of tokens, given the sentence of each token that is not covered."""
    total, m = sizes.sum(), len(sizes)
    share = len(missed) / total
    spread = np.bincount(missed, minlength=m) - share * sizes
    error = math.sqrt(m / max(1, m - 1) * float(spread @ spread)) / total
    return float(1 - share - _ERRORS * error)


def _with_heads(
    probabilities: npt.ArrayLike, heads: npt.ArrayLike | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.integer[Any]]]:
    p = to_root_column(probabilities).astype(np.float64, copy=False)
    return p, p.argmax(axis=1) if heads is None else to_heads(heads, len(p))
