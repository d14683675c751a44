"""The probability of a tree and of each of its arcs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import _core
from ..core.fault import Fault
from ..decoding import Heads
from ..errors import HeadsError
from ..faults import in_batch
from ..scores import FloatArray, Layout, shown, to_root_column
from ..trees import exact_sum, is_projective, is_tree, to_heads
from .matrix_tree import Marginals, best_tree, check_mixture, is_large, to_weights

__all__ = [
    "Confidence",
    "confidence",
    "confidence_of",
    "confidences_of",
    "margin",
    "margins_of",
]

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


def confidence(
    scores: npt.ArrayLike,
    heads: npt.ArrayLike,
    *,
    temperature: float = 1.0,
    lapse: float = 0.0,
    projective: bool = False,
    layout: Layout = "root_column",
) -> Confidence:
    """Return the probability of a tree and of each of its heads.

    Parameters
    ----------
    scores, temperature, lapse, projective, layout
        As for `marginals`.
    heads : array-like of ints, (n,)
        A single-rooted tree, 0 = ROOT and j = token j-1, such as `decode` returns.

    Returns
    -------
    Confidence
        `head_prob`, `head_entropy` and `tree_logprob`.

    Raises
    ------
    HeadsError
        If the heads are not a single-rooted tree, or do not fit the scores, or have crossing arcs although the
        distribution is over trees without.
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
    if projective and not is_projective(tree):
        raise HeadsError(
            f"the tree {shown(tree.tolist())} has crossing arcs, so it has no probability among the trees without "
            "(projective=True)."
        )
    check_mixture(temperature, lapse)
    best_tree(matrix, True, "root_column", projective=projective)  # for its checks
    return confidence_of(matrix, tree.astype(np.int32), temperature=temperature, lapse=lapse, projective=projective)


def confidence_of(
    matrix: FloatArray,
    heads: Heads,
    *,
    temperature: float = 1.0,
    lapse: float = 0.0,
    projective: bool = False,
) -> Confidence:
    """Return what `confidence` does for a single sentence, without checks. See `confidences_of`."""
    (found,), _ = confidences_of(
        [matrix], [heads], temperature=temperature, lapse=lapse, projective=projective, where=lambda _: ""
    )
    return found


def confidences_of(
    matrices: Sequence[FloatArray],
    heads: Sequence[Heads],
    *,
    temperature: float = 1.0,
    lapse: float = 0.0,
    projective: bool = False,
    marginals: bool = False,
    where: Callable[[int], str] = in_batch,
) -> tuple[list[Confidence], list[Marginals]]:
    """Return what `confidence` does for each sentence of a batch, in one call of the core and without checks.

    The second list has the probabilities of all arcs if `marginals`, and is else empty. Matrices are as
    `to_root_column` returns them. Each has a single-rooted tree, whose heads, int32, are given; with `projective`, it
    must have no crossing arcs. where(k) is the name of sentence k, for the message of a ScoreRangeError.
    """
    weights = [
        to_weights(m, projective=projective, where=where(k)).matrix if is_large(m) else m
        for k, m in enumerate(matrices)
    ]
    flat = _end_to_end(heads)
    head_prob, head_entropy = np.empty(len(flat)), np.empty(len(flat))
    tree_logprob = np.empty(len(weights))
    arcs = [np.empty(matrix.shape) for matrix in weights] if marginals else None
    _core.confidence(weights, flat, temperature, lapse, head_prob, head_entropy, tree_logprob, arcs, projective)
    found, start = [], 0
    for own, logprob in zip(heads, tree_logprob.tolist(), strict=True):
        end = start + len(own)
        found.append(Confidence(head_prob[start:end], head_entropy[start:end], logprob))
        start = end
    return found, arcs or []


def _end_to_end(heads: Sequence[Heads]) -> Heads:
    if len(heads) == 1:
        return np.ascontiguousarray(heads[0])
    return np.concatenate([np.empty(0, dtype=np.int32), *heads])


def margins_of(
    matrices: Sequence[FloatArray], heads: Sequence[Heads], *, projective: bool = False
) -> list[float] | Fault:
    """Return by how much each tree outweighs the best other tree of its sentence, or the fault that the core found.

    As `margin`, without the two best trees, for a batch of sentences. projective: whether the best other tree is one
    without crossing arcs.
    """
    flat = _end_to_end(heads)
    own, other = np.empty(len(flat)), np.empty(len(flat))
    found = np.empty(len(heads), dtype=np.int8)
    fault = _core.best_others(list(matrices), flat, own, other, found, projective)
    if fault is not None:
        return fault
    margins, start = [], 0
    gained, lost = own.tolist(), (-other).tolist()
    for sentence, is_found in zip(heads, found.tolist(), strict=True):
        end = start + len(sentence)
        margins.append(exact_sum(gained[start:end] + lost[start:end]) if is_found else math.inf)
        start = end
    return margins


def margin(matrix: FloatArray, heads: Heads, trees: Sequence[tuple[Heads, float]]) -> float:
    """Return by how much a tree outweighs the best other one.

    `trees` are the two best trees, or more, with their weights, best first, as from `kbest`; only one if there is no
    other. The margin is then inf. It is negative if `heads` is not the best tree.
    """
    tokens = np.arange(len(matrix))
    for other, _ in trees:
        if other is not heads and (other != heads).any():
            gained, lost = (matrix[tokens, tree].astype(np.float64) for tree in (heads, other))
            return exact_sum([*gained.tolist(), *(-lost).tolist()])
    return math.inf
