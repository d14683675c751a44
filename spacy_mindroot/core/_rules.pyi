from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .fault import Fault
from .rules import Found

class Prepared:
    def __init__(self, compiled: Any) -> None: ...

def search(
    arcs: npt.NDArray[np.float64],
    labels: npt.NDArray[np.floating[Any]],
    kinds: npt.NDArray[np.int32],
    head_kinds: npt.NDArray[np.int32],
    rules: Any,
    max_nodes: int,
    projective: bool = False,
    rows_of_arcs: npt.NDArray[np.int32] | None = None,
) -> Found | Fault: ...
def search_on_demand(
    arcs: npt.NDArray[np.float64],
    score_arcs: Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.NDArray[np.float32] | None],
    kinds: npt.NDArray[np.int32],
    head_kinds: npt.NDArray[np.int32],
    rules: Any,
    max_nodes: int,
    projective: bool = False,
    within: float = 4.0,
) -> Found | None: ...
