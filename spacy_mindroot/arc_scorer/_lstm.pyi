from typing import Any

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float32]

def forward(lengths: npt.NDArray[np.int64], R: Any, gates: _Floats, cells: _Floats, hidden: _Floats) -> None: ...
def backward(
    lengths: npt.NDArray[np.int64], R: Any, gates: _Floats, cells: _Floats, d_hidden: _Floats, d_gates: _Floats
) -> None: ...
