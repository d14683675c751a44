"""Decodes the sentences of a corpus in batches, without and with the root constraint.

`spacy mindroot decode` and `spacy mindroot audit` share this loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ..decoding import Heads
from ..scored import ScoredSentence, decode_both
from ..trees import count_roots

__all__ = ["DecodedSentence", "decode_sentences"]

_BATCH = 1000  # sentences per call of the core


class DecodedSentence(NamedTuple):
    """A sentence with its best trees.

    sentence (ScoredSentence): The sentence.
    unconstrained (np.ndarray): (n,), the heads of the best unconstrained tree, 0 = ROOT.
    single_root (np.ndarray): (n,), the heads of the best single-rooted tree, 0 = ROOT.
    seconds (float): Its share of the time that decoding its batch took with the root constraint.
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

    source (str): Name of the file or corpus, for errors.
    RAISES (DecodingError): For the first sentence that has no single-rooted tree. The message names it and `source`.
    """
    stream, first = iter(sentences), 0
    while batch := list(islice(stream, _BATCH)):
        decoded = decode_both(batch, source=source, first=first)
        first += len(batch)
        seconds = decoded.seconds / len(batch)
        for sentence, before, after in zip(batch, decoded.unconstrained, decoded.single_root, strict=True):
            yield DecodedSentence(sentence, before, after, seconds)
