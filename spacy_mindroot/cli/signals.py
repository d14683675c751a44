"""Turns termination signals into exceptions, so that commands can clean up."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["raised_signals"]

_GRACE = 10.0  # seconds to clean up


@contextmanager
def raised_signals(names: tuple[str, ...], error: Callable[[int], BaseException]) -> Iterator[None]:
    """Raise an exception at the first of some signals. The others are ignored from then on, while it cleans up.

    If that has not come to an end after some seconds, because a file system hangs, say, the process ends all the same.

    Signals that have a handler of their own keep it, as do those of threads other than the main one.

    names (tuple[str, ...]): Names of signals, such as "SIGTERM". Those that the system lacks are skipped.
    error (Callable[[int], BaseException]): Returns the exception for the number of a signal.
    """
    before: dict[int, Any] = {}
    timers: list[threading.Timer] = []

    def stop(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        timers.append(threading.Timer(_GRACE, os._exit, [128 + number]))
        timers[0].daemon = True
        timers[0].start()
        raise error(number)

    if threading.current_thread() is threading.main_thread():
        for name in names:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
