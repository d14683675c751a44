from typing import Any

import numpy as np
import numpy.typing as npt

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
def drop_keys(data: dict[Any, Any], names: frozenset[str]) -> None: ...
def write_values(data: dict[Any, Any], name: str, places: list[list[int]], start: int, values: list[Any]) -> None: ...
