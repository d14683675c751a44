"""The labels that `arc_scorer` leaves on a Doc. They are computed when they are read: for a tree, or for all arcs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..pipeline.arc_labels import ArcLabels
from .batching import Group
from .label_biaffine import LabelScores
from .loss import log_softmax
from .products import one_thread

__all__ = ["LabelsOnDemand"]


class LabelsOnDemand(ArcLabels):
    """The best labels of the arcs of one sentence of a batch: 0 is ROOT's, which the arcs from ROOT have and no others.

    They are on the host. `dtype` has room for all labels.
    """

    def __init__(self, scores: LabelScores, sentence: int, dtype: Any) -> None:
        n = int(scores.batch.lengths[sentence])
        self.shape, self.dtype = (n, n + 1), np.dtype(dtype)
        self._scores, self._sentence = scores, sentence

    def of_tree(self, heads: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.unsignedinteger[Any]]:
        return self._of_arcs(np.arange(len(heads)), heads).argmax(axis=1).astype(self.dtype)

    def of_all_arcs(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        with one_thread():
            best = [part[0].argmax(axis=2) + 1 for part in self._scores.of_all_arcs(self._own())]
        labels: npt.NDArray[Any] = np.concatenate(best)
        labels[:, 0] = 0
        return labels.astype(self.dtype)

    def scores_of_all_arcs(self) -> npt.NDArray[np.floating[Any]]:
        with one_thread():
            scores = np.concatenate([part[0] for part in self._scores.of_all_arcs(self._own())])
        found = np.full((*self.shape, scores.shape[2] + 1), -np.inf, dtype=scores.dtype)
        found[:, 1:, 1:] = log_softmax(np, scores[:, 1:])
        found[:, 0, 0] = 0
        return found

    def scores_of_arcs(
        self, dependents: npt.NDArray[np.int64], heads: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.float32]:
        return log_softmax(np, self._of_arcs(dependents, heads))

    def _of_arcs(
        self, dependents: npt.NDArray[np.int64], heads: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.float32]:
        with one_thread():
            return self._scores.of_arcs(self._sentence, dependents, heads.astype(np.int64))

    def _own(self) -> Group:
        """Return a group with this sentence alone."""
        n, lengths = self.shape[0], self._scores.batch.lengths
        tokens = lengths[: self._sentence].sum() + np.arange(n)[np.newaxis]
        real = np.ones((1, n), dtype=bool)
        return Group(self._scores.ops, np.array([self._sentence]), tokens[:, 0], np.array([n]), tokens, real)
