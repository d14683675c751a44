"""The labels that `arc_scorer` leaves on a Doc. They are computed when they are read: for a tree, or for all arcs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from thinc.api import Ops

from ..pipeline.arc_labels import ArcLabels
from .batching import Group
from .label_biaffine import LabelScores
from .products import one_thread

__all__ = ["LabelsOnDemand"]


class LabelsOnDemand(ArcLabels):
    """The best labels of the arcs of one sentence of a batch: 0 is ROOT's, which the arcs from ROOT have and no others.

    The sentence is in a row of a group. `ops` is the device of its label scores, `dtype` has room for all labels.
    """

    def __init__(self, ops: Ops, scores: LabelScores, sentence: int, group: Group, row: int, dtype: Any) -> None:
        n = int(scores.batch.lengths[sentence])
        self.shape = (n, n + 1)
        self._ops, self._scores, self._sentence = ops, scores, sentence
        self._group, self._row, self.dtype = group, row, np.dtype(dtype)

    def of_tree(self, heads: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.unsignedinteger[Any]]:
        with one_thread():
            return self._scores.best_of_tree(self._sentence, heads).astype(self.dtype)

    def scores_of_tree(self, heads: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.floating[Any]]:
        with one_thread():
            scores = self._ops.to_numpy(self._scores.of_tree(self._sentence, heads))
        return _with_root(scores, heads == 0)

    def of_all_arcs(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        with one_thread():
            best = [self._ops.to_numpy(part.argmax(axis=3)[0]) + 1 for part in self._scores.of_all_arcs(self._own())]
        labels: npt.NDArray[Any] = np.concatenate(best)
        labels[:, 0] = 0
        return labels.astype(self.dtype)

    def scores_of_all_arcs(self) -> npt.NDArray[np.floating[Any]]:
        with one_thread():
            parts = [self._ops.to_numpy(part[0]) for part in self._scores.of_all_arcs(self._own())]
        scores = np.concatenate(parts)
        scores -= scores.max(axis=2, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=2, keepdims=True))
        return _with_root(scores, np.s_[:, 0])

    def scores_of_arcs(
        self, dependents: npt.NDArray[np.int64], heads: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32] | None:
        if self._ops.xp is not np:
            return None
        with one_thread():
            return self._scores.log_probs(self._sentence, dependents, heads)

    def _own(self) -> Group:
        """Return the group with this sentence alone."""
        n = self.shape[0]
        return replace(
            self._group,
            sentences=self._group.sentences[self._row : self._row + 1],
            starts=self._group.starts[self._row : self._row + 1],
            lengths=self._group.lengths[self._row : self._row + 1],
            tokens=self._group.tokens[self._row : self._row + 1, :n],
            real=self._group.real[self._row : self._row + 1, :n],
        )


def _with_root(scores: npt.NDArray[np.floating[Any]], from_root: Any) -> npt.NDArray[np.floating[Any]]:
    """Return scores with ROOT's label as the first, which only the arcs at the index `from_root` have, with score 0."""
    found = np.full((*scores.shape[:-1], scores.shape[-1] + 1), -np.inf, dtype=scores.dtype)
    found[..., 1:] = scores
    found[from_root] = -np.inf
    found[..., 0][from_root] = 0
    return found
