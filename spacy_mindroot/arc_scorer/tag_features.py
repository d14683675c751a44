"""Part-of-speech tags as a hidden layer (Zhang and Weiss 2016, "Stack-propagation").

Tags are predicted from the token vectors, trained on gold tags, and passed on as features. Prediction needs no tags.
"""

from __future__ import annotations

from collections.abc import Callable

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

__all__ = ["TagFeatures"]

OutT = tuple[Floats2d, Floats2d]


def TagFeatures(width: int, nI: int | None = None, n_tags: int | None = None) -> Model[Floats2d, OutT]:
    """Build a layer that appends to each token vector the expected tag vector.

    The expected tag vector is the mean of learned tag vectors, weighted by the probabilities of the tags.

    Input: token vectors (N, nI).
    Output: token vectors (N, nI + width), and the scores of the tags (N, n_tags), for the loss.
    """
    return Model(
        "tag_features",
        _forward,
        init=_init,
        dims={"nI": nI, "nO": width, "nT": n_tags},
        params={"W": None, "b": None, "tags": None},
    )


def _forward(model: Model[Floats2d, OutT], X: Floats2d, is_train: bool) -> tuple[OutT, Callable[[OutT], Floats2d]]:
    ops, xp = model.ops, model.ops.xp
    W, tags = model.get_param("W"), model.get_param("tags")
    scores = ops.gemm(X, W) + model.get_param("b")
    probabilities = ops.softmax(scores)
    features = ops.gemm(probabilities, tags)

    def backprop(d_output: OutT) -> Floats2d:
        d_vectors, d_scores = d_output
        d_features = xp.ascontiguousarray(d_vectors[:, X.shape[1] :])
        model.inc_grad("tags", ops.gemm(probabilities, d_features, trans1=True))
        d_scores = d_scores + ops.backprop_softmax(probabilities, ops.gemm(d_features, tags, trans2=True))
        model.inc_grad("W", ops.gemm(X, d_scores, trans1=True))
        model.inc_grad("b", d_scores.sum(axis=0))
        return d_vectors[:, : X.shape[1]] + ops.gemm(d_scores, W, trans2=True)

    return (xp.concatenate([X, features], axis=1), scores), backprop


def _init(model: Model[Floats2d, OutT], X: Floats2d | None = None, Y: OutT | None = None) -> None:
    if X is not None:
        model.set_dim("nI", X.shape[1])
    nI, nO, nT = model.get_dim("nI"), model.get_dim("nO"), model.get_dim("nT")
    model.set_param("W", model.ops.alloc2f(nI, nT))
    model.set_param("b", model.ops.alloc1f(nT))
    model.set_param("tags", glorot_uniform_init(model.ops, (nT, nO)))
