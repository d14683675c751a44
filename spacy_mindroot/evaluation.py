"""How good heads are, and whether they are well formed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer[Any]]


def unlabelled_attachment_score(heads: Sequence[Ints], gold: Sequence[Ints]) -> float:
    """The share of all tokens whose head is the gold head (punctuation counts too); 0 if there are no tokens.

    heads, gold (Sequence[np.ndarray]): Heads of each sentence, 0 = ROOT.
    """
    right = sum(int(np.count_nonzero(own == theirs)) for own, theirs in zip(heads, gold, strict=True))
    tokens = sum(map(len, gold))
    return right / tokens if tokens else 0.0
