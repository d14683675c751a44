from typing import Any

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.floating[Any]]  # float32 or float64

def log_partition(
    scores: _Floats, marginals: npt.NDArray[np.float64] | None, single_root: bool = True, projective: bool = False
) -> float: ...
def forbid_masks(
    scores: npt.NDArray[np.float64], single_root: bool = True, projective: bool = False, temperature: float = 1
) -> None: ...
def sample_trees(
    scores: _Floats, roots: npt.NDArray[np.int32] | None, seed: int, heads: npt.NDArray[np.int32]
) -> None: ...
