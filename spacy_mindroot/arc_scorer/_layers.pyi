from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float32]
_Ints = npt.NDArray[np.int64]

def set_symbols(numbers: Mapping[str, int]) -> None: ...
def ngram_rows(words: Sequence[str], rows: int, shortest: int, longest: int) -> tuple[bytes, bytes]: ...
def sum_rows(table: Any, rows: npt.NDArray[np.int32], counts: npt.NDArray[np.int32], sums: _Floats) -> None: ...
def maxout_norm(
    products: Any,
    bias: Any,
    gain: Any,
    shift: Any,
    residual: Any | None,
    output: _Floats,
    which: npt.NDArray[np.int32] | None,
    normalized: _Floats | None,
    scales: _Floats | None,
) -> None: ...
def backprop_maxout_norm(
    d_output: Any,
    gain: Any,
    which: npt.NDArray[np.int32],
    normalized: _Floats,
    scales: _Floats,
    d_products: Any,
    d_bias: Any,
    d_gain: Any,
    d_shift: Any,
) -> None: ...
def log_softmax(scores: Any, output: Any) -> None: ...
def add_distances(
    scores: Any, starts: _Ints, lengths: _Ints, of_dependent: Any, of_head: Any, edges: _Ints
) -> None: ...
def mask_arcs(scores: Any, lengths: _Ints) -> None: ...
def label_scores(
    dependents: _Ints, heads: _Ints, queries: Any, vectors: Any, by_distance: Any, edges: _Ints, output: Any
) -> None: ...
def adam(
    weights: Any,
    gradient: Any,
    mean: Any,
    square: Any,
    average: Any | None,
    beta1: float,
    beta2: float,
    epsilon: float,
    rate: float,
    decay: float,
    toward: float,
    largest_norm: float,
) -> None: ...
