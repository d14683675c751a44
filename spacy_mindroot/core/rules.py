"""Result of the search for the best labelled tree under rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Found"]


class Found(NamedTuple):
    """The result of a search: the heads and the numbers of the labels of the best valid tree, if one was found.

    `value` is its weight, as the search computed it. No valid tree weighs more than `bound`, which is equal to `value`
    if the search is complete, and -inf if it found that there is no tree. `nodes` relaxations were solved.
    """

    heads: npt.NDArray[np.int32] | None
    labels: npt.NDArray[np.int32] | None
    value: float
    bound: float
    nodes: int

    @property
    def tree(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Heads and labels, if a valid tree was found."""
        assert self.heads is not None and self.labels is not None
        return self.heads, self.labels
