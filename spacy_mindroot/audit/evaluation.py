"""How good trees are beside gold ones. All tokens count, punctuation too; those without a gold head are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..scores import Ints


class Right(NamedTuple):
    """What is right in one sentence.

    tokens (int): With a gold head.
    heads (int): Of these, with the gold head.
    labelled (int): With the gold head and label.
    universal (int): With the gold head and the gold label up to its colon, as the CoNLL shared tasks count.
    tree (int): 1 if all heads are right, else 0.
    labelled_tree (int): 1 if all heads and labels are right, else 0.
    has_root (int): 1 if the gold root is known, else 0.
    root (int): 1 if there is one root and it is the gold one, else 0.
    """

    tokens: int
    heads: int
    labelled: int
    universal: int
    tree: int
    labelled_tree: int
    has_root: int
    root: int


def count_right(heads: Ints, gold_heads: Ints, labels: Sequence[str], gold_labels: Sequence[str]) -> Right:
    """Compares a tree with the gold one.

    heads, gold_heads (np.ndarray): (n,), 0 = ROOT; a gold head of -1 is not known.
    labels, gold_labels (Sequence[str]): Of each token.
    """
    known = gold_heads >= 0
    right = known & (heads == gold_heads)
    same = np.array([own == gold for own, gold in zip(labels, gold_labels, strict=True)], dtype=bool)
    similar = [own.split(":")[0] == gold.split(":")[0] for own, gold in zip(labels, gold_labels, strict=True)]
    tokens, n_right, labelled = int(known.sum()), int(right.sum()), int((right & same).sum())
    return Right(
        tokens=tokens,
        heads=n_right,
        labelled=labelled,
        universal=int((right & np.array(similar, dtype=bool)).sum()),
        tree=int(n_right == tokens),
        labelled_tree=int(labelled == tokens),
        has_root=int(bool((gold_heads == 0).any())),
        root=int(np.count_nonzero(heads == 0) == 1 and bool((right & (heads == 0)).any())),
    )


def unlabelled_attachment_score(heads: Sequence[Ints], gold: Sequence[Ints]) -> float:
    """The share of tokens whose head is the gold head; 0 if there are none with a gold head.

    heads, gold (Sequence[np.ndarray]): Heads of each sentence, 0 = ROOT; a gold head of -1 is not known.
    """
    right = sum(int(np.count_nonzero(own == theirs)) for own, theirs in zip(heads, gold, strict=True))
    tokens = sum(int(np.count_nonzero(theirs >= 0)) for theirs in gold)
    return right / tokens if tokens else 0.0
