"""How long the decoder takes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from spacy_mindroot import decode_batch

from .families import FAMILIES, sentences


def time_growth(short: int, long: int, repeats: int) -> Iterator[tuple[str, float, float]]:
    """For each family, the median seconds to decode a short and a long sentence."""
    for family in FAMILIES:
        batches = {n: sentences(family, n, count=2) for n in (short, long)}
        times: dict[int, list[float]] = {short: [], long: []}
        for _ in range(repeats + 1):
            for n, batch in batches.items():
                began = time.thread_time()
                decode_batch(batch)
                times[n].append((time.thread_time() - began) / len(batch))
        yield family, float(np.median(times[short][1:])), float(np.median(times[long][1:]))
