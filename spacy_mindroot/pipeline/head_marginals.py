"""The probability of every arc of a Doc, from the arc scores that are kept on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..errors import MindRootError
from ..inference.matrix_tree import marginals_batch
from .extensions import read_extension
from .reading import read_arc_constraints, sentence_bounds

__all__ = ["head_marginals"]


def head_marginals(doc: Doc) -> list[npt.NDArray[np.float64]] | None:
    """Return the probability of every arc, over all single-rooted trees that meet `doc._.arc_constraints`.

    doc (Doc): A Doc with `doc._.arc_scores` in the layout `root_column`, as `arc_scorer` sets them. `mind_root` keeps
        them if its setting `keep_scores` is true.
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
        return list(marginals_batch(matrices))
    except MindRootError:  # the tree on the Doc is from other scores
        return None
