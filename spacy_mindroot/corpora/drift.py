"""Shards whose parses are much less certain than those of the others, or more: another language, or broken text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

__all__ = ["drifting"]

_LEAST_WORDS = 1000  # in a shard: the mean of fewer varies by itself
_LEAST_SHARDS = 8
_DEVIATIONS = 5  # of the median absolute deviation, scaled to a standard deviation
_LEAST = 0.03  # of the expected UAS


def drifting(lines: Iterable[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    """Return the expected UAS of each shard that drifts, by its name, and the median of all shards.

    A shard drifts if its expected UAS is off the median by more than five standard deviations, estimated by the median
    absolute deviation, and by more than 0.03. Shards of fewer than 1,000 words are left out, and no shard drifts among
    fewer than eight.

    lines (Iterable[Mapping[str, Any]]): Lines of the manifest.
    """
    known = {
        line["shard"]: line["expected_uas"]
        for line in lines
        if line.get("expected_uas") is not None and line["words"] >= _LEAST_WORDS
    }
    if len(known) < _LEAST_SHARDS:
        return {}
    middle = median(known.values())
    spread = 1.4826 * median(abs(value - middle) for value in known.values())
    limit = max(_LEAST, _DEVIATIONS * spread)
    return {shard: (value, middle) for shard, value in sorted(known.items()) if abs(value - middle) > limit}
