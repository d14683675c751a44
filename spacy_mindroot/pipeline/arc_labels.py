"""An alternative to arrays in `doc._.arc_labels`: labels that are scored only for the arcs of a tree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import srsly
from spacy.tokens import Doc

from ..doc.extensions import read_extension, write_extension

__all__ = ["ArcLabels", "score_all_labels"]

Labels = npt.NDArray[np.unsignedinteger[Any]]


class ArcLabels(ABC):
    """The best label of each arc of a sentence, found when it is asked for.

    A parse needs the labels of n arcs out of n(n+1). If all of them are wanted, this is an array of unsigned ints,
    (n, n+1), laid out like the arc scores: `numpy.asarray(labels)` scores all arcs. So does storing it: a copy, a
    pickle, and a Doc that is restored from bytes hold an array.

    shape (tuple[int, int]): (n, n+1).
    dtype (np.dtype): An unsigned integer type.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @abstractmethod
    def of_tree(self, heads: npt.NDArray[np.integer[Any]]) -> Labels:
        """Return the best label of the arc to each token.

        heads (np.ndarray): The head of each token, (n,), 0 = ROOT, j = token j of the sentence.
        RETURNS (np.ndarray): Indexes into `doc._.arc_label_names`, (n,).
        """

    @abstractmethod
    def of_all_arcs(self) -> Labels:
        """Return the best label of every arc, (n, n+1)."""

    def scores_of_tree(self, heads: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.floating[Any]] | None:
        """Return the scores of all labels of the arc to each token: by default, `scores_of_arcs`; None if not known.

        With them, `mind_root` computes the probabilities of labels.

        heads (np.ndarray): As for `of_tree`.
        RETURNS (Optional[np.ndarray]): Log-probabilities, or logits, (n, labels), in the order of
            `doc._.arc_label_names`; -inf for a label that the arc can't have.
        """
        return self.scores_of_arcs(np.arange(len(heads)), heads.astype(np.int64))

    def choose(self, scores: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.integer[Any]]:
        """Return what `of_tree` does, given `scores_of_tree` of the same heads: by default, those that score best."""
        return scores.argmax(axis=1)

    def scores_of_all_arcs(self) -> npt.NDArray[np.floating[Any]] | None:
        """Return the log-probability of every label of every arc; None, the default, if they are not known.

        With them, `mind_root` can choose labels and arcs together, under rules.

        RETURNS (Optional[np.ndarray]): Shape (n, n+1, labels), in the order of `doc._.arc_label_names`; -inf for a
            label that the arc can't have.
        """
        return None

    def scores_of_arcs(
        self, dependents: npt.NDArray[np.int64], heads: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32] | None:
        """Return the log-probability of every label of some arcs; None, the default, to score all arcs instead.

        With rules, `mind_root` asks for the arcs that could be in the best tree, a small part of all.

        dependents, heads (np.ndarray): The tokens of each arc, (arcs,): dependents from 0; heads, 0 = ROOT, j = token j
            of the sentence.
        RETURNS (Optional[np.ndarray]): Shape (arcs, labels), C-contiguous, otherwise as `scores_of_all_arcs`.
        """
        return None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self.of_all_arcs()[index]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        labels = self.of_all_arcs()
        return labels if dtype is None else labels.astype(dtype)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[npt.NDArray[Any]]]:
        return np.asarray, (self.of_all_arcs(),)


@srsly.msgpack_encoders("spacy-mindroot.arc_labels")
def encode_arc_labels(obj: Any, chain: Callable[[Any], Any] | None = None) -> Any:
    """Return what `Doc.to_bytes` is to store: the array in place of ArcLabels, and anything else as it is."""
    if isinstance(obj, ArcLabels):
        obj = np.asarray(obj)
    return obj if chain is None else chain(obj)


def score_all_labels(doc: Doc) -> None:
    """Replace each ArcLabels in `doc._.arc_labels` by its array, which needs the scorer no longer."""
    labels = read_extension(doc, "arc_labels")
    if isinstance(labels, (list, tuple)) and any(isinstance(own, ArcLabels) for own in labels):
        arrays = [np.asarray(own) if isinstance(own, ArcLabels) else own for own in labels]
        write_extension(doc, "arc_labels", arrays)
