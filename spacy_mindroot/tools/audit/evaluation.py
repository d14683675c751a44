"""Counts what is right in a tree. All tokens count, punctuation included, except those without a gold head."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...scores import Ints

__all__ = ["Right", "attachment_score", "count_right"]


class Right(NamedTuple):
    """Counts of what is right in one sentence.

    tokens (int): Tokens with a gold head.
    heads (int): Those whose head is the gold head.
    labelled (int): Those whose head and label are the gold ones.
    universal (int): Those whose head is the gold head and whose label agrees up to its colon, as the CoNLL shared tasks
        count.
    tree (int): 1 if all heads are right, else 0.
    labelled_tree (int): 1 if all heads and labels are right, else 0.
    has_root (int): 1 if the gold root is known, else 0.
    root (int): 1 if the tree has one root and it is the gold root, else 0.
    """

    tokens: int
    heads: int
    labelled: int
    universal: int
    tree: int
    labelled_tree: int
    has_root: int
    root: int


def count_right(
    heads: Ints, gold_heads: Ints, labels: Sequence[str] | None = None, gold_labels: Sequence[str] | None = None
) -> Right:
    """Compare a tree with the gold tree.

    heads, gold_heads (np.ndarray): (n,), 0 = ROOT. A gold head of -1 is unknown.
    labels, gold_labels (Optional[Sequence[str]]): The label of each token. Without both of them, no label is right.
    """
    right, is_root = heads == gold_heads, heads == 0
    tokens, n_right = int(np.count_nonzero(gold_heads >= 0)), int(np.count_nonzero(right))
    labelled = universal = 0
    if labels is not None and gold_labels is not None:
        pairs = list(zip(labels, gold_labels, strict=True))
        same = np.array([own == gold for own, gold in pairs], dtype=bool)
        similar = np.array([own.split(":")[0] == gold.split(":")[0] for own, gold in pairs], dtype=bool)
        labelled, universal = int(np.count_nonzero(right & same)), int(np.count_nonzero(right & similar))
    return Right(
        tokens=tokens,
        heads=n_right,
        labelled=labelled,
        universal=universal,
        tree=int(n_right == tokens),
        labelled_tree=int(labelled == tokens),
        has_root=int(np.count_nonzero(gold_heads == 0) > 0),
        root=int(np.count_nonzero(is_root) == 1 and bool(right[is_root.argmax()])),
    )


def attachment_score(counts: Iterable[Right]) -> float:
    """Return the share of tokens with the gold head (UAS), from 0 to 1; 0 if no token has a gold head."""
    right = tokens = 0
    for each in counts:
        right += each.heads
        tokens += each.tokens
    return right / tokens if tokens else 0.0
