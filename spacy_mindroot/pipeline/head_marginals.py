"""The probability of every arc of a Doc, from the arc scores that are kept on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..decoding import decode_matrices
from ..doc.extensions import read_extension
from ..doc.reading import read_arc_constraints, sentence_bounds
from ..errors import MindRootError
from ..inference.arc_confidence import confidences_of
from ..scores import to_root_column

__all__ = ["head_marginals"]


def head_marginals(doc: Doc) -> list[npt.NDArray[np.float64]] | None:
    """Return the probability of every arc, over all single-rooted trees that meet `doc._.arc_constraints`.

    They are calibrated, and those of projective trees, as `token._.head_prob` is: `mind_root` notes both in
    `doc._.arc_distribution` if `keep_scores` and `confidence` are true.

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
    distribution = read_extension(doc, "arc_distribution") or {}
    try:
        if constraints:
            known = read_arc_constraints(doc, constraints, lengths)
            matrices = [own.mask(matrix) if own else matrix for own, matrix in zip(known, matrices, strict=True)]
        matrices = [to_root_column(matrix) for matrix in matrices]
        heads, faults = decode_matrices(matrices, projective=distribution.get("projective", False))
        return None if faults else confidences_of(matrices, heads, **distribution, marginals=True)[1]
    except MindRootError:  # the tree on the Doc is from other scores
        return None
