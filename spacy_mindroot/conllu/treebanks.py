"""The related treebank that each token of a mixed training set comes from, for the embedding to know it.

It is kept in `doc._.treebanks`. Nothing sets it in prediction: parsed text counts as text of the treebank itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..doc.extensions import read_extension, write_extension
from ..doc.reading import sentence_lengths
from .sentence import Sentence

__all__ = ["COMMENT", "mark_docs", "treebank_of", "treebanks_of"]

COMMENT = "related_treebank"  # of sentences of related treebanks
_OWN = 0


def treebanks_of(sentences: Sequence[Sentence]) -> list[int]:
    """Return the hash of the related treebank that each sentence names in a comment; 0 if it names none."""
    names = [sentence.comment(COMMENT) for sentence in sentences]
    return [_OWN if name is None else int(get_string_id(name)) for name in names]


def treebank_of(doc: Doc) -> int:
    """Return the hash of the related treebank of a Doc with one sentence; 0 for none."""
    marks = read_extension(doc, "treebanks")
    return int(marks[0]) if marks is not None and len(marks) else _OWN


def mark_docs(reference: Doc, docs: Sequence[Doc], treebanks: Sequence[int]) -> None:
    """Set `doc._.treebanks`, the treebank of each token, (N,) uint64, if there are related ones.

    reference (Doc): A Doc with sentences, and with the tokens of `docs`.
    treebanks (Sequence[int]): The treebank of each of its sentences.
    """
    lengths = sentence_lengths(reference) if any(treebanks) else None
    if lengths is not None:
        marks: npt.NDArray[np.uint64] = np.repeat(np.array(treebanks, dtype=np.uint64), lengths)
        for doc in docs:
            write_extension(doc, "treebanks", marks)
