"""One sentence with its arc scores, as score files and corpora give it, and its best trees with and without the constraint."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .core.fault import Fault
from .decoding import Heads, decode_matrices
from .faults import decoding_error
from .labels import is_root_label
from .scores import FloatArray, Ints


@dataclass(frozen=True)
class ScoredSentence:
    """One sentence of a score file.

    scores (np.ndarray): (n, n+1) arc scores.
    words (list[str]): "_" for each if the file has none.
    best_labels (Optional[np.ndarray]): (n, n+1) indexes into `label_names`: the best label of each arc.
    label_names (Sequence[str]): The labels of the file.
    gold_heads (Optional[np.ndarray]): (n,), 0 = ROOT, -1 = not known.
    gold_labels (Optional[list[str]]): The gold label of each token.
    name (str): What to call the sentence in reports, if anything.
    """

    scores: FloatArray
    words: list[str]
    best_labels: Ints | None
    label_names: list[str]
    gold_heads: Ints | None = None
    gold_labels: list[str] | None = None
    name: str = ""

    def labels(self, heads: Ints) -> list[str]:
        """UD labels of a tree: `root` on the root arc and there alone, `dep` where the file has nothing to say."""
        if self.best_labels is None:
            names = ["dep"] * len(heads)
        else:
            names = [self.label_names[label] for label in self.best_labels[np.arange(len(heads)), heads].tolist()]
        return [
            "root" if head == 0 else "dep" if not name or is_root_label(name) else name
            for head, name in zip(heads, names, strict=True)
        ]


class DecodedBatch(NamedTuple):
    """The best trees of some sentences, and the seconds it took to find those with a single root."""

    unconstrained: list[Heads]
    single_root: list[Heads]
    seconds: float


def decode_both(sentences: Sequence[ScoredSentence], *, source: str, first: int = 0) -> DecodedBatch:
    """Decodes sentences without and with the root constraint.

    source (str): Where they are from, for errors; `first` is the index there of the first of them.
    RAISES (DecodingError): For the first sentence that has no tree with a single root. It names `source`.
    """
    matrices = [sentence.scores for sentence in sentences]
    began = time.perf_counter()
    single_root, faults = decode_matrices(matrices)
    seconds = time.perf_counter() - began
    raise_fault(faults, sentences, source=source, first=first)
    return DecodedBatch(decode_matrices(matrices, single_root=False)[0], single_root, seconds)


def raise_fault(
    faults: Sequence[Fault],
    sentences: Sequence[ScoredSentence],
    *,
    source: str,
    first: int = 0,
    projective: bool = False,
) -> None:
    """Raises DecodingError for the first sentence that could not be decoded, if any. See `decode_both`."""
    for fault in faults:
        sentence = sentences[fault.sentence]
        number = first + fault.sentence
        raise decoding_error(
            fault._replace(sentence=number),
            sentence.scores,
            where=f"sentence {sentence.name or number + 1} of {source}",
            words=sentence.words,
            projective=projective,
        )
