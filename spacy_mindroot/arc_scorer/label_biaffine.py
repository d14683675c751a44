"""The score of every label, on given arcs (in training) or on all arcs (in prediction)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinc.api import Model, uniform_init
from thinc.types import Floats2d, Ints1d

from .batching import BUCKETS, SentenceBatch, one_hot_buckets

__all__ = ["LabelBiaffine"]

_LARGEST_PART = 1 << 19  # label scores computed at a time

InT = tuple[Floats2d, Floats2d, SentenceBatch, "Ints1d | None", "Ints1d | None"]


def LabelBiaffine(width: int | None = None, nO: int | None = None) -> Model[InT, Any]:
    """Build a layer that scores the labels of arcs.

    A label's score is a biaffine function of dependent and head (bilinear and linear terms, and a bias) plus its entry
    in a table of labels by signed distance, in buckets.

    Input: token vectors as dependents, (N, width); token vectors as heads, (N, width); the SentenceBatch that divides
        them into sentences; and either None, None or the head of each token, as a row of the vectors (-1 = ROOT), and
        the bucket of its distance (0 for ROOT), both (N,).
    Output: with heads, the scores (N, nO) of the labels of these arcs. Without heads, one iterator for each group of
        sentences. It yields the label scores (B, t, T+1, nO) of all arcs to the next t dependents, computed on demand
        to bound memory. There is no backprop.

    width (Optional[int]): Width of the vectors; None to infer it from the data.
    nO (Optional[int]): Number of labels.
    """
    return Model(
        "label_biaffine",
        _forward,
        init=_init,
        dims={"nI": width, "nO": nO},
        params={"W": None, "distance": None, "root": None},
    )


def _forward(model: Model[InT, Any], inputs: InT, is_train: bool) -> tuple[Any, Callable[..., Any]]:
    dependents, heads, batch, head_rows, distances = inputs
    if head_rows is None:
        return _all_arcs(model, dependents, heads, batch), _no_backprop
    return _given_arcs(model, dependents, heads, head_rows, distances)


def _given_arcs(model, dependents, heads, head_rows, distances):
    ops, xp = model.ops, model.ops.xp
    W, root, distance = model.get_param("W"), model.get_param("root"), model.get_param("distance")
    width, n_labels = model.get_dim("nI"), model.get_dim("nO")
    D = _with_one(xp, dependents)
    from_root = head_rows < 0
    H = _with_one(xp, xp.where(from_root[:, None], root, heads[head_rows]))
    of_dependent = ops.gemm(D, W).reshape(len(D), n_labels, width + 1)
    scores = xp.matmul(of_dependent, H[:, :, None])[:, :, 0] + distance[distances]

    def backprop(d_scores):
        in_bucket = one_hot_buckets(xp, distances)
        model.inc_grad("distance", ops.gemm(in_bucket, d_scores, trans1=True))
        d_H = xp.matmul(d_scores[:, None, :], of_dependent)[:, 0, :width]
        d_of_dependent = (d_scores[:, :, None] * H[:, None, :]).reshape(len(D), -1)
        model.inc_grad("W", ops.gemm(D, d_of_dependent, trans1=True))
        model.inc_grad("root", d_H[from_root].sum(axis=0))
        d_heads = ops.alloc2f(*heads.shape)
        ops.scatter_add(d_heads, head_rows[~from_root], d_H[~from_root])
        return ops.gemm(d_of_dependent, W, trans2=True)[:, :width], d_heads

    return scores, backprop


def _all_arcs(model, dependents, heads, batch):
    ops, xp = model.ops, model.ops.xp
    W, root, distance = model.get_param("W"), model.get_param("root"), model.get_param("distance")
    n_labels = model.get_dim("nO")
    of_dependent = ops.gemm(_with_one(xp, dependents), W)
    for group in batch.groups:
        size, longest = group.real.shape
        H = group.pad_with_root(heads, root)
        H = xp.concatenate([H, xp.ones((size, longest + 1, 1), dtype="f")], axis=2)
        queries = group.pad(of_dependent).reshape(size, longest * n_labels, -1)
        step = max(1, _LARGEST_PART // (size * (longest + 1) * n_labels))
        yield (
            _labels_of(xp, H, queries, distance, group.distances, slice(i, i + step)) for i in range(0, longest, step)
        )


def _labels_of(xp, H, queries, distance, distances, dependents):
    n_labels = distance.shape[1]
    queries = queries[:, dependents.start * n_labels : dependents.stop * n_labels]
    # One product for each sentence: [sentence, head, dependent and label]
    scores = xp.matmul(H, queries.transpose(0, 2, 1)).reshape(len(H), H.shape[1], -1, n_labels)
    scores[:, 1:] += distance[distances[dependents].T]
    scores[:, 0] += distance[0]
    return scores.transpose(0, 2, 1, 3)


def _init(model: Model[InT, Any], X: InT | None = None, Y: Any = None) -> None:
    if X is not None:
        model.set_dim("nI", X[0].shape[1])
    width, n_labels = model.get_dim("nI"), model.get_dim("nO")
    model.set_param("W", model.ops.alloc2f(width + 1, n_labels * (width + 1)))
    model.set_param("distance", model.ops.alloc2f(BUCKETS, n_labels))
    model.set_param("root", uniform_init(model.ops, (width,), lo=-0.1, hi=0.1))


def _with_one(xp, vectors):
    return xp.concatenate([vectors, xp.ones((len(vectors), 1), dtype="f")], axis=1)


def _no_backprop(*args: Any) -> None:
    raise ValueError("Label scores of all arcs have no gradient. For training, pass the heads.")
