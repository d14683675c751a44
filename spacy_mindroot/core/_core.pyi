from typing import Any

import numpy as np
import numpy.typing as npt

from .fault import Fault

_Floats = npt.NDArray[np.floating[Any]]  # float32 or float64

def is_readable(array: object) -> bool: ...
def decode(
    scores: _Floats, heads: npt.NDArray[np.int32], single_root: bool = True, projective: bool = False
) -> Fault | None: ...
def greedy_heads(scores: _Floats, heads: npt.NDArray[np.int32]) -> Fault | None: ...
def k_best(scores: _Floats, k: int, single_root: bool = True, projective: bool = False) -> bytearray | Fault: ...
def decode_batch(
    matrices: list[_Floats],
    heads: npt.NDArray[np.int32],
    single_root: bool = True,
    n_threads: int = 1,
    projective: bool = False,
) -> list[Fault]: ...
def best_others(
    matrices: list[_Floats],
    heads: npt.NDArray[np.int32],
    own: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
    found: npt.NDArray[np.int8],
    projective: bool = False,
) -> Fault | None: ...
def confidence(
    matrices: list[_Floats],
    heads: npt.NDArray[np.int32],
    temperature: float,
    lapse: float,
    head_prob: npt.NDArray[np.float64],
    head_entropy: npt.NDArray[np.float64],
    tree_logprob: npt.NDArray[np.float64],
    marginals: list[npt.NDArray[np.float64]] | None = None,
    projective: bool = False,
) -> None: ...
def measure(lengths: npt.NDArray[np.int64]) -> tuple[int, int] | None: ...
def decode_flat(
    flat: _Floats,
    lengths: npt.NDArray[np.int64],
    heads: npt.NDArray[np.int32],
    single_root: bool = True,
    n_threads: int = 1,
    projective: bool = False,
) -> list[Fault]: ...
def is_tree(heads: npt.NDArray[np.int32]) -> bool: ...
