"""Counts what is right in a tree. All tokens count, punctuation included, except those without a gold head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...scores import Ints

__all__ = ["Right", "count_right"]


class Right(NamedTuple):
    """Counts of what is right in one sentence.

    tokens, heads, labelled (int): Tokens with a gold head, those that have this head, and those with its label, too.
    universal (int): As `labelled`, with labels that agree up to the colon, as the CoNLL shared tasks count.
    tree, labelled_tree (int): 1 if all heads are right, and if all labels are, too.
    has_root, root (int): 1 if the gold root is known, and if the tree has this root and no other.
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
