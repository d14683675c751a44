"""Groups sentences of similar length into padded blocks, so that no layer loops over sentences or tokens.

Token vectors are flat: (N, width) for the sentences of a batch, end to end. Arc scores are padded: one block
(B, T, T+1) for each group of B sentences with at most T tokens, `[sentence, dependent, head]`, column 0 = ROOT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from thinc.api import Ops
from thinc.types import Floats1d, Floats2d, Floats3d

__all__ = [
    "BUCKETS",
    "EDGES",
    "Group",
    "SentenceBatch",
    "batch_sentences",
    "bucket_of",
    "distance_buckets",
    "one_hot_buckets",
]

_LARGEST_BLOCK = 1 << 18  # cells in a block of two or more sentences

# Signed distances from dependent to head fall into these buckets: 1, 2, 3, 4-5, 6-8, 9-13, 14-23, and 24 or more, once
# for heads on the right and once for heads on the left.
EDGES = np.array([1, 2, 3, 4, 6, 9, 14, 24], dtype=np.int64)
BUCKETS = 2 * len(EDGES) + 1  # 0 is the token itself


@dataclass(frozen=True)
class Group:
    """Sentences of similar length. Arrays are on the host, but for the last two, which are on the device of `ops`."""

    ops: Ops
    sentences: npt.NDArray[np.int64]  # (B,): indexes into the batch
    starts: npt.NDArray[np.int64]  # (B,): the first row of each in the flat vectors
    lengths: npt.NDArray[np.int64]  # (B,)
    tokens: Any  # (B, T), int: rows of the flat vectors; 0 for padding
    real: Any  # (B, T), bool: True for tokens, False for padding

    @cached_property
    def allowed(self) -> Any:
        """Whether an arc exists, (B, T, T+1), bool: from ROOT, and from every other token of the sentence."""
        xp = self.ops.xp
        size, longest = self.real.shape
        allowed = xp.ones((size, longest, longest + 1), dtype=bool)
        allowed[:, :, 1:] = self.real[:, None, :] & ~xp.eye(longest, dtype=bool)
        return allowed

    @cached_property
    def distances(self) -> Any:
        """The bucket of the distance from each dependent to each head other than ROOT, (T, T)."""
        return self.ops.asarray(distance_buckets(self.real.shape[1]))

    def pad(self, flat: Floats2d) -> Floats3d:
        """Turn (N, width) into (B, T, width). Padding has arbitrary values."""
        return flat[self.tokens]

    def pad_with_root(self, flat: Floats2d, root: Floats1d) -> Floats3d:
        """Turn (N, width) into (B, T+1, width), with the vector of ROOT first."""
        xp = self.ops.xp
        roots = xp.broadcast_to(root, (len(self.sentences), 1, len(root)))
        return xp.concatenate([roots, self.pad(flat)], axis=1)

    def unpad(self, padded: Floats3d, into: Floats2d) -> None:
        """Write (B, T, width) back to the rows of `into`, (N, width), without the padding."""
        into[self.tokens[self.real]] = padded[self.real]


@dataclass(frozen=True)
class SentenceBatch:
    """The division of the tokens of a batch into sentences. Each sentence is in exactly one group."""

    lengths: npt.NDArray[np.int64]  # (S,), on the host
    groups: list[Group]


def batch_sentences(ops: Ops, lengths: Sequence[int]) -> SentenceBatch:
    """Group sentences, of at least one token each, so that there is little padding and no block is very large.

    A group is cut by its number of cells, not of sentences, and a long sentence is never grouped with short ones.
    """
    array = np.asarray(lengths, dtype=np.int64)
    starts = np.cumsum(array) - array
    order = np.argsort(array, kind="stable")[::-1]
    groups, at = [], 0
    while at < len(order):
        longest = int(array[order[at]])
        most = max(1, _LARGEST_BLOCK // (longest * (longest + 1)))
        # Sentences at least this long leave little of the block to padding.
        fits = int(np.searchsorted(-array[order], -max(1, 0.8 * longest - 3), side="right"))
        members = order[at : min(fits, at + most)]
        positions = np.arange(longest)
        real = positions < array[members][:, np.newaxis]
        tokens = np.where(real, starts[members][:, np.newaxis] + positions, 0)
        groups.append(Group(ops, members, starts[members], array[members], ops.asarray(tokens), ops.xp.asarray(real)))
        at += len(members)
    return SentenceBatch(array, groups)


def distance_buckets(longest: int) -> npt.NDArray[np.int64]:
    """Return the bucket of the distance between any two tokens, (T, T), `[dependent, head]`."""
    positions = np.arange(longest)
    return bucket_of(positions[np.newaxis, :] - positions[:, np.newaxis])


def one_hot_buckets(xp: Any, buckets: Any) -> Any:
    """Turn buckets of any shape (...) into (..., BUCKETS): 1 at the bucket, 0 elsewhere."""
    return (buckets[..., None] == xp.arange(BUCKETS)).astype("f")


def bucket_of(offset: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the bucket of each offset from dependent to head (head minus dependent)."""
    bucket = np.searchsorted(EDGES, np.abs(offset), side="right")
    return np.where(offset < 0, bucket + len(EDGES), bucket)
