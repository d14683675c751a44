"""A biaffine score for every arc, from the vectors of its two tokens (Dozat and Manning 2017)."""

from __future__ import annotations

from collections.abc import Callable

from thinc.api import Model, uniform_init
from thinc.types import Floats2d, Floats3d

from .batching import SentenceBatch

__all__ = ["ArcBiaffine"]

InT = tuple[Floats2d, Floats2d, SentenceBatch]
OutT = list[Floats3d]


def ArcBiaffine(width: int | None = None) -> Model[InT, OutT]:
    """Build a layer that scores all arcs: `(D W + b) H^T`, where H begins with a learned vector for ROOT.

    Input: token vectors as dependents, (N, width), token vectors as heads, (N, width), and the SentenceBatch that
        divides them into sentences.
    Output: for each group of sentences, arc scores (B, T, T+1), `[sentence, dependent, head]`, column 0 = ROOT. Arcs to
        and from padding have meaningless scores.
    """
    return Model(
        "arc_biaffine",
        _forward,
        init=_init,
        dims={"nI": width},
        params={"W": None, "b": None, "root": None},
    )


def _forward(
    model: Model[InT, OutT], inputs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], tuple[Floats2d, Floats2d]]]:
    dependents, heads, batch = inputs
    ops, xp = model.ops, model.ops.xp
    W, b, root = model.get_param("W"), model.get_param("b"), model.get_param("root")
    queries = ops.gemm(dependents, W) + b
    scores = []
    for group in batch.groups:
        scores.append(xp.matmul(group.pad(queries), group.pad_with_root(heads, root).transpose(0, 2, 1)))

    def backprop(d_scores: OutT) -> tuple[Floats2d, Floats2d]:
        d_queries, d_heads = ops.alloc2f(*queries.shape), ops.alloc2f(*heads.shape)
        d_root = ops.alloc1f(len(root))
        for group, d_group in zip(batch.groups, d_scores, strict=True):
            padded = group.pad_with_root(heads, root)
            group.unpad(xp.matmul(d_group, padded), into=d_queries)
            d_padded = xp.matmul(d_group.transpose(0, 2, 1), group.pad(queries))
            d_root += d_padded[:, 0].sum(axis=0)
            group.unpad(d_padded[:, 1:], into=d_heads)
        model.inc_grad("root", d_root)
        model.inc_grad("b", d_queries.sum(axis=0))
        model.inc_grad("W", ops.gemm(dependents, d_queries, trans1=True))
        return ops.gemm(d_queries, W, trans2=True), d_heads

    return scores, backprop


def _init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X is not None:
        model.set_dim("nI", X[0].shape[1])
    width = model.get_dim("nI")
    # Zeros: at first, only distances count. The random ROOT vector breaks the symmetry.
    model.set_param("W", model.ops.alloc2f(width, width))
    model.set_param("b", model.ops.alloc1f(width))
    model.set_param("root", uniform_init(model.ops, (width,), lo=-0.1, hi=0.1))
