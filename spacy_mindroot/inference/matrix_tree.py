"""The distribution over trees that arc scores define: partition function, marginals, entropy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import _core, _inference
from ..decoding import Heads, to_batch
from ..errors import ScoreRangeError
from ..faults import decoding_error, in_batch
from ..scores import FloatArray, Layout, to_root_column
from ..trees import exact_sum

__all__ = [
    "Marginals",
    "Weights",
    "best_tree",
    "entropy",
    "entropy_batch",
    "infer",
    "is_large",
    "log_partition",
    "log_partition_batch",
    "marginals",
    "marginals_batch",
    "to_relative",
    "to_weights",
    "too_large",
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
    layout : {"root_column", "square", "square_transposed", "root_diagonal"}
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
    O(n^3) time. The Matrix-Tree theorem, with a single root as in [1]_, by elimination without subtraction [2]_.
    Tokens that strongly prefer each other, for which the determinant of the Laplacian loses all its digits, cost no
    accuracy. If scores are so far apart that weights underflow, the computation is done in logarithms, which takes
    about ten times as long.

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
    return _log_partition(*best_tree(scores, single_root, layout, projective=projective), single_root, projective)


def log_partition_batch(
    scores: Iterable[npt.ArrayLike],
    *,
    single_root: bool = True,
    projective: bool = False,
    layout: Layout = "root_column",
) -> npt.NDArray[np.float64]:
    """Return `log_partition` of each sentence of a batch.

    Parameters
    ----------
    scores : iterable of array-likes
        Matrices of arc scores, each as for `log_partition`.
    single_root, projective, layout
        As for `log_partition`.

    Returns
    -------
    ndarray of float64, (sentences,)

    Raises
    ------
    MindRootError
        As `log_partition`, for the first sentence at fault; the message names it.

    Examples
    --------
    >>> from spacy_mindroot.inference import log_partition_batch
    >>> log_partition_batch([[[1, 0]], [[0, 0, 0], [0, 0, 0]]]).round(4)
    array([1.    , 0.6931])
    """
    batch = _best_trees(scores, single_root, layout, projective)
    return np.array(
        [_log_partition(*pair, single_root, projective, where=in_batch(k)) for k, pair in enumerate(batch)], float
    )


def marginals(
    scores: npt.ArrayLike, *, single_root: bool = True, projective: bool = False, layout: Layout = "root_column"
) -> Marginals:
    """Return the probability of each arc: the share of exp(weight) that the trees with this arc have.

    Parameters
    ----------
    scores, single_root, projective, layout
        As for `log_partition`.

    Returns
    -------
    ndarray of float64, (n, n+1)
        `marginals[i, h]` is the probability that h is the head of token i; h = 0 is ROOT and h = j+1 is token j,
        whatever the layout of `scores`. Each row sums to 1, and with a single root so does column 0. Forbidden arcs
        and self arcs have probability 0.

    Raises
    ------
    MindRootError
        As `log_partition`.

    Notes
    -----
    O(n^3) time. Each probability is right to nearly all its digits, however small, as far as the scores are. Next to
    a score of -1e9, differences smaller than 1e-7 are lost, as they are in the weight of a tree. See `log_partition`
    for the method.

    This matters only if every tree needs an arc that is far worse than the best one of its token: with 1e16 or more
    between them, trees of equal weight may get different probabilities.

    Examples
    --------
    >>> from spacy_mindroot.inference import marginals
    >>> marginals([[0, 0, 0], [0, 0, 0]])
    array([[0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """
    return _marginals(*best_tree(scores, single_root, layout, projective=projective), single_root, projective)


def marginals_batch(
    scores: Iterable[npt.ArrayLike],
    *,
    single_root: bool = True,
    projective: bool = False,
    layout: Layout = "root_column",
) -> list[Marginals]:
    """Return `marginals` of each sentence of a batch.

    Parameters and errors as for `log_partition_batch`.

    Returns
    -------
    list of ndarrays of float64, (n, n+1) each

    Examples
    --------
    >>> from spacy_mindroot.inference import marginals_batch
    >>> marginals_batch([[[1, 0]], [[0, 0, 0], [0, 0, 0]]])[0]
    array([[1., 0.]])
    """
    batch = _best_trees(scores, single_root, layout, projective)
    return [_marginals(*pair, single_root, projective, where=in_batch(k)) for k, pair in enumerate(batch)]


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
    return _entropy(*best_tree(scores, single_root, layout, projective=projective), single_root, projective)


def entropy_batch(
    scores: Iterable[npt.ArrayLike],
    *,
    single_root: bool = True,
    projective: bool = False,
    layout: Layout = "root_column",
) -> npt.NDArray[np.float64]:
    """Return `entropy` of each sentence of a batch.

    Parameters and errors as for `log_partition_batch`.

    Returns
    -------
    ndarray of float64, (sentences,)

    Examples
    --------
    >>> from spacy_mindroot.inference import entropy_batch
    >>> entropy_batch([[[1, 0]], [[0, 0, 0], [0, 0, 0]]]).round(4)
    array([0.    , 0.6931])
    """
    batch = _best_trees(scores, single_root, layout, projective)
    return np.array(
        [_entropy(*pair, single_root, projective, where=in_batch(k)) for k, pair in enumerate(batch)], float
    )


def infer(matrix: FloatArray, *, single_root: bool = True, projective: bool = False) -> tuple[float, Marginals]:
    """Return log-partition and marginals without checks.

    Parameters
    ----------
    matrix : ndarray of float32 or float64, (n, n+1)
        As `to_root_column` returns it, or the matrix of `to_weights`. It must have a tree.
    """
    probabilities = np.empty(matrix.shape, dtype=np.float64)
    run = _inference.inside_outside if projective else _inference.matrix_tree
    return run(matrix, probabilities, single_root), probabilities


def best_tree(
    scores: npt.ArrayLike,
    single_root: bool,
    layout: Layout,
    *,
    projective: bool = False,
    sentence: int | None = None,
) -> tuple[FloatArray, Heads]:
    """Return the arc scores as a matrix from `to_root_column`, and its best tree.

    `sentence` is the index in the batch, for messages. Errors are those of `decode`.
    """
    where = "" if sentence is None else in_batch(sentence)
    matrix = to_root_column(scores, layout, where=where)
    heads = np.empty(len(matrix), dtype=np.int32)
    fault = (_core.decode_projective if projective else _core.decode)(matrix, heads, single_root)
    if fault is not None:
        raise decoding_error(fault._replace(sentence=sentence or 0), matrix, where=where, projective=projective)
    if projective and is_large(matrix):
        raise too_large(where or f"sentence of {len(matrix)} tokens")
    return matrix, heads


def too_large(where: str) -> ScoreRangeError:
    """Return the error for scores that are too large for probabilities of projective trees."""
    return ScoreRangeError(
        f"{where}: there are arc scores beyond 1e301. Probabilities of projective trees can't be computed from such "
        "scores. Use smaller numbers, or -inf for arcs that no tree may have."
    )


class Weights(NamedTuple):
    """Arc scores that `infer` can add up without overflow.

    matrix : (n, n+1), the same distribution over trees as that of the scores.
    shift : the weight of a tree under the scores is `shift` more than under `matrix`.
    """

    matrix: FloatArray
    shift: float


def to_weights(matrix: FloatArray, *, single_root: bool = True, where: str = "") -> Weights:
    """Return arc scores in a range that `infer` can compute with.

    That is nearly always the matrix itself. If there are scores beyond 2 ** 1000, all are shifted so that the best
    arc of each token has score 0. Then the arcs that no tree of any probability has are forbidden.

    Parameters
    ----------
    matrix : ndarray of float32 or float64, (n, n+1)
        As `to_root_column` returns it. It must have a tree.
    single_root : bool
        Whether only trees with one root count.
    where : str
        The name of the sentence in messages.

    Raises
    ------
    ScoreRangeError
        If there are such scores, and the best tree is worse than the best arcs of all tokens together by 1e12 or more.

    Notes
    -----
    With the best arcs at 0, no tree with an arc weighs more than the arc. So if an arc is below the weight of the
    best tree by more than 745 + n log(n+1), all trees with it together have less than the smallest double of the
    probability.
    """
    if not is_large(matrix):
        return Weights(matrix, 0.0)
    heads = np.empty(len(matrix), dtype=np.int32)
    _core.decode(matrix, heads, single_root)
    n = len(matrix)
    tokens = np.arange(n)
    relative, best = to_relative(matrix)
    weight = exact_sum(relative[tokens, heads].tolist())
    if weight < -_LOST:
        worst = int(relative[tokens, heads].argmin())
        raise ScoreRangeError(
            f"{where or f'sentence of {n} tokens'}: there are arc scores beyond 1e301, and every tree needs an arc, "
            f"such as head {heads[worst]} for dependent {worst + 1}, that is far worse than the best one of its token. "
            "Probabilities of trees can't be computed from such scores. Use smaller numbers, or -inf for arcs that "
            "no tree may have.",
            dependent=worst + 1,
            head=int(heads[worst]),
        )
    relative[relative < weight - (745 + n * math.log(n + 1))] = -np.inf
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


def _best_trees(
    scores: Iterable[npt.ArrayLike], single_root: bool, layout: Layout, projective: bool
) -> list[tuple[FloatArray, Heads]]:
    return [
        best_tree(matrix, single_root, layout, projective=projective, sentence=k)
        for k, matrix in enumerate(to_batch(scores))
    ]


def _log_partition(matrix: FloatArray, _: Heads, single_root: bool, projective: bool, *, where: str = "") -> float:
    if projective:
        return _inference.inside_outside(matrix, None, single_root)
    weights = to_weights(matrix, single_root=single_root, where=where)
    return weights.shift + _inference.matrix_tree(weights.matrix, None, single_root)


def _marginals(matrix: FloatArray, _: Heads, single_root: bool, projective: bool, *, where: str = "") -> Marginals:
    if not projective:
        matrix = to_weights(matrix, single_root=single_root, where=where).matrix
    return infer(matrix, single_root=single_root, projective=projective)[1]


def _entropy(matrix: FloatArray, heads: Heads, single_root: bool, projective: bool, *, where: str = "") -> float:
    # Rows are shifted by the scores of the best tree, so that nothing large cancels where that tree has most of the
    # probability.
    if not projective:
        matrix = to_weights(matrix, single_root=single_root, where=where).matrix
    shifted = matrix - np.take_along_axis(matrix, heads[:, np.newaxis], axis=1).astype(np.float64)
    log_z, probabilities = infer(shifted, single_root=single_root, projective=projective)
    in_use = probabilities > 0
    used = probabilities[in_use]
    found = log_z - float(used @ shifted[in_use])
    # Next to very large scores, rounding errors are larger than any entropy. Those of the heads add up to no less.
    return max(0.0, min(found, -float(used @ np.log(used))))
