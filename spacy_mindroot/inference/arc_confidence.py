"""The probability of a tree and of each of its arcs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..decoding import Heads
from ..errors import HeadsError
from ..scores import FloatArray, Layout, shown, to_root_column
from ..trees import exact_sum, is_tree, to_heads
from .matrix_tree import best_tree, head_entropies, infer, is_large, to_relative, to_weights

__all__ = ["Confidence", "confidence", "confidence_of", "margin"]

Floats = npt.NDArray[np.float64]


class Confidence(NamedTuple):
    """The probability of a tree under the distribution over single-rooted trees that arc scores define.

    Attributes
    ----------
    head_prob : ndarray of float64, (n,)
        The probability of each head of the tree.
    head_entropy : ndarray of float64, (n,)
        The entropy of each token's head, in nats: 0 where the scores leave no doubt.
    tree_logprob : float
        The log-probability of the tree.
    """

    head_prob: Floats
    head_entropy: Floats
    tree_logprob: float


def confidence(scores: npt.ArrayLike, heads: npt.ArrayLike, *, layout: Layout = "root_column") -> Confidence:
    """Return the probability of a tree and of each of its heads.

    Parameters
    ----------
    scores : array-like, (n, n+1)
        Arc scores, as for `decode`; read as logarithms of weights, as for `marginals`.
    heads : array-like of ints, (n,)
        A single-rooted tree, 0 = ROOT and j = token j-1, such as `decode` returns.
    layout : {"root_column", "square", "square_transposed", "root_diagonal"}
        How `scores` is laid out.

    Returns
    -------
    Confidence
        `head_prob`, `head_entropy` and `tree_logprob`.

    Raises
    ------
    HeadsError
        If the heads are not a single-rooted tree, or do not fit the scores.
    MindRootError
        As `marginals`.

    Notes
    -----
    O(n^3) time.

    Examples
    --------
    >>> from spacy_mindroot import decode
    >>> from spacy_mindroot.inference import confidence
    >>> scores = [[0, 0, 1], [2, 0, 0]]
    >>> sure = confidence(scores, decode(scores))
    >>> sure.head_prob.round(2)
    array([0.95, 0.95])
    >>> round(sure.tree_logprob, 2)
    -0.05
    """
    matrix = to_root_column(scores, layout)
    tree = to_heads(heads)
    if len(tree) != len(matrix) or not is_tree(tree, single_root=True):
        raise HeadsError(
            f"the heads of a tree with one root over {len(matrix)} tokens are needed; found {shown(tree.tolist())}."
        )
    best_tree(matrix, True, "root_column")  # for its checks
    return confidence_of(matrix, tree.astype(np.int32))


def confidence_of(matrix: FloatArray, heads: Heads, *, where: str = "") -> Confidence:
    """Return what `confidence` does, without checks.

    Parameters
    ----------
    matrix : ndarray, (n, n+1)
        As `to_root_column` returns it. It must have a single-rooted tree.
    heads : ndarray of int32, (n,)
        A single-rooted tree.
    where : str
        The name of the sentence in the message of a ScoreRangeError.
    """
    tokens = np.arange(len(matrix))
    relative, best = to_relative(matrix)  # so that nothing large cancels
    if is_large(matrix):
        relative = to_weights(matrix, where=where).matrix.astype(np.float64)
    log_z, marginals = infer(relative)
    weight = exact_sum([*matrix[tokens, heads].astype(np.float64).tolist(), *(-best).tolist()])
    return Confidence(
        head_prob=marginals[tokens, heads],
        head_entropy=head_entropies(marginals),
        tree_logprob=min(0.0, weight - log_z),
    )


def margin(matrix: FloatArray, heads: Heads, trees: Sequence[tuple[Heads, float]]) -> float:
    """Return by how much a tree outweighs the best other one.

    Parameters
    ----------
    matrix : ndarray, (n, n+1)
        Arc scores, as `to_root_column` returns them.
    heads : ndarray of int32, (n,)
        The tree.
    trees : sequence of pairs (heads, weight)
        The two best trees, or more, best first, as from `kbest`; only one if there is no other.

    Returns
    -------
    float
        inf if there is no other tree. Negative if `heads` is not the best tree, such as the best projective one.
    """
    tokens = np.arange(len(matrix))
    for other, _ in trees:
        if other is not heads and (other != heads).any():
            gained, lost = (matrix[tokens, tree].astype(np.float64) for tree in (heads, other))
            return exact_sum([*gained.tolist(), *(-lost).tolist()])
    return math.inf
