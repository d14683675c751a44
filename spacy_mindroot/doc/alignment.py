"""Aligns the tokens of an Example's reference with the tokens of its predicted Doc."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import ORTH
from spacy.tokens import Doc
from spacy.training import Example

__all__ = ["UNALIGNED", "one_to_one"]

UNALIGNED = -1


def one_to_one(example: Example) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the reference token of each predicted token, and the predicted token of each reference token.

    UNALIGNED where a token is aligned to none or to several tokens, or where another token is aligned to the same one.
    """
    if _orths(example.predicted) == _orths(example.reference):  # the usual case in training; aligning takes far longer
        tokens = np.arange(len(example.reference))
        return tokens, tokens
    forth, back = example.alignment.x2y, example.alignment.y2x
    return _mutual(forth, back), _mutual(back, forth)


def _orths(doc: Doc) -> list[int]:
    orths: list[int] = doc.to_array(ORTH).tolist()
    return orths


def _mutual(forth: Any, back: Any) -> npt.NDArray[np.int64]:
    lengths = np.asarray(forth.lengths)
    single = np.flatnonzero(lengths == 1)
    targets = np.asarray(forth.data)[(np.cumsum(lengths) - lengths)[single]]
    mutual = np.asarray(back.lengths)[targets] == 1
    aligned = np.full(len(lengths), UNALIGNED, dtype=np.int64)
    aligned[single[mutual]] = targets[mutual]
    return aligned
