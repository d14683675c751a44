"""Sentences with their arc scores, from a score file or a corpus, and their best trees."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from .core.fault import Fault
from .decoding import Heads, decode_matrices
from .faults import decoding_error
from .labels import UD_ROOT, is_root_label
from .scores import FloatArray, Ints
from .trees import count_roots

__all__ = ["DecodedSentence", "ScoredSentence", "decode_sentences", "raise_fault"]

_BATCH = 1000  # sentences per call of the core


@dataclass(frozen=True)
class ScoredSentence:
    """One sentence of n tokens with its arc scores.

    Attributes
    ----------
    scores : ndarray of float32 or float64, (n, n+1)
        Arc scores, `[dependent, head]`, column 0 = ROOT.
    words : list of str, (n,)
        The tokens; "_" for each if they are unknown.
    best_labels : ndarray of ints, (n, n+1), or None
        The best label of each arc, as an index into `label_names`.
    label_names : list of str
        All labels.
    gold_heads : ndarray of ints, (n,), or None
        0 = ROOT, j = token j-1; -1 where the head is unknown (`trees.MISSING`).
    gold_labels : list of str, (n,), or None
        The gold label of each token.
    name : str
        The name of the sentence in reports, if it has one.
    label_scores : ndarray of float32 or float64, (n, n+1, labels), or None
        The score of each label of each arc, if they are needed.
    pos : list of str, (n,), or None
        Parts of speech as the pipeline sets them.
    """

    scores: FloatArray
    words: list[str]
    best_labels: Ints | None
    label_names: list[str]
    gold_heads: Ints | None = None
    gold_labels: list[str] | None = None
    name: str = ""
    label_scores: FloatArray | None = None
    pos: list[str] | None = None

    def labels(self, heads: Ints) -> list[str]:
        """Return the UD labels of a tree with these heads, (n,), 0 = ROOT.

        The label is `root` on root arcs and nowhere else. It is `dep` where no other label is known.

        >>> import numpy as np
        >>> from spacy_mindroot.scored import ScoredSentence
        >>> best = np.array([[0, 1, 1], [1, 2, 1]])
        >>> sentence = ScoredSentence(np.zeros((2, 3)), ["They", "win"], best, ["root", "nsubj", "obj"])
        >>> sentence.labels(np.array([2, 0]))
        ['nsubj', 'root']
        """
        if self.best_labels is None:
            names = ["dep"] * len(heads)
        else:
            names = [self.label_names[label] for label in self.best_labels[np.arange(len(heads)), heads].tolist()]
        return [
            UD_ROOT if head == 0 else "dep" if not name or is_root_label(name) else name
            for head, name in zip(heads, names, strict=True)
        ]


class DecodedSentence(NamedTuple):
    """A sentence with the heads, (n,), of its best trees without and with the root constraint.

    `seconds` is its share of the time that decoding its batch took with the constraint.
    """

    sentence: ScoredSentence
    unconstrained: Heads
    single_root: Heads
    seconds: float

    @property
    def multi_rooted(self) -> bool:
        """Whether the best unconstrained tree has more than one root."""
        return count_roots(self.unconstrained) > 1


def decode_sentences(sentences: Iterable[ScoredSentence], *, source: str) -> Iterator[DecodedSentence]:
    """Yield every sentence, in order, with its best trees. Only one batch is held in memory.

    Raise DecodingError for the first sentence that has no single-rooted tree. The message names it and `source`, the
    file or corpus.
    """
    stream, first = iter(sentences), 0
    while batch := list(islice(stream, _BATCH)):
        matrices = [sentence.scores for sentence in batch]
        began = time.perf_counter()
        single_root, faults = decode_matrices(matrices)
        seconds = (time.perf_counter() - began) / len(batch)
        raise_fault(faults, batch, source=source, first=first)
        # A sentence with a single-rooted tree has an unconstrained one, so only memory can be short here.
        unconstrained, faults = decode_matrices(matrices, single_root=False)
        raise_fault(faults, batch, source=source, first=first)
        first += len(batch)
        for sentence, before, after in zip(batch, unconstrained, single_root, strict=True):
            yield DecodedSentence(sentence, before, after, seconds)


def raise_fault(
    faults: Sequence[Fault],
    sentences: Sequence[ScoredSentence],
    *,
    source: str,
    first: int = 0,
    projective: bool = False,
) -> None:
    """Raise a DecodingError for the first sentence that could not be decoded, if there is one.

    `faults` are those of `decode_matrices` for `sentences`, the first of which has the index `first` in `source`, the
    file or corpus.
    """
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
