from typing import Any

import numpy as np
import numpy.typing as npt

from .fault import Fault
from .rules_reference import Found

def search(
    arcs: npt.NDArray[np.float64],
    labels: npt.NDArray[np.floating[Any]],
    kinds: npt.NDArray[np.int32],
    head_kinds: npt.NDArray[np.int32],
    rules: Any,
    max_nodes: int,
    projective: bool = False,
) -> Found | Fault: ...
