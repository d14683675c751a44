from typing import Any

import numpy as np
import numpy.typing as npt

from .fault import Fault

_Floats = npt.NDArray[np.floating[Any]]  # float32 or float64

def is_readable(array: object) -> bool: ...
def decode(scores: _Floats, heads: npt.NDArray[np.int32], single_root: bool = True) -> Fault | None: ...
def greedy_heads(scores: _Floats, heads: npt.NDArray[np.int32]) -> Fault | None: ...
def decode_projective(scores: _Floats, heads: npt.NDArray[np.int32], single_root: bool = True) -> Fault | None: ...
def k_best(scores: _Floats, k: int, single_root: bool = True) -> bytearray | Fault: ...
def decode_batch(
    matrices: list[_Floats], heads: npt.NDArray[np.int32], single_root: bool = True, n_threads: int = 1
) -> list[Fault]: ...
def measure(lengths: npt.NDArray[np.int64]) -> tuple[int, int] | None: ...
def decode_flat(
    flat: _Floats,
    lengths: npt.NDArray[np.int64],
    heads: npt.NDArray[np.int32],
    single_root: bool = True,
    n_threads: int = 1,
) -> list[Fault]: ...
def relative_heads(
    heads: npt.NDArray[np.int32],
    lengths: list[int],
    offsets: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
) -> int: ...
def fill_labels(
    labels: npt.NDArray[np.uint64],
    offsets: npt.NDArray[np.int64],
    better: npt.NDArray[np.uint64] | None,
    root: int,
    fallback: int,
) -> None: ...
def boundaries_agree(starts: npt.NDArray[np.uint64], lengths: list[int]) -> bool | None: ...
def is_tree(heads: npt.NDArray[np.int32]) -> bool: ...
