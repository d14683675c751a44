"""Runs a target on its corpus and on random mutations of it, with a limit on the time of each input."""

from __future__ import annotations

import hashlib
import random
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .mutation import mutated
from .targets import TARGETS, Target, corpus_files

SECONDS_PER_INPUT = 20  # of processor time


class TooSlow(BaseException):
    """An input takes longer than `SECONDS_PER_INPUT`. Not an `Exception`, so that no code under test catches it."""


class Found(NamedTuple):
    """An input that breaks a property.

    data (bytes): The input.
    error (BaseException): What was raised.
    """

    data: bytes
    error: BaseException


def check(target: Target, data: bytes) -> Found | None:
    """Return what is wrong for an input, None if nothing is."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), _limited():
        warnings.simplefilter("ignore")
        try:
            target.check(data, Path(folder))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return Found(data, error)
    return None


def replay(target: Target) -> dict[str, Found | None]:
    """Check the files in the corpus of a target, and return what was found for each."""
    found = {}
    for path in corpus_files(*target.folders):
        data = path.read_bytes()
        if target.name == "files":
            data = hashlib.sha256(data).digest()[:8] + data
        found[f"{path.parent.name}/{path.name}"] = check(target, data)
    return found


def fuzz(name: str, seconds: float, seed: int) -> tuple[int, Found | None]:
    """Check random inputs until the time is up or a property fails.

    RETURNS (tuple[int, Optional[Found]]): The number of inputs, and the one that failed.
    """
    target = TARGETS[name]()
    seeds = target.seeds()
    rng = random.Random(seed)
    tried = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        tried += 1
        data = mutated(seeds, target.mutations, rng)
        if name == "files":  # other options, too
            data = rng.randbytes(8) + data[8:]
        if found := check(target, data):
            return tried, found
    return tried, None


@contextmanager
def _limited() -> Iterator[None]:
    """Raise TooSlow in the block if it takes too much processor time or never ends. It needs signals of POSIX."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooSlow(f"an input that takes more than {SECONDS_PER_INPUT} seconds")

    before = signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_INPUT)
    signal.setitimer(signal.ITIMER_REAL, 20 * SECONDS_PER_INPUT)  # a machine may be busy
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])
