from typing import Any

import numpy as np
import numpy.typing as npt

from .fault import Fault

_Floats = npt.NDArray[np.floating[Any]]  # float32 or float64
_Doubles = npt.NDArray[np.float64]
_Heads = npt.NDArray[np.int32]

def is_readable(array: object) -> bool: ...
def decode(scores: _Floats, heads: _Heads, single_root: bool = True, projective: bool = False) -> Fault | None: ...
def greedy_heads(scores: _Floats, heads: _Heads) -> Fault | None: ...
def k_best(scores: _Floats, k: int, single_root: bool = True, projective: bool = False) -> bytearray | Fault: ...
def decode_batch(
    matrices: list[_Floats], heads: _Heads, single_root: bool = True, n_threads: int = 1, projective: bool = False
) -> list[Fault]: ...
def best_others(
    matrices: list[_Floats],
    heads: _Heads,
    own: _Doubles,
    other: _Doubles,
    found: npt.NDArray[np.int8],
    projective: bool = False,
) -> Fault | None: ...
def confidence(
    matrices: list[_Floats],
    heads: _Heads,
    temperature: float,
    lapse: float,
    head_prob: _Doubles,
    head_entropy: _Doubles,
    tree_logprob: _Doubles,
    marginals: list[_Doubles] | None = None,
    projective: bool = False,
) -> None: ...
def measure(lengths: npt.NDArray[np.int64]) -> tuple[int, int] | None: ...
def decode_flat(
    flat: _Floats,
    lengths: npt.NDArray[np.int64],
    heads: _Heads,
    single_root: bool = True,
    n_threads: int = 1,
    projective: bool = False,
) -> list[Fault]: ...
def is_tree(heads: _Heads) -> bool: ...
