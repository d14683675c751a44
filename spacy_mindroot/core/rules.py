"""What the search for the best labelled tree under rules finds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Found"]


class Found(NamedTuple):
    """The result of a search.

    Attributes
    ----------
    heads, labels : ndarrays of int32, (n,), or None
        The best valid tree, and the number of each label. None if no valid tree was found.
    value : float
        Its weight, as the search computed it.
    bound : float
        No valid tree weighs more. Equal to `value` if the search is complete; -inf if it found that there is no tree.
    nodes : int
        The number of relaxations that were solved.
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
