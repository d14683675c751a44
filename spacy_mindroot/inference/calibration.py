"""Calibration: fits how probable heads and labels are to how often they turn out to be right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from ..decoding import Heads, decode_matrices, unpad
from ..errors import CalibrationError
from ..faults import decoding_error, in_batch
from ..scores import FloatArray, Ints, Layout, is_number, shown, to_floats, to_int_array, to_list
from ..trees import MISSING, to_heads
from .arc_confidence import confidences_of
from .conformal import COVERAGES, SLACK, UNITS, conformities, thresholds_of
from .matrix_tree import check_mixture
from .tree_sets import sentence_conformities

__all__ = [
    "Calibration",
    "Distribution",
    "calibration_error_by_chance",
    "expected_calibration_error",
    "fit_calibration",
    "fit_to_trees",
    "label_probabilities",
]

Floats = npt.NDArray[np.float64]
Right = npt.NDArray[np.bool_]

_LOG_BOUND = math.log(64)  # temperatures are from 1/64 to 64: parsers memorise 20 sentences
_MASKED = -5000  # relative to the best label: as for arcs, in core/masks.hh
_CERTAIN = 1e-12  # probabilities are cut off this far from 0 and 1 in a likelihood
_GOLDEN = (math.sqrt(5) - 1) / 2


class Distribution(TypedDict):
    """A distribution over the single-rooted trees of a sentence, given its arc scores: see `marginals`."""

    temperature: float
    lapse: float
    projective: bool


@dataclass(frozen=True)
class Calibration:
    """A calibration of the probabilities of heads and labels, as `fit_calibration` returns it.

    Attributes
    ----------
    arc_temperature, arc_lapse : float
        The distribution over trees: see `marginals`.
    label_temperature, label_lapse : float
        The distribution over the labels of an arc: label scores are divided by the temperature. With a probability of
        `label_lapse`, all labels are equally probable.
    head_set_thresholds : dict of str to float
        For each coverage of tokens in percent, from "50" to "99", the least probability of a head in a head set. See
        `head_sets`.
    sentences, tokens : int
        The size of the data that it was fitted to.
    method : str
        Where the data came from: "held-out", or "5-fold cross-validation" and the like.
    tree_set_thresholds : dict of str to float
        For each coverage of sentences in percent, the least probability of an arc in a set of trees, times the number
        of tokens. See `tree_sets.tree_set`.
    """

    arc_temperature: float = 1.0
    arc_lapse: float = 0.0
    label_temperature: float = 1.0
    label_lapse: float = 0.0
    head_set_thresholds: dict[str, float] = field(default_factory=dict)
    sentences: int = 0
    tokens: int = 0
    method: str = "held-out"
    tree_set_thresholds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_mixture(self.arc_temperature, self.arc_lapse)
        check_mixture(self.label_temperature, self.label_lapse)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes, for JSON or msgpack."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """Return the calibration that `to_dict` was called on. Unknown keys, from a later version, are left out."""
        known = {own.name for own in fields(cls)}
        try:
            return cls(**{name: value for name, value in values.items() if name in known})
        except (TypeError, AttributeError) as error:
            raise CalibrationError(f"not the attributes of a calibration: {shown(values)}.") from error

    def distribution(self, *, projective: bool = False) -> Distribution:
        """Return the distribution over trees, or over those without crossing arcs: keywords of `confidence`."""
        return {"temperature": self.arc_temperature, "lapse": self.arc_lapse, "projective": projective}

    def threshold(self, coverage: float, of: str = "token") -> float:
        """Return the threshold of sets of this coverage, which is rounded up to a hundredth.

        of (str): What the coverage is a share of: "token" for `head_sets`, "sentence" for `tree_sets.tree_set`.

        Raise CalibrationError if it is not from 0.5 to 0.99, or the calibration has no such thresholds.
        """
        known = dict(zip(UNITS, (self.head_set_thresholds, self.tree_set_thresholds), strict=True)).get(of, {})
        percent = str(math.ceil(round(100 * coverage, 6))) if is_number(coverage) and 0 <= coverage <= 1 else ""
        if percent not in known:
            raise CalibrationError(
                f"coverage is {shown(coverage)}, and it must be from {COVERAGES[0] / 100} to {COVERAGES[-1] / 100}."
                if known
                else f"this calibration has no thresholds of sets by {of}. Fit it anew."
            )
        return known[percent]


def expected_calibration_error(probabilities: npt.ArrayLike, right: npt.ArrayLike, *, bins: int = 10) -> float:
    """Return the expected calibration error (ECE) of predictions with these probabilities, (N,), some of them right.

    It is the gap between mean probability and accuracy in each of some bins of equal width, averaged over predictions;
    0 without any. Even perfect probabilities have an expected error of the order of sqrt(bins / N).

    >>> from spacy_mindroot.inference.calibration import expected_calibration_error
    >>> round(expected_calibration_error([0.9, 0.9, 0.6, 0.6], [True, True, True, False]), 3)
    0.1
    """
    p, hits = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if len(p) == 0:
        return 0.0
    number = np.minimum((p * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(number, p, minlength=bins) - np.bincount(number, hits, minlength=bins)
    return float(np.abs(gaps).sum() / len(p))


def calibration_error_by_chance(
    probabilities: npt.ArrayLike, *, bins: int = 10, draws: int = 200, seed: int = 0
) -> float:
    """Return the mean ECE of perfect probabilities, (N,), when it is drawn at random which predictions are right.

    On average, no calibration can have a smaller error on these predictions. Each prediction is drawn by itself. The
    heads of a sentence tend to be right or wrong together, so the error that is due to chance is in fact somewhat
    greater.

    >>> from spacy_mindroot.inference.calibration import calibration_error_by_chance
    >>> round(calibration_error_by_chance([0.8] * 100), 2), round(calibration_error_by_chance([0.8] * 10000), 3)
    (0.03, 0.003)
    """
    p = np.asarray(probabilities, dtype=np.float64)
    rng = np.random.default_rng(seed)
    return float(np.mean([expected_calibration_error(p, rng.random(len(p)) < p, bins=bins) for _ in range(draws)]))


def fit_calibration(
    scores: Sequence[npt.ArrayLike],
    gold_heads: Sequence[npt.ArrayLike],
    *,
    label_scores: Sequence[npt.ArrayLike | None] | None = None,
    gold_labels: Sequence[npt.ArrayLike] | None = None,
    projective: bool = False,
    layout: Layout = "root_column",
    method: str = "held-out",
) -> Calibration:
    """Fit a calibration to annotated sentences that the scorer has not been trained on.

    Parameters
    ----------
    scores : sequence of array-likes, (n, n+1) each
        The arc scores of each sentence.
    gold_heads : sequence of array-likes of ints, (n,) each
        The right heads, 0 = ROOT; -1 if unknown.
    label_scores : sequence of array-likes, (n, labels) each
        The scores of the labels of each arc of the best tree, `decode(scores)`: log-probabilities, or logits. None for
        a sentence without them.
    gold_labels : sequence of array-likes of ints, (n,) each
        The right labels, as columns of `label_scores`; -1 if unknown. A number beyond the last column stands for a
        label that the scorer does not know.
    projective : bool
        Whether only trees without crossing arcs count, for a parser that decodes such trees. The label scores must then
        be those of `decode(scores, projective=True)`.
    layout
        How each matrix in `scores` is laid out, as for `decode`.
    method : str
        Kept with the calibration.

    Returns
    -------
    Calibration

    Raises
    ------
    CalibrationError
        If no head is known, or the arguments do not fit together.
    HeadsError
        If gold heads are not ints, or out of range.
    MindRootError
        As `marginals`.

    Notes
    -----
    The temperature and the lapse of arcs maximize the likelihood of what is right in the best trees: the product, over
    the tokens with a known head, of the probability of the predicted head where it is right, and of its complement
    where it is wrong. In the likelihood of the gold heads themselves, the few that the scorer considers all but
    impossible outweigh all others. The same holds for labels, given that the head is right.

    A weak prior, worth about one token, keeps a handful of tokens from extreme values. O(n^3) time per sentence and
    evaluation, of which there are about 25.

    Examples
    --------
    A scorer that is right half of the time, and nearly always sure:

    >>> import numpy as np
    >>> from spacy_mindroot.inference import fit_calibration
    >>> sure = np.array([[0.0, 0, 9], [9, 0, 0]])
    >>> found = fit_calibration([sure] * 40, [[2, 0], [0, 1]] * 20)
    >>> found.arc_temperature > 2 or found.arc_lapse > 0.5
    True
    """
    matrices = unpad(scores, layout=layout)
    gold = [to_heads(own) for own in to_list(gold_heads, "gold_heads", CalibrationError)]
    if [len(own) for own in gold] != [len(matrix) for matrix in matrices]:
        raise CalibrationError(
            f"there are arc scores for {len(matrices)} sentences and heads for {len(gold)}, of other lengths. Pass the "
            "heads of each sentence, (n,), in the order of the scores."
        )
    gold = [to_heads(own, len(own), may_be_missing=True) for own in gold]
    heads, faults = decode_matrices(matrices, projective=projective)
    for fault in faults:
        raise decoding_error(fault, matrices[fault.sentence], where=in_batch(fault.sentence), projective=projective)
    label_scores, gold_labels = _to_labels(heads, label_scores, gold_labels)
    return fit_to_trees(matrices, heads, gold, label_scores, gold_labels, projective=projective, method=method)


def fit_to_trees(
    matrices: Sequence[FloatArray],
    heads: Sequence[Heads],
    gold_heads: Sequence[npt.NDArray[np.integer[Any]]],
    label_scores: Sequence[npt.ArrayLike | None] | None = None,
    gold_labels: Sequence[npt.ArrayLike] | None = None,
    *,
    projective: bool = False,
    method: str = "held-out",
) -> Calibration:
    """Return what `fit_calibration` does, given the trees that were decoded, and without checks of the scores."""
    counted = np.concatenate([np.empty(0, bool), *(own != MISSING for own in gold_heads)])
    if not counted.any():
        raise CalibrationError("no token has a known head, so there is nothing to calibrate with.")
    right = np.concatenate([own == theirs for own, theirs in zip(heads, gold_heads, strict=True)])[counted]

    def head_prob(temperature: float, lapse: float = 0.0) -> Floats:
        found, _ = confidences_of(matrices, heads, temperature=temperature, lapse=lapse, projective=projective)
        p: Floats = np.concatenate([own.head_prob for own in found])[counted]
        return p

    temperature, lapse = _fit(head_prob, head_prob(1.0, 1.0), right)
    label_temperature, label_lapse = 1.0, 0.0
    if label_scores is not None and gold_labels is not None:
        log_probabilities, chosen_right = _labels_of_right_heads(heads, gold_heads, label_scores, gold_labels)
        if len(chosen_right):
            label_temperature, label_lapse = _fit(
                lambda t: label_probabilities(log_probabilities, t).max(axis=1),
                label_probabilities(log_probabilities, 1.0, 1.0).max(axis=1),
                chosen_right,
            )
    _, arcs = confidences_of(
        matrices, heads, temperature=temperature, lapse=lapse, projective=projective, marginals=True
    )
    conformity = conformities(arcs, gold_heads, heads)
    whole = sentence_conformities(conformity, gold_heads)
    percents, shares = [str(percent) for percent in COVERAGES], [percent / 100 for percent in COVERAGES]
    return Calibration(
        arc_temperature=temperature,
        arc_lapse=lapse,
        label_temperature=label_temperature,
        label_lapse=label_lapse,
        head_set_thresholds=dict(zip(percents, thresholds_of(conformity, shares, SLACK), strict=True)),
        tree_set_thresholds=dict(zip(percents, thresholds_of(whole, shares), strict=True)) if whole else {},
        sentences=sum(bool((own != MISSING).any()) for own in gold_heads),
        tokens=int(np.count_nonzero(counted)),
        method=method,
    )


def label_probabilities(scores: npt.ArrayLike, temperature: float, lapse: float = 0.0) -> Floats:
    """Return the calibrated probability of each label, (n, labels), given scores: log-probabilities or logits.

    A label of score -inf, or with a mask (see `log_partition`), is impossible, and takes no part in the lapse. Each row
    needs a label that is possible.
    """
    logits = np.asarray(scores, dtype=np.float64)
    with np.errstate(over="ignore"):  # beyond the largest double, it is impossible
        logits = logits - logits.max(axis=1, keepdims=True)
    logits[logits < min(_MASKED, -745 * temperature)] = -np.inf  # exp(-745) is the least double
    weights = np.exp(logits / temperature)
    probabilities: Floats = weights * ((1 - lapse) / weights.sum(axis=1, keepdims=True))
    if lapse:
        possible = logits > -np.inf
        probabilities += lapse * possible / np.count_nonzero(possible, axis=1)[:, np.newaxis]
    return probabilities


def _to_labels(
    heads: Sequence[Heads],
    label_scores: Sequence[npt.ArrayLike | None] | None,
    gold_labels: Sequence[npt.ArrayLike] | None,
) -> tuple[list[FloatArray | None] | None, list[Ints] | None]:
    """Return the scores and numbers of labels as arrays. Raise CalibrationError unless they fit the trees."""
    if label_scores is None and gold_labels is None:
        return None, None
    if label_scores is None or gold_labels is None:
        raise CalibrationError("label_scores and gold_labels go together: pass both, or neither.")
    scores, labels = (
        to_list(label_scores, "label_scores", CalibrationError),
        to_list(gold_labels, "gold_labels", CalibrationError),
    )
    if not len(scores) == len(labels) == len(heads):
        raise CalibrationError(
            f"there are {len(heads)} sentences, but label_scores for {len(scores)} and gold_labels for {len(labels)}."
        )
    found: list[FloatArray | None] = []
    numbers: list[Ints] = []
    for k, (tree, own, gold) in enumerate(zip(heads, scores, labels, strict=True)):
        array = None if own is None else to_floats(own, where=in_batch(k))
        known = to_int_array(gold)
        if known is None or len(known) != len(tree) or known.min(initial=0) < MISSING:
            raise CalibrationError(
                f"{in_batch(k)}: gold_labels are {len(tree)} ints, one per token, -1 if unknown; found {shown(gold)}."
            )
        if array is not None and (array.ndim != 2 or len(array) != len(tree) or array.shape[1] == 0):
            raise CalibrationError(
                f"{in_batch(k)}: label_scores are (n, labels), with n = {len(tree)}; the shape found is {array.shape}."
            )
        found.append(array)
        numbers.append(known)
    if len({array.shape[1] for array in found if array is not None}) > 1:
        raise CalibrationError("label_scores have a different number of labels in some sentences.")
    return found, numbers


def _labels_of_right_heads(
    heads: Sequence[Heads],
    gold_heads: Sequence[npt.NDArray[np.integer[Any]]],
    label_scores: Sequence[npt.ArrayLike | None],
    gold_labels: Sequence[npt.ArrayLike],
) -> tuple[Floats, Right]:
    """Return label scores, and whether the best label is right, for the tokens whose head is right and not ROOT."""
    rows, hits = [], []
    for own, theirs, scores, labels in zip(heads, gold_heads, label_scores, gold_labels, strict=True):
        if scores is None:
            continue
        array, gold = np.asarray(scores, dtype=np.float64), np.asarray(labels)
        used = (own == theirs) & (own > 0) & (gold != MISSING)
        rows.append(array[used])
        hits.append(array[used].argmax(axis=1) == gold[used])
    if not rows:
        return np.empty((0, 1)), np.empty(0, dtype=bool)
    return np.concatenate(rows), np.concatenate(hits)


def _fit(probability: Callable[[float], Floats], uniform: Floats, right: Right) -> tuple[float, float]:
    """Return the temperature and the lapse under which it is most likely that just these predictions are right.

    probability(temperature) returns the probability of each prediction; `uniform` is that of a lapse.
    """
    found: dict[float, tuple[float, float]] = {}  # logarithm of the temperature -> loss, lapse

    def loss(log_temperature: float) -> float:
        if log_temperature not in found:
            p = probability(math.exp(log_temperature))
            lapse = _best_lapse(p, uniform, right)
            value = _loss(p + lapse * (uniform - p), right) - math.log1p(-lapse) + log_temperature**2 / 2
            found[log_temperature] = value, lapse
        return found[log_temperature][0]

    grid = np.linspace(-_LOG_BOUND, _LOG_BOUND, 19).tolist()
    at = min(range(len(grid)), key=lambda k: loss(grid[k]))
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    while high - low > 0.01:
        left, right_of = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if loss(left) <= loss(right_of):
            high = right_of
        else:
            low = left
    best = min(found, key=lambda log_temperature: found[log_temperature][0])
    return round(math.exp(best), 4), round(found[best][1], 4)


def _loss(p: Floats, right: Right) -> float:
    return -float(np.log(np.clip(np.where(right, p, 1 - p), _CERTAIN, None)).sum())


def _best_lapse(p: Floats, uniform: Floats, right: Right) -> float:
    """Return the lapse of greatest likelihood, from 0 to 0.9.

    The log-likelihood is concave, so its slope is bisected.
    """
    change = np.where(right, uniform - p, p - uniform)
    start = np.where(right, p, 1 - p)

    def slope(lapse: float) -> float:
        return float((change / np.clip(start + lapse * change, _CERTAIN, None)).sum()) - 1 / (1 - lapse)

    low, high = 0.0, 0.9
    if slope(low) <= 0:
        return low
    for _ in range(14):
        middle = (low + high) / 2
        if slope(middle) > 0:
            low = middle
        else:
            high = middle
    return low
