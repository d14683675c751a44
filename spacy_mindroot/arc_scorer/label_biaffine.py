"""The score of every label, on given arcs (in training), or on those asked for (in prediction)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from thinc.api import Model, uniform_init
from thinc.types import Floats2d, Floats3d, Floats4d, Ints1d

from ..errors import MindRootError
from . import _layers
from .batching import BUCKETS, EDGES, Group, SentenceBatch, one_hot_buckets
from .loss import mean_log_softmax
from .products import NumpyProducts

__all__ = ["AverageLabelScores", "LabelBiaffine", "LabelScores"]

_LARGEST_PART = 1 << 19  # label scores computed at a time
_TOKENS_AT_A_TIME = 256  # with 40 labels, their queries take 2.7 MB

InT = tuple[Floats2d, Floats2d, SentenceBatch, "Ints1d | None", "Ints1d | None"]


def LabelBiaffine(width: int | None = None, nO: int | None = None) -> Model[InT, Any]:
    """Build a layer that scores the labels of arcs.

    A label's score is a biaffine function of dependent and head (bilinear and linear terms, and a bias) plus its entry
    in a table of labels by signed distance, in buckets.

    Input: token vectors as dependents, (N, width); token vectors as heads, (N, width); the SentenceBatch that divides
        them into sentences; and either None, None or the head of each token, as a row of the vectors (-1 = ROOT), and
        the bucket of its distance (0 for ROOT), both (N,).
    Output: with heads, the scores (N, nO) of the labels of these arcs. Without heads, a LabelScores, which computes the
        scores of other arcs on demand. It has no backprop.
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
        return LabelScores(model, dependents, heads, batch), _no_backprop
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


class LabelScores:
    """The label scores of a batch of sentences, computed for the arcs that are asked for.

    It keeps the vectors of the whole batch, but never the scores.
    """

    def __init__(self, model: Model[InT, Any], dependents: Floats2d, heads: Floats2d, batch: SentenceBatch) -> None:
        self.ops = model.ops
        self._W, self._root, self._distance = (model.get_param(name) for name in ("W", "root", "distance"))
        self._dependents, self._heads, self.batch = dependents, heads, batch
        self._starts = np.cumsum(batch.lengths) - batch.lengths
        # First token, the token after the last, and the queries of the tokens between.
        self._block: tuple[int, int, Floats3d | None] = (0, 0, None)

    def on_host(self) -> LabelScores:
        """Return these scores, to be computed on the host. There, those of a tree take less than a transfer each."""
        if self.ops.xp is np:
            return self
        found = copy(self)
        found.ops = NumpyProducts()
        for name in ("_W", "_root", "_distance", "_dependents", "_heads"):
            setattr(found, name, np.ascontiguousarray(self.ops.to_numpy(getattr(self, name))))
        return found

    def of_arcs(
        self, sentence: int, dependents: npt.NDArray[np.int64], heads: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32]:
        """Return the scores of all labels on some arcs, (arcs, nO + 1); on the host alone.

        Label 0 is that of ROOT's arcs, which these have with score 0 and no others. Dependents count from 0; heads, 0 =
        ROOT, j = token j of the sentence.
        """
        start, n = int(self._starts[sentence]), int(self.batch.lengths[sentence])
        scores = np.empty((len(heads), self._distance.shape[1] + 1), dtype=np.float32)
        arcs = np.ascontiguousarray(dependents), np.ascontiguousarray(heads)
        _layers.label_scores(
            *arcs, self._queries(start, n), self._heads[start : start + n], self._distance, EDGES, scores
        )
        return scores

    def of_all_arcs(self, group: Group) -> Iterator[Floats4d]:
        """Yield the label scores (B, t, T+1, nO) of all arcs to the next t dependents of the sentences of a group."""
        xp = self.ops.xp
        size, longest = group.real.shape
        H = group.pad_with_root(self._heads, self._root)
        H = xp.concatenate([H, xp.ones((size, longest + 1, 1), dtype="f")], axis=2)[:, None]
        n_labels = self._distance.shape[1]
        step = max(1, _LARGEST_PART // (size * (longest + 1) * n_labels))
        for begin in range(0, longest, step):
            dependents = slice(begin, begin + step)
            D = _with_one(xp, group.pad(self._dependents)[:, dependents].reshape(-1, self._dependents.shape[1]))
            queries = self.ops.gemm(D, self._W).reshape(size, -1, n_labels, H.shape[3]).transpose(0, 1, 3, 2)
            scores = xp.matmul(H, queries)
            scores[:, :, 1:] += self._distance[group.distances[dependents]]
            scores[:, :, 0] += self._distance[0]
            yield scores

    def _queries(self, start: int, n: int) -> Floats3d:
        """Return the products of dependents with the weights, (n, nO, width + 1).

        They are computed for many sentences at a time, since trees are mostly asked for in the order of the batch.
        """
        begin, end, queries = self._block
        if queries is None or not (begin <= start and start + n <= end):
            begin, end = start, max(start + n, min(start + _TOKENS_AT_A_TIME, len(self._dependents)))
            D = _with_one(self.ops.xp, self._dependents[begin:end])
            queries = self.ops.gemm(D, self._W).reshape(len(D), self._distance.shape[1], -1)
            self._block = (begin, end, queries)
        return queries[start - begin : start - begin + n]


class AverageLabelScores(LabelScores):
    """The mean of the label scores of several models, for the arcs that are asked for.

    Scores are log-probabilities, so that models with large scores don't count for more.

    parts (Sequence[LabelScores]): The scores of each model for the same batch.
    """

    def __init__(self, parts: Sequence[LabelScores]) -> None:
        self._parts = parts
        self.ops, self.batch = parts[0].ops, parts[0].batch

    def on_host(self) -> LabelScores:
        return AverageLabelScores([part.on_host() for part in self._parts])

    def of_arcs(
        self, sentence: int, dependents: npt.NDArray[np.int64], heads: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32]:
        scores: npt.NDArray[np.float32] = self._mean(
            [part.of_arcs(sentence, dependents, heads) for part in self._parts]
        )
        return scores

    def of_all_arcs(self, group: Group) -> Iterator[Floats4d]:
        return map(self._mean, zip(*(part.of_all_arcs(group) for part in self._parts), strict=True))

    def _mean(self, parts: Sequence[Any]) -> Any:
        return mean_log_softmax(self.ops.xp, parts)


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
    raise MindRootError("Label scores of all arcs have no gradient. For training, pass the heads.")
