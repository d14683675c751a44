"""How probable each arc is, over all trees: partition function, marginals, entropy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..core import _core, _inference
from ..faults import decoding_error, in_batch
from ..scores import FloatArray, Layout, to_root_column

Marginals = npt.NDArray[np.float64]


def log_partition(scores: npt.ArrayLike, *, single_root: bool = True, layout: Layout = "root_column") -> float:
    """The logarithm of the sum of exp(weight) over all trees of a sentence.

    A tree with weight w has the log-probability `w - log_partition(scores)`.

    Parameters
    ----------
    scores : array-like, (n, n+1)
        Arc scores, as for `decode`: `scores[dependent, head]`, column 0 is ROOT, -inf forbids an arc. They are taken for
        logarithms of weights. Adding a constant to a row changes no probability, so log-probabilities of the heads of
        each token will do as well as raw scores.
    single_root : bool
        Over the trees with exactly one arc from ROOT; if False, over those with any number.
    layout : str
        How `scores` is laid out, as for `decode`.

    Returns
    -------
    float : 0 for a sentence without tokens, which has one tree.

    Raises
    ------
    InvalidScoreError, NoHeadError, NoRootError, NoTreeError, ScoresShapeError, ScoresTypeError
        As `decode`: where there is no tree there is no distribution either.

    Notes
    -----
    O(n^3) time. The Matrix-Tree theorem, with a single root as in Koo et al. (2007), by elimination without subtraction
    (Grassmann, Taksar and Heyman 1985): tokens that strongly prefer each other, for which the determinant of the
    Laplacian loses all its digits, cost no accuracy. Where scores are so far apart that weights would underflow, it is done
    in logarithms, which takes about ten times as long.
    """
    return _inference.matrix_tree(check_scores(scores, single_root, layout), None, single_root)


def log_partition_batch(
    scores: Iterable[npt.ArrayLike], *, single_root: bool = True, layout: Layout = "root_column"
) -> npt.NDArray[np.float64]:
    """`log_partition` of each sentence of a batch, (sentences,). An error names the sentence that is at fault."""
    matrices = _check_batch(scores, single_root, layout)
    return np.array([_inference.matrix_tree(matrix, None, single_root) for matrix in matrices], dtype=np.float64)


def marginals(scores: npt.ArrayLike, *, single_root: bool = True, layout: Layout = "root_column") -> Marginals:
    """The probability of each arc: how much of all trees' exp(weight) is in the trees that have it.

    Parameters
    ----------
    scores, single_root, layout
        As for `log_partition`.

    Returns
    -------
    marginals : float64 array, (n, n+1)
        `marginals[i, h]`: the probability that h is the head of token i; h = 0 is ROOT, h = j+1 is token j, whatever the
        layout of `scores`. Each row sums to 1; with a single root, so does column 0. 0 for forbidden and self arcs.

    Raises
    ------
    As `log_partition`.

    Notes
    -----
    O(n^3) time. Each probability is right to nearly all its digits, however small, as far as the scores are: beside a
    score of -1e9, differences smaller than 1e-7 are lost, as they are in the weight of a tree. See `log_partition`.

    Examples
    --------
    >>> marginals([[0, 0, 0], [0, 0, 0]])
    array([[0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """
    return infer(check_scores(scores, single_root, layout), single_root=single_root)[1]


def marginals_batch(
    scores: Iterable[npt.ArrayLike], *, single_root: bool = True, layout: Layout = "root_column"
) -> list[Marginals]:
    """`marginals` of each sentence of a batch. An error names the sentence that is at fault."""
    matrices = _check_batch(scores, single_root, layout)
    return [infer(matrix, single_root=single_root)[1] for matrix in matrices]


def entropy(scores: npt.ArrayLike, *, single_root: bool = True, layout: Layout = "root_column") -> float:
    """The entropy of the distribution over trees, in nats: 0 where one tree has all the probability.

    Parameters and errors as for `log_partition`; O(n^3) time.
    """
    return _entropy(check_scores(scores, single_root, layout), single_root)


def entropy_batch(
    scores: Iterable[npt.ArrayLike], *, single_root: bool = True, layout: Layout = "root_column"
) -> npt.NDArray[np.float64]:
    """`entropy` of each sentence of a batch, (sentences,). An error names the sentence that is at fault."""
    matrices = _check_batch(scores, single_root, layout)
    return np.array([_entropy(matrix, single_root) for matrix in matrices], dtype=np.float64)


def infer(matrix: FloatArray, *, single_root: bool = True) -> tuple[float, Marginals]:
    """Log-partition and marginals without the checks: a matrix from `to_root_column` that has a tree."""
    probabilities = np.empty(matrix.shape, dtype=np.float64)
    return _inference.matrix_tree(matrix, probabilities, single_root), probabilities


def _entropy(matrix: FloatArray, single_root: bool) -> float:
    # Rows are shifted by the scores of the best tree, so that nothing large cancels where that tree has most of the
    # probability.
    heads = np.empty(len(matrix), dtype=np.int32)
    _core.decode(matrix, heads, single_root)
    shifted = matrix - np.take_along_axis(matrix, heads[:, np.newaxis], axis=1).astype(np.float64)
    log_z, probabilities = infer(shifted, single_root=single_root)
    in_use = probabilities > 0
    return max(0.0, log_z - float(probabilities[in_use] @ shifted[in_use]))


def check_scores(
    scores: npt.ArrayLike, single_root: bool, layout: Layout, *, sentence: int | None = None
) -> FloatArray:
    """The matrix, of which there is at least one tree."""
    where = "" if sentence is None else in_batch(sentence)
    matrix = to_root_column(scores, layout, where=where)
    fault = _core.decode(matrix, np.empty(len(matrix), dtype=np.int32), single_root)
    if fault is not None:
        raise decoding_error(fault._replace(sentence=sentence or 0), matrix, where=where)
    return matrix


def _check_batch(scores: Iterable[npt.ArrayLike], single_root: bool, layout: Layout) -> list[FloatArray]:
    return [check_scores(matrix, single_root, layout, sentence=k) for k, matrix in enumerate(scores)]
