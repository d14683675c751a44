"""A score for every arc from the distance between its tokens, weighted by the dependent and by the head."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from thinc.api import Model
from thinc.types import Floats2d, Floats3d

from . import _layers
from .batching import BUCKETS, EDGES, SentenceBatch, one_hot_buckets

__all__ = ["ArcDistance"]

InT = tuple[Floats2d, Floats2d, SentenceBatch]
OutT = list[Floats3d]


def ArcDistance(width: int | None = None) -> Model[InT, OutT]:
    """Build a layer that scores all arcs by their signed distance, which falls into one of BUCKETS buckets.

    Each dependent has a score for every bucket, a linear function of its vector, and so has each head. The score of an
    arc is the sum of the two scores for its bucket. Arcs from ROOT score 0; self arcs and arcs from padding, -inf.

    Input and output: as for ArcBiaffine.
    """
    return Model(
        "arc_distance",
        _forward,
        init=_init,
        dims={"nI": width},
        params={"W_dependent": None, "W_head": None, "b": None},
    )


def _forward(
    model: Model[InT, OutT], inputs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], tuple[Floats2d, Floats2d]]]:
    dependents, heads, batch = inputs
    ops, xp = model.ops, model.ops.xp
    W_dependent, W_head = model.get_param("W_dependent"), model.get_param("W_head")
    of_dependent = ops.gemm(dependents, W_dependent) + model.get_param("b")
    of_head = ops.gemm(heads, W_head)
    scores = []
    for group in batch.groups:
        size, longest = group.real.shape
        block = ops.alloc3f(size, longest, longest + 1)
        scores.append(block)
        if xp is np:
            _layers.add_distances(block, group.starts, group.lengths, of_dependent, of_head, EDGES)
            continue
        # [sentence, dependent, bucket] -> [sentence, dependent, head], and the same with dependent and head swapped
        block[:, :, 1:] = xp.take_along_axis(group.pad(of_dependent), group.distances[None], axis=2)
        block[:, :, 1:] += xp.take_along_axis(group.pad(of_head), group.distances.T[None], axis=2).transpose(0, 2, 1)
        block[~group.allowed] = -np.inf

    def backprop(d_scores: OutT) -> tuple[Floats2d, Floats2d]:
        d_of_dependent, d_of_head = ops.alloc2f(*of_dependent.shape), ops.alloc2f(*of_head.shape)
        for group, d_group in zip(batch.groups, d_scores, strict=True):
            in_bucket = one_hot_buckets(xp, group.distances)  # (T, T, BUCKETS)
            d_arcs = d_group[:, :, 1:]
            # For each dependent and bucket, the sum over heads; for each head and bucket, the sum over dependents.
            by_dependent = xp.matmul(d_arcs.transpose(1, 0, 2), in_bucket)
            by_head = xp.matmul(d_arcs.transpose(2, 0, 1), in_bucket.transpose(1, 0, 2))
            group.unpad(by_dependent.transpose(1, 0, 2), into=d_of_dependent)
            group.unpad(by_head.transpose(1, 0, 2), into=d_of_head)
        model.inc_grad("b", d_of_dependent.sum(axis=0))
        model.inc_grad("W_dependent", ops.gemm(dependents, d_of_dependent, trans1=True))
        model.inc_grad("W_head", ops.gemm(heads, d_of_head, trans1=True))
        return ops.gemm(d_of_dependent, W_dependent, trans2=True), ops.gemm(d_of_head, W_head, trans2=True)

    return scores, backprop


def _init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X is not None:
        model.set_dim("nI", X[0].shape[1])
    width = model.get_dim("nI")
    model.set_param("W_dependent", model.ops.alloc2f(width, BUCKETS))
    model.set_param("W_head", model.ops.alloc2f(width, BUCKETS))
    model.set_param("b", model.ops.alloc1f(BUCKETS))
