"""The likelihood of whole trees. Unlike the head loss, it knows that heads form a tree with a single root."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from thinc.api import Ops
from thinc.types import Floats3d

from ..constraints import keep_heads
from ..decoding import decode_matrices
from ..inference.matrix_tree import infer
from ..trees import MISSING
from .batching import SentenceBatch
from .loss import SoftHeads, head_loss

__all__ = ["head_and_tree_loss", "tree_loss"]


def tree_loss(
    ops: Ops, batch: SentenceBatch, arcs: list[Floats3d], heads: npt.NDArray[np.int64], soft: SoftHeads = None
) -> tuple[float, list[Floats3d]]:
    """Return minus the log-probability of the known arcs of each sentence, summed over sentences, and its gradient.

    Probabilities are over the trees with a single root. If all heads of a sentence are known, it is the probability of
    the gold tree. If some are MISSING, it is the probability of all trees that contain the known arcs. If no tree
    contains them, because the annotation has several roots or a cycle, the sentence gets the head loss instead.

    Adding a constant to all arcs from ROOT does not change this loss. So it teaches the model which token is the root,
    but not how many roots a sentence has: without the root constraint, trees are meaningless.

    With the probability of each arc under a distribution over trees in place of gold heads, the loss is the
    cross-entropy of the two distributions, log Z minus the expected score of a tree. It is exact, and the gradient is
    the difference of the probabilities. Kuncoro et al. (2016, "Distilling an ensemble of greedy dependency parsers into
    one MST parser") thought it intractable.

    The loss is computed on the host in double precision, in O(n^3) for a sentence of n tokens.

    arcs, heads, soft: As for `head_loss`.
    """
    lengths = batch.lengths
    starts = np.cumsum(lengths) - lengths
    left_over = heads.copy()
    loss, gradients = 0.0, []
    for group, block in zip(batch.groups, arcs, strict=True):
        host = ops.to_numpy(block)
        gradient = np.zeros_like(host)
        in_sentence = [slice(starts[k], starts[k] + lengths[k]) for k in group.sentences]
        matrices = [host[row, : lengths[k], : lengths[k] + 1] for row, k in enumerate(group.sentences)]
        targets = [None if soft is None else soft[k] for k in group.sentences]
        rows = [row for row, target in enumerate(targets) if target is None]
        constrained = {row: keep_heads(matrices[row], heads[in_sentence[row]]) for row in rows}
        impossible = {rows[fault.sentence] for fault in decode_matrices(list(constrained.values()))[1]}
        for row, (matrix, target) in enumerate(zip(matrices, targets, strict=True)):
            gold = heads[in_sentence[row]]
            if target is None and (row in impossible or (gold == MISSING).all()):
                continue
            left_over[in_sentence[row]] = MISSING
            log_all, of_all = infer(matrix)
            if target is None and (gold != MISSING).all():  # the probability of a single tree
                target = gold[:, np.newaxis] == np.arange(len(gold) + 1)
            if target is not None:
                in_use = target > 0
                log_known = float((target[in_use] * matrix[in_use]).sum(dtype=np.float64))
                of_all -= target
            else:
                log_known, of_known = infer(constrained[row])
                of_all -= of_known
            loss += log_all - log_known
            gradient[row, : len(matrix), : len(matrix) + 1] = of_all
        gradients.append(ops.asarray(gradient))
    if (left_over != MISSING).any():
        of_heads, more = head_loss(ops, batch, arcs, left_over)
        loss += of_heads
        for gradient, other in zip(gradients, more, strict=True):
            gradient += other
    return loss, gradients


def head_and_tree_loss(
    ops: Ops, batch: SentenceBatch, arcs: list[Floats3d], heads: npt.NDArray[np.int64], soft: SoftHeads = None
) -> tuple[float, list[Floats3d]]:
    """Return the mean of `head_loss` and `tree_loss`, and its gradient.

    It gives good trees, and scores that are meaningful as probabilities of heads, including those of ROOT.

    arcs, heads, soft: As for `head_loss`.
    """
    of_heads, by_heads = head_loss(ops, batch, arcs, heads, soft)
    of_trees, by_trees = tree_loss(ops, batch, arcs, heads, soft)
    return (of_heads + of_trees) / 2, [(one + other) / 2 for one, other in zip(by_heads, by_trees, strict=True)]
