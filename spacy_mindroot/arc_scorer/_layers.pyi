from typing import Any

def __getattr__(name: str) -> Any: ...  # the arguments are described in _layers.pyx
