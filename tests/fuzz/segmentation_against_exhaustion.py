"""Compares the best division of a text into sentences with exhaustive search over all divisions and all trees.

    python -m tests.fuzz.segmentation_against_exhaustion [--count N] [--seed N]

Texts have up to five tokens. Ties, -inf, certain starts, limits of length, places that are skipped, bands, the weights
of best trees and log-partitions. A failure names its seed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # the helpers of the tests

from segmentations import band_of, check, random_text

from spacy_mindroot.core import _inference


def check_seed(seed: int) -> bool:
    """Check one random text. Return whether it can be divided.

    RAISES (AssertionError): If the search finds another score, or a division that does not have it.
    """
    window, starts, max_length, rng = random_text(seed, 5)
    by_partition = bool(rng.integers(2))
    least = float(rng.choice([-np.inf, -np.inf, -1, 0, 1]))
    band = max_length - 1 + int(rng.integers(3)) if rng.random() < 0.3 else -1
    given = window if band < 0 else band_of(window, band)
    found = _inference.segment(given, starts, max_length, by_partition, least, band)
    check(found, window, starts, max_length, by_partition)
    assert found is None or least > -np.inf or found.loss == 0
    return found is not None


def main() -> None:
    """Check random texts, and say how many had no division."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.segmentation_against_exhaustion", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="number of texts")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others follow")
    options = parser.parse_args()
    without = 0
    for done in range(1, options.count + 1):
        try:
            without += not check_seed(options.seed + done)
        except BaseException:
            print(f"seed {options.seed + done}: the division is wrong", file=sys.stderr)
            raise
        if done % 5000 == 0 or done == options.count:
            print(f"{done:,} texts, all right; {without:,} without a division", flush=True)


if __name__ == "__main__":
    main()
