"""The distribution over trees that arc scores define: partition function, marginals, entropy."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import _inference
from ..decoding import Heads, decode
from ..errors import CalibrationError, ScoreRangeError
from ..scores import FloatArray, Layout, shown, to_root_column
from ..trees import exact_sum

__all__ = [
    "Marginals",
    "Weights",
    "best_tree",
    "check_mixture",
    "entropy",
    "infer",
    "is_large",
    "log_partition",
    "marginals",
    "to_relative",
    "to_weights",
    "without_masks",
]

Marginals = npt.NDArray[np.float64]

_LARGE = 2.0**1000  # below it, no sum over the arcs of a sentence overflows
_LOST = 2.0**40  # beyond it, rounding makes logarithms of probabilities wrong by more than 0.001


def log_partition(
    scores: npt.ArrayLike, *, single_root: bool = True, projective: bool = False, layout: Layout = "root_column"
) -> float:
    """Return the logarithm of the sum of exp(weight) over all trees of a sentence.

    A tree of weight w has the log-probability `w - log_partition(scores)`.

    Parameters
    ----------
    scores : array-like, (n, n+1)
        Arc scores, as for `decode`: `scores[i, h]` for head h of token i, column 0 is ROOT, -inf forbids an arc. They
        are read as logarithms of weights. Adding a constant to a row changes no probability, so the log-probabilities
        of the heads of each token serve as well as raw scores.
    single_root : bool
        Whether to sum over the trees with exactly one arc from ROOT. If False, over those with any number.
    projective : bool
        Whether to sum over trees without crossing arcs only.
    layout
        How `scores` is laid out, as for `decode`.

    Returns
    -------
    float
        In nats. 0 for a sentence without tokens, which has one tree. Infinite if it is beyond the largest double.

    Raises
    ------
    InvalidScoreError, NoHeadError, NoRootError, NoTreeError, ScoresShapeError, ScoresTypeError
        As `decode`: where there is no tree, there is no distribution.
    ScoreRangeError
        If there are scores beyond 1e301, and every tree needs an arc that is worse than the best one of its token by
        far.

    Notes
    -----
    O(n^3) time. The Matrix-Tree theorem, with a single root as in [1]_, by elimination without subtraction [2]_, which
    loses no digits. If scores are so far apart that weights underflow, the computation is done in logarithms, which
    takes about ten times as long.

    A mask may be any large negative number, such as the least float32, instead of -inf: an arc counts as forbidden if
    it is worse than the best one of its token by more than 5000, and all trees with it together have less than 1e-323
    of the probability. So a sentence in which every tree needs a masked arc still has its probabilities.

    For projective trees, inside-outside on Eisner's chart [3]_, in logarithms.

    References
    ----------
    .. [1] Koo, Globerson, Carreras and Collins (2007), "Structured prediction models via the Matrix-Tree theorem".
       https://aclanthology.org/D07-1015
    .. [2] Grassmann, Taksar and Heyman (1985), "Regenerative analysis and steady state distributions for Markov
       chains". https://doi.org/10.1287/opre.33.5.1107
    .. [3] Paskin (2001), "Cubic-time parsing and learning algorithms for grammatical bigram models".
       https://www2.eecs.berkeley.edu/Pubs/TechRpts/2001/5487.html

    Examples
    --------
    Four tokens have 64 single-rooted trees:

    >>> import numpy as np
    >>> from spacy_mindroot.inference import log_partition
    >>> round(np.exp(log_partition(np.zeros((4, 5)))))
    64
    """
    weights = _weights_of(scores, single_root, layout, projective)[0]
    return weights.shift + _inference.log_partition(weights.matrix, None, single_root, projective)


def marginals(
    scores: npt.ArrayLike,
    *,
    temperature: float = 1.0,
    lapse: float = 0.0,
    single_root: bool = True,
    projective: bool = False,
    layout: Layout = "root_column",
) -> Marginals:
    """Return the probability of each arc: the share of exp(weight) that the trees with this arc have.

    Parameters
    ----------
    scores, single_root, projective, layout
        As for `log_partition`.
    temperature : float
        Arc scores are divided by it. Above 1, trees become more alike in probability; below 1, less. `fit_calibration`
        finds the temperature and the lapse that fit a scorer.
    lapse : float
        The probability that the scores say nothing, and all allowed trees are equally probable. It models confident
        errors. If 3 % of confident predictions are wrong, no temperature fits them without making the model doubt all
        others.

    Returns
    -------
    ndarray of float64, (n, n+1)
        `marginals[i, h]` is the probability that h is the head of token i; h = 0 is ROOT and h = j+1 is token j,
        whatever the layout of `scores`. Each row sums to 1, and with a single root so does column 0. Forbidden arcs
        and self arcs have probability 0.

    Raises
    ------
    CalibrationError
        If temperature or lapse is out of range.
    MindRootError
        As `log_partition`.

    Notes
    -----
    O(n^3) time. Each probability is right to nearly all its digits, however small, as far as the scores are. See
    `log_partition` for the method and for masks.

    Digits are lost only if every tree needs an arc that is far worse than the best one of its token: with 1e9 between
    them, differences smaller than 1e-7; with 1e16 or more, trees of equal weight may get different probabilities.

    Examples
    --------
    >>> from spacy_mindroot.inference import marginals
    >>> marginals([[0, 0, 0], [0, 0, 0]])
    array([[0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    >>> marginals([[0, 0, 2], [3, 0, 0]], temperature=2.0, lapse=0.1).round(2)
    array([[0.12, 0.  , 0.88],
           [0.88, 0.12, 0.  ]])
    """
    check_mixture(temperature, lapse)
    matrix = _weights_of(scores, single_root, layout, projective)[0].matrix
    if temperature == 1 and lapse == 0:
        return infer(matrix, single_root=single_root, projective=projective)[1]
    with np.errstate(over="ignore"):  # beyond the largest double, an arc is forbidden
        tempered = to_relative(matrix)[0] / temperature
    relative = without_masks(tempered, temperature, single_root=single_root, projective=projective)
    probabilities = infer(relative, single_root=single_root, projective=projective)[1]
    if lapse:
        alike = np.where(relative == -np.inf, -np.inf, 0.0)
        uniform = infer(alike, single_root=single_root, projective=projective)[1]
        probabilities = (1 - lapse) * probabilities + lapse * uniform
    return probabilities


def entropy(
    scores: npt.ArrayLike, *, single_root: bool = True, projective: bool = False, layout: Layout = "root_column"
) -> float:
    """Return the entropy of the distribution over trees, in nats: 0 if one tree has all the probability.

    Parameters
    ----------
    scores, single_root, projective, layout
        As for `log_partition`.

    Returns
    -------
    float
        At least 0, and at most the sum of the entropies of the heads.

    Raises
    ------
    MindRootError
        As `log_partition`.

    Notes
    -----
    O(n^3) time.

    Examples
    --------
    Two tokens have two single-rooted trees, here equally probable:

    >>> from spacy_mindroot.inference import entropy
    >>> round(entropy([[0, 0, 0], [0, 0, 0]]), 4)
    0.6931
    """
    # Rows are shifted by the scores of the best tree, so that nothing large cancels where that tree has most of the
    # probability.
    (matrix, _), heads = _weights_of(scores, single_root, layout, projective)
    shifted = matrix - np.take_along_axis(matrix, heads[:, np.newaxis], axis=1).astype(np.float64)
    log_z, probabilities = infer(shifted, single_root=single_root, projective=projective)
    in_use = probabilities > 0
    used = probabilities[in_use]
    found = log_z - float(used @ shifted[in_use])
    # Next to very large scores, rounding errors are larger than any entropy. Those of the heads add up to no less.
    return max(0.0, min(found, -float(used @ np.log(used))))


def infer(matrix: FloatArray, *, single_root: bool = True, projective: bool = False) -> tuple[float, Marginals]:
    """Return log-partition and marginals without checks.

    `matrix`, (n, n+1), is as `to_root_column` returns it, or that of `to_weights`. It must have a tree.
    """
    probabilities = np.empty(matrix.shape, dtype=np.float64)
    return _inference.log_partition(matrix, probabilities, single_root, projective), probabilities


def best_tree(
    scores: npt.ArrayLike, single_root: bool, layout: Layout, *, projective: bool = False
) -> tuple[FloatArray, Heads]:
    """Return the arc scores as a matrix from `to_root_column`, and its best tree. Errors are those of `decode`."""
    matrix = to_root_column(scores, layout)
    return matrix, decode(matrix, single_root=single_root, projective=projective)


class Weights(NamedTuple):
    """Arc scores that `infer` can add up without overflow.

    matrix : (n, n+1), the same distribution over trees as that of the scores.
    shift : the weight of a tree under the scores is `shift` more than under `matrix`.
    """

    matrix: FloatArray
    shift: float


def to_weights(matrix: FloatArray, *, single_root: bool = True, projective: bool = False, where: str = "") -> Weights:
    """Return arc scores in a range that `infer` can compute with: nearly always those given, which must have a tree.

    If there are scores beyond 2 ** 1000, all are shifted so that the best arc of each token has score 0. If the best
    tree is then worse than the best arcs of all tokens together by 1e12 or more, raise ScoreRangeError, which names the
    sentence `where`.
    """
    if not is_large(matrix):
        return Weights(matrix, 0.0)
    heads = decode(matrix, single_root=single_root, projective=projective)
    n = len(matrix)
    tokens = np.arange(n)
    relative, best = to_relative(matrix)
    if exact_sum(relative[tokens, heads].tolist()) < -_LOST:
        worst = int(relative[tokens, heads].argmin())
        raise ScoreRangeError(
            f"{where or f'sentence of {n} tokens'}: there are arc scores beyond 1e301, and every tree needs an arc, "
            f"such as head {heads[worst]} for dependent {worst + 1}, that is far worse than the best one of its token. "
            "Probabilities of trees can't be computed from such scores. Use smaller numbers, or -inf for arcs that "
            "no tree may have.",
            dependent=worst + 1,
            head=int(heads[worst]),
        )
    return Weights(relative, exact_sum(best.tolist()))


def is_large(matrix: FloatArray) -> bool:
    """Whether sums of the scores may overflow. Those of float32 never do, since they are added up as float64."""
    if matrix.dtype == np.float32 or matrix.size == 0:
        return False
    if matrix.max() <= _LARGE and matrix.min() >= -_LARGE:  # mostly
        return False
    return bool(np.max(np.abs(matrix), initial=0, where=np.isfinite(matrix)) > _LARGE)


def to_relative(matrix: FloatArray) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the scores relative to the best arc of each token, (n, n+1), and the scores of the best arcs, (n,).

    Self arcs become -inf, and so do arcs that are worse by more than the largest double.
    """
    tokens = np.arange(len(matrix))
    relative = matrix.astype(np.float64)
    relative[tokens, tokens + 1] = -np.inf
    best = relative.max(axis=1, initial=-np.inf)
    with np.errstate(over="ignore"):
        relative -= best[:, np.newaxis]
    return relative, best


def without_masks(
    matrix: FloatArray, temperature: float = 1.0, *, single_root: bool = True, projective: bool = False
) -> npt.NDArray[np.float64]:
    """Return a float64 copy in which arcs that are masked with large finite numbers are forbidden. See `log_partition`.

    `matrix` is as for `infer`, divided by the temperature.
    """
    allowed = np.array(matrix, dtype=np.float64, order="C")
    _inference.forbid_masks(allowed, single_root, projective, temperature)
    return allowed


def check_mixture(temperature: float, lapse: float) -> None:
    """Raise CalibrationError unless temperature and lapse are in range."""
    try:
        in_range = math.isfinite(temperature) and temperature > 0 and 0 <= lapse <= 1
    except (TypeError, ValueError, OverflowError):
        in_range = False
    if not in_range:
        raise CalibrationError(
            f"temperature is {shown(temperature)} and lapse is {shown(lapse)}. The temperature must be above 0, and "
            "the lapse from 0 to 1."
        )


def _weights_of(scores: npt.ArrayLike, single_root: bool, layout: Layout, projective: bool) -> tuple[Weights, Heads]:
    """Return arc scores that `infer` can compute with, and their best tree. Errors are those of `log_partition`."""
    matrix, heads = best_tree(scores, single_root, layout, projective=projective)
    return to_weights(matrix, single_root=single_root, projective=projective), heads
