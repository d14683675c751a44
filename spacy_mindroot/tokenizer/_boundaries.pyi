import numpy as np
import numpy.typing as npt

_Bytes = npt.NDArray[np.uint8]

def find(
    characters: npt.NDArray[np.uint32],
    types: _Bytes,
    rules: _Bytes | None,
    next: int,
    weights: npt.NDArray[np.float32],
    whole_clusters: bool,
    found: npt.NDArray[np.int8],
) -> None: ...
def learn(
    characters: npt.NDArray[np.uint32],
    types: _Bytes,
    rules: _Bytes | None,
    starts: npt.NDArray[np.intc],
    nexts: _Bytes,
    gold: npt.NDArray[np.int8],
    weights: npt.NDArray[np.float32],
    whole_clusters: bool,
    epochs: int,
    seed: int,
) -> None: ...
