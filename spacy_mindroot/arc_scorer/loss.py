"""Cross-entropy over the heads of each dependent, and over the labels of each gold arc. Unknown ones cost nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from thinc.api import Ops
from thinc.types import Floats2d, Floats3d

from ..trees import MISSING
from .batching import SentenceBatch


def log_softmax(xp: Any, scores: Any) -> Any:
    """Log-probabilities over the last axis; -inf stays. At least one score of each row is finite."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - xp.log(xp.exp(shifted).sum(axis=-1, keepdims=True))


def head_loss(
    ops: Ops, batch: SentenceBatch, arcs: list[Floats3d], heads: npt.NDArray[np.int64]
) -> tuple[float, list[Floats3d]]:
    """Summed over dependents, and its gradient.

    arcs (list[Floats3d]): Scores (B, T, T+1) of each group.
    heads (np.ndarray): Gold heads, 0 = ROOT, of all tokens of the batch, (N,); MISSING ones are left out.
    """
    xp = ops.xp
    flat_heads = ops.asarray(heads)
    losses, gradients = [], []
    for group, scores in zip(batch.groups, arcs, strict=True):
        gold = xp.where(group.real, flat_heads[group.tokens], MISSING)
        known = gold != MISSING
        log_probabilities = log_softmax(xp, scores)
        at_gold = xp.where(known, gold, 0)[:, :, None]
        chosen = xp.take_along_axis(log_probabilities, at_gold, axis=2)[:, :, 0]
        losses.append(-xp.where(known, chosen, 0).sum())
        gradient = xp.exp(log_probabilities)
        gradient -= at_gold == xp.arange(scores.shape[2])
        gradient *= known[:, :, None]
        gradients.append(gradient)
    return float(sum(losses)), gradients


def class_loss(ops: Ops, scores: Floats2d, classes: npt.NDArray[np.int64]) -> tuple[float, Floats2d]:
    """Summed over rows (arcs with their labels, tokens with their tags), and its gradient.

    scores (Floats2d): Scores of the classes, (N, classes).
    classes (np.ndarray): Gold classes, (N,); MISSING ones are left out.
    """
    xp = ops.xp
    gold = ops.asarray(classes)
    known = gold != MISSING
    log_probabilities = log_softmax(xp, scores)
    at_gold = xp.where(known, gold, 0)[:, None]
    loss = -xp.where(known, xp.take_along_axis(log_probabilities, at_gold, axis=1)[:, 0], 0).sum()
    gradient = xp.exp(log_probabilities)
    gradient -= at_gold == xp.arange(scores.shape[1])
    gradient *= known[:, None]
    return float(loss), gradient
