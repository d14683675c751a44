"""Loaded by each worker process of `engine.local_client` when it starts."""

from __future__ import annotations

import signal
import threading
from typing import Any

__all__ = ["dask_setup"]


def dask_setup(worker: Any) -> None:
    """Ignore Ctrl-C, which a terminal sends to all processes: the command ends its workers itself."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
