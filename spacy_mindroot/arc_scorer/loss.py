"""Cross-entropy over the heads of each dependent and over classes such as labels. What is MISSING adds no loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from thinc.api import Ops
from thinc.types import Floats2d, Floats3d

from ..trees import MISSING
from . import _layers
from .batching import SentenceBatch

__all__ = ["SoftHeads", "class_loss", "head_loss", "log_softmax", "mean_log_softmax"]

# For each sentence of a batch, the probability of each arc, (n, n+1), laid out like its scores, or None for gold heads.
SoftHeads = Sequence[npt.NDArray[np.floating[Any]] | None] | None


def log_softmax(xp: Any, scores: Any) -> Any:
    """Return log-probabilities over the last axis. At least one score of each row must be finite; -inf stays."""
    if xp is np and scores.dtype == np.float32 and scores.size:
        rows = np.ascontiguousarray(scores).reshape(-1, scores.shape[-1])
        result = np.empty_like(rows)
        _layers.log_softmax(rows, result)
        return result.reshape(scores.shape)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - xp.log(xp.exp(shifted).sum(axis=-1, keepdims=True))


def mean_log_softmax(xp: Any, parts: Sequence[Any]) -> Any:
    """Return the mean of the log-probabilities of several arrays of scores of the same shape. See `log_softmax`."""
    return sum(log_softmax(xp, scores) for scores in parts) / len(parts)


def head_loss(
    ops: Ops, batch: SentenceBatch, arcs: list[Floats3d], heads: npt.NDArray[np.int64], soft: SoftHeads = None
) -> tuple[float, list[Floats3d]]:
    """Return the cross-entropy of the gold heads, summed over dependents, and its gradient.

    arcs (list[Floats3d]): Arc scores (B, T, T+1) of each group.
    heads (np.ndarray): Gold head of each token of the batch, (N,): 0 = ROOT, j = token j of the sentence, or MISSING.
    soft (SoftHeads): Distributions over heads, in place of gold heads.
    """
    flat_heads = ops.asarray(heads)
    total, gradients = 0.0, []
    for group, scores in zip(batch.groups, arcs, strict=True):
        gold = ops.xp.where(group.real, flat_heads[group.tokens], MISSING)
        of_group = None
        if soft is not None:
            padded = np.zeros(scores.shape, dtype=np.float32)
            for row, k in enumerate(group.sentences.tolist()):
                if (own := soft[k]) is not None:
                    padded[row, : own.shape[0], : own.shape[1]] = own
            of_group = padded.reshape(-1, scores.shape[2])
        loss, gradient = class_loss(ops, scores.reshape(-1, scores.shape[2]), gold.ravel(), of_group)
        total += loss
        gradients.append(gradient.reshape(scores.shape))
    return total, gradients


def class_loss(
    ops: Ops, scores: Floats2d, classes: npt.NDArray[np.int64], soft: npt.NDArray[np.floating[Any]] | None = None
) -> tuple[float, Floats2d]:
    """Return the cross-entropy of the gold classes, (N,), summed over rows, and its gradient.

    A row (an arc with its labels, a token with its tags) has a score for each class, (N, classes). Rows whose class is
    MISSING are left out.

    soft (Optional[np.ndarray]): Distributions over the classes, (N, classes), in place of gold classes. Rows of 0 have
        none.
    """
    xp = ops.xp
    gold = ops.asarray(classes)[:, None]
    target = (gold == xp.arange(scores.shape[1])).astype(scores.dtype)  # nothing where the class is MISSING
    if soft is not None:
        given = ops.asarray(soft, dtype=scores.dtype)
        target = xp.where(given.any(axis=1, keepdims=True), given, target)
    log_probabilities = log_softmax(xp, scores)
    loss = -(target * xp.where(target > 0, log_probabilities, 0)).sum()
    gradient = xp.exp(log_probabilities)
    gradient *= target.any(axis=1, keepdims=True)
    gradient -= target
    return float(loss), gradient
