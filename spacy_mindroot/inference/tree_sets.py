"""Sets of trees that contain the right one with a chosen probability: head sets, calibrated by sentence, and pruned."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..core.fault import Fault
from ..decoding import Heads
from ..scores import FloatArray
from ..trees import TreeSet
from .conformal import head_sets
from .matrix_tree import infer
from .next_best import kbest_matrix

__all__ = ["sentence_conformities", "tree_set"]

_LISTED = 10  # trees of a set, at most, that are listed
_EXACT = math.log(10**9)  # of larger numbers of trees, rounding errors of the logarithm are more than half a tree
_RIGHT = 1e9  # the conformity of a sentence whose tree is right, and so in any set


def tree_set(
    probabilities: npt.ArrayLike, threshold: float, heads: npt.ArrayLike, *, scores: FloatArray | None = None
) -> TreeSet:
    """Return the set of plausible trees of a sentence.

    Parameters
    ----------
    probabilities : array-like, (n, n+1)
        The probability of each arc, as `marginals` returns it.
    threshold : float
        The least probability of an arc in the set, times the number of tokens: for a chosen coverage,
        `Calibration.threshold(coverage, "sentence")`.
    heads : array-like of ints, (n,)
        A single-rooted tree that is in the set in any case, such as the best tree. So no set is empty.
    scores : ndarray, (n, n+1)
        The arc scores by which trees are ordered, to list them.

    Returns
    -------
    TreeSet

    Notes
    -----
    Split conformal prediction with the sentence as its unit. Heads that are in no single-rooted tree of the set are
    removed, exactly: they are those whose arcs have no share in the partition function of the set. That loses no tree.
    O(n^3) time.

    Trees with crossing arcs count, also if the parser decodes projective trees: the right tree may be one.

    If the sentences to parse are exchangeable with those that the threshold comes from, which the scorer was not
    trained on, the set contains the right tree, provided that it has one root, with a probability of at least the
    coverage: on average over sentences, not for small sets alone.

    Examples
    --------
    >>> from spacy_mindroot.inference import marginals
    >>> from spacy_mindroot.inference.tree_sets import tree_set
    >>> p = marginals([[2, 0, 1, 0], [3, 1, 0, 0], [0, 1, 3, 0]])
    >>> found = tree_set(p, 0.6, [2, 0, 2])
    >>> found.size, [own.tolist() for own in found.heads]
    (2, [[2, 0], [0, 1], [2]])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    # The product is that of `sentence_conformities`: a quotient would round to another side of the threshold.
    sets = head_sets(p * len(p), threshold, heads=heads)
    allowed = np.full(p.shape, -np.inf)
    for token, own in enumerate(sets):
        allowed[token, own] = 0.0
    log_size, shares = infer(allowed)
    pruned = [own[shares[token, own] > 0] for token, own in enumerate(sets)]
    try:
        size: int | float = math.exp(log_size)
    except OverflowError:
        size = math.inf
    if log_size < _EXACT:
        size = round(size)
    trees: list[Heads] = []
    if scores is not None and size <= _LISTED:
        found = kbest_matrix(np.where(allowed == 0, scores, -np.inf), int(size))
        assert not isinstance(found, Fault)  # `heads` is a tree
        trees = [tree for tree, _ in found]
    return TreeSet(size, pruned, trees)


def sentence_conformities(
    of_tokens: Sequence[npt.NDArray[np.float64]], gold_heads: Sequence[npt.ArrayLike]
) -> list[npt.NDArray[np.float64]]:
    """Return the conformity of each sentence with a whole tree, as an array of length 1, from those of its tokens.

    It is the least probability of its right heads, times the number of its tokens: each token of a long sentence gets a
    smaller part of the errors that are allowed. If the decoded tree is right, it is greater than any other.
    """
    found = []
    for own, heads in zip(of_tokens, gold_heads, strict=True):
        gold = np.asarray(heads)
        if len(own) == len(gold) > 0:
            value = float(own.min())
            if np.count_nonzero(gold == 0) != 1:  # in no set of single-rooted trees
                value = -1.0
            found.append(np.array([_RIGHT if value == 1 else value * len(own)]))
    return found
