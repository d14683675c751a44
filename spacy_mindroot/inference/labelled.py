"""Probabilities of arcs and their labels: the multigraph in which each arc occurs once per label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import ScoresShapeError
from ..scores import to_floats, to_root_column
from .matrix_tree import marginals

__all__ = ["labelled_marginals"]


def labelled_marginals(
    scores: npt.ArrayLike, *, single_root: bool = True, projective: bool = False
) -> npt.NDArray[np.float64]:
    """Return the probability of each labelled arc: the share of exp(weight) that the trees with this arc have.

    Parameters
    ----------
    scores : array-like, (n, n+1, labels)
        The score of each label of each arc: `scores[i, h, l]` for head h of token i, column 0 is ROOT; -inf forbids a
        labelled arc. A scorer with separate arc scores and label scores has `arcs[:, :, None] + labels`, where labels
        may be log-probabilities given the arc, or logits.
    single_root, projective
        As for `marginals`.

    Returns
    -------
    ndarray of float64, (n, n+1, labels)
        For each token, they sum to 1. The sum over labels is the probability of the arc.

    Raises
    ------
    ScoresShapeError
        If the scores have another shape.
    MindRootError
        As `marginals`.

    Notes
    -----
    O(n^3 + n^2 labels) time. The weight of a labelled tree is the sum of the scores of its labelled arcs, so summing
    over all labels of an arc gives an arc of score log(sum(exp(scores[i, h, :]))), and the marginals of the trees over
    these arcs are exact. Given its arc, a label does not depend on the rest of the tree. In particular, label scores
    that are log-probabilities given the arc change no probability of an arc.

    Examples
    --------
    A token, and two labels for the arc from ROOT:

    >>> import numpy as np
    >>> from spacy_mindroot.inference import labelled_marginals
    >>> labelled_marginals(np.log([[[0.6, 0.2], [1, 1]]])).round(2)
    array([[[0.75, 0.25],
            [0.  , 0.  ]]])
    """
    array = to_floats(scores)
    if array.ndim != 3 or array.shape[1] != array.shape[0] + 1 or array.shape[2] == 0:
        raise ScoresShapeError(
            f"labelled arc scores have shape {array.shape}. They must be (n, n+1, labels), with at least one label."
        )
    n = array.shape[0]
    values = array.astype(np.float64)
    tokens = np.arange(n)
    values[tokens, tokens + 1] = -np.inf  # self arcs are never read
    best = values.max(axis=2)
    shift = np.where(best == -np.inf, 0, best)[:, :, np.newaxis]
    weights = np.exp(values - shift)
    sums = weights.sum(axis=2)
    with np.errstate(divide="ignore"):
        of_arcs = to_root_column(np.log(sums) + shift[:, :, 0])
    probabilities = marginals(of_arcs, single_root=single_root, projective=projective)
    of_labels: npt.NDArray[np.float64] = weights / np.where(sums == 0, 1, sums)[:, :, np.newaxis]
    return of_labels * probabilities[:, :, np.newaxis]
