"""The probability of every arc of a Doc, from the arc scores that are kept on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..decoding import decode_matrices
from ..doc.extensions import read_extension
from ..doc.reading import read_arc_constraints, sentence_bounds
from ..errors import MindRootError, NoTreeError
from ..inference.arc_confidence import confidences_of
from ..scores import FloatArray, to_root_column

__all__ = ["head_marginals"]

_SAME = 1e-6  # greater differences of probabilities are not due to rounding


def head_marginals(doc: Doc) -> list[npt.NDArray[np.float64]] | None:
    """Return the probability of every arc, over all single-rooted trees that meet `doc._.arc_constraints`.

    They are calibrated, and those of projective trees, as `token._.head_prob` is: `mind_root` notes both in
    `doc._.arc_distribution` if `keep_scores` and `confidence` are true. Where `token._.head_prob` is another
    probability nevertheless, it counts, and those of the other heads of the token are scaled, so that all sum to 1.

    `doc._.arc_scores` must be in the layout `root_column`, as `arc_scorer` sets them.

    RETURNS (Optional[list[np.ndarray]]): One array per sentence of `doc.sents`, (n, n+1), `[dependent, head]`, column
        0 = ROOT. None if the Doc has no scores, or scores of other sentences.
    """
    scores: Any = read_extension(doc, "arc_scores")
    lengths = [end - start for start, end in sentence_bounds(doc)]
    if not isinstance(scores, (list, tuple)) or [np.shape(own) for own in scores] != [(n, n + 1) for n in lengths]:
        return None
    matrices = [np.asarray(own) for own in scores]
    constraints = read_extension(doc, "arc_constraints")
    try:
        if constraints:
            known = read_arc_constraints(doc, constraints, lengths)
            matrices = [own.mask(matrix) if own else matrix for own, matrix in zip(known, matrices, strict=True)]
        found = _calibrated(matrices, read_extension(doc, "arc_distribution") or {})
    except MindRootError:  # the tree on the Doc is from other scores
        return None
    for (start, end), own, matrix in zip(sentence_bounds(doc), found, matrices, strict=True):
        for i, token in enumerate(doc[start:end]):
            prob = token._.head_prob
            if prob is not None:
                head = 0 if token.head.i == token.i else token.head.i - start + 1
                if abs(own[i, head] - prob) > _SAME:
                    _set_probability(own[i], head, float(prob), np.isfinite(matrix[i]), own_arc=i + 1)
    return found


def _calibrated(matrices: list[FloatArray], distribution: dict[str, Any]) -> list[npt.NDArray[np.float64]]:
    """Return the probabilities of all arcs of each sentence. RAISES (MindRootError): If that is not possible."""
    matrices = [to_root_column(matrix) for matrix in matrices]
    heads, faults = decode_matrices(matrices, projective=distribution.get("projective", False))
    if faults:
        raise NoTreeError("no tree can be decoded from these scores.")
    _, found = confidences_of(matrices, heads, **distribution, marginals=True)
    return found


def _set_probability(
    row: npt.NDArray[np.float64], head: int, prob: float, allowed: npt.NDArray[np.bool_], *, own_arc: int
) -> None:
    """Set the probability of a head, and scale those of the others; in place."""
    rest = row.sum() - row[head]
    if rest > 0:
        row *= max(0.0, 1.0 - prob) / rest
    else:
        others = allowed.copy()
        others[[head, own_arc]] = False
        if others.any():
            row[others] = max(0.0, 1.0 - prob) / others.sum()
    row[head] = prob
