"""How sure the arc scores are of a tree, and of each of its arcs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..decoding import Heads
from ..errors import HeadsError
from ..scores import FloatArray, Layout, to_root_column
from ..trees import is_tree, to_heads
from .matrix_tree import infer, log_partition

Floats = npt.NDArray[np.float64]


class Confidence(NamedTuple):
    """How probable a tree is under the distribution over single-rooted trees that arc scores define.

    head_prob : (n,), the probability of each head in the tree.
    head_entropy : (n,), the entropy of each token's head, in nats: 0 where the scores leave no doubt.
    tree_logprob : the log-probability of the tree.
    """

    head_prob: Floats
    head_entropy: Floats
    tree_logprob: float


def confidence(scores: npt.ArrayLike, heads: npt.ArrayLike, *, layout: Layout = "root_column") -> Confidence:
    """How sure the scores are of a tree, and of each of its heads.

    Parameters
    ----------
    scores : array-like, (n, n+1)
        Arc scores, as for `decode`; logarithms of weights, as for `marginals`.
    heads : array-like of ints, (n,)
        A tree with one root, 0 = ROOT, such as `decode` gives.
    layout : str
        How `scores` is laid out.

    Returns
    -------
    Confidence : head_prob, head_entropy, tree_logprob

    Raises
    ------
    HeadsError if the heads are no tree with one root or do not fit the scores; otherwise as `marginals`.
    """
    matrix = to_root_column(scores, layout)
    tree = to_heads(heads)
    if len(tree) != len(matrix) or not is_tree(tree, single_root=True):
        raise HeadsError(
            f"the heads of a tree with one root over {len(matrix)} tokens are needed; found {str(tree)[:100]}."
        )
    log_partition(matrix)  # for its checks
    return confidence_of(matrix, tree.astype(np.int32))


def confidence_of(matrix: FloatArray, heads: Heads) -> Confidence:
    """`confidence` without the checks: a matrix from `to_root_column` that has a tree, and one of its trees."""
    tokens = np.arange(len(matrix))
    # Relative to the best arc of each token, so that nothing large cancels.
    relative = matrix.astype(np.float64)
    relative[tokens, tokens + 1] = -np.inf
    with np.errstate(over="ignore"):
        relative -= relative.max(axis=1, keepdims=True)
    log_z, marginals = infer(relative)
    in_use = np.where(marginals > 0, marginals, 1)
    return Confidence(
        head_prob=marginals[tokens, heads],
        head_entropy=np.abs(np.sum(in_use * np.log(in_use), axis=1)),
        tree_logprob=min(0.0, math.fsum(relative[tokens, heads].tolist()) - log_z),
    )


def margin(trees: list[tuple[Heads, float]], heads: Heads, weight: float) -> float:
    """By how much a tree outweighs the best other one: inf if there is none. `trees` are the two best, best first.

    Negative where the tree is not the best, such as the best projective one.
    """
    return next((weight - other for tree, other in trees if not np.array_equal(tree, heads)), math.inf)
