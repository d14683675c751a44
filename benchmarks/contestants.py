"""Wrappers of all decoders: they convert matrices to the decoder's layout, decode (the timed part), and return heads.

Other people's decoders are optional: one that can't be imported is named and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from spacy_mindroot import decode, decode_batch


class Contestant:
    """A decoder. Only `decode` is timed: it takes the result of `prepare`, and its own result goes to `heads`."""

    name: str
    package = "spacy-mindroot"  # on the package index
    modules: tuple[str, ...] = ()  # that it needs

    def prepare(self, batch: list[np.ndarray]) -> Any:
        return batch

    def decode(self, inputs: Any) -> Any:
        raise NotImplementedError

    def heads(self, outputs: Any, lengths: list[int]) -> Sequence[np.ndarray]:
        """Heads of each sentence, 0 = ROOT."""
        return [np.asarray(output) for output in outputs]

    def missing(self) -> str:
        """Return the reason why it can't be measured here; empty if it can."""
        try:
            for module in self.modules:
                import_module(module)
            return ""
        except Exception as error:  # whatever a peer's import raises
            return f"{self.name}: {type(error).__name__}: {str(error).splitlines()[0]}"

    def version(self) -> str:
        try:
            return f"{self.package} {version(self.package)}"
        except PackageNotFoundError:
            return self.package


class Argmax(Contestant):
    """The floor: the best head of every token, which need not be a tree."""

    name = "numpy argmax"
    package = "numpy"

    def decode(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        return [scores.argmax(axis=1) for scores in inputs]


class Single(Contestant):
    name = "ours, single calls"

    def decode(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        return [decode(scores) for scores in inputs]


class ListBatch(Contestant):
    name = "ours, list batch"

    def decode(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        return decode_batch(inputs)


class FlatBatch(Contestant):
    name = "ours, flat batch"

    def prepare(self, batch: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate([scores.ravel() for scores in batch]), np.array([len(scores) for scores in batch])

    def decode(self, inputs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        return decode_batch(*inputs)

    def heads(self, outputs: np.ndarray, lengths: list[int]) -> list[np.ndarray]:
        return np.split(outputs, np.cumsum(lengths)[:-1])


def square(scores: np.ndarray, dtype: type = np.float64, forbidden: float = -np.inf) -> np.ndarray:
    """(n+1, n+1), [dependent, head], index 0 is ROOT."""
    n = len(scores)
    matrix = np.full((n + 1, n + 1), forbidden, dtype=dtype)
    matrix[1:] = np.where(np.isneginf(scores), forbidden, scores)
    return matrix


def penalised(scores: np.ndarray) -> np.ndarray:
    """Arcs from ROOT so much worse that no second one pays."""
    matrix = scores.astype(np.float64)
    finite = matrix[np.isfinite(matrix)]
    matrix[:, 0] -= len(scores) * (finite.max() - finite.min()) + 1
    return matrix


class Ufal(Contestant):
    name = "ufal, no constraint"
    package = "ufal.chu_liu_edmonds"
    modules = ("ufal.chu_liu_edmonds",)

    def prepare(self, batch: list[np.ndarray]) -> list[np.ndarray]:
        return [square(scores, forbidden=np.nan) for scores in batch]

    def decode(self, inputs: list[np.ndarray]) -> list[Any]:
        from ufal.chu_liu_edmonds import chu_liu_edmonds

        return [chu_liu_edmonds(matrix)[0] for matrix in inputs]

    def heads(self, outputs: list[Any], lengths: list[int]) -> list[np.ndarray]:
        return [np.array(heads[1:]) for heads in outputs]


class UfalPenalty(Ufal):
    name = "ufal, root penalty"

    def prepare(self, batch: list[np.ndarray]) -> list[np.ndarray]:
        return super().prepare([penalised(scores) for scores in batch])


class UfalRuns(Ufal):
    """Unconstrained; where that gives several roots, one run for each token as the root."""

    name = "ufal, n runs"

    def decode(self, inputs: list[np.ndarray]) -> list[Any]:
        return [self._one_root(matrix) for matrix in inputs]

    def _one_root(self, matrix: np.ndarray) -> Any:
        from ufal.chu_liu_edmonds import chu_liu_edmonds

        heads, _ = chu_liu_edmonds(matrix)
        if heads[1:].count(0) == 1:
            return heads
        runs = []
        for root in range(1, len(matrix)):
            forced = matrix.copy()
            forced[:, 0] = np.nan
            forced[root, 0] = matrix[root, 0]
            heads, weight = chu_liu_edmonds(forced)
            runs.append((weight, heads))
        return max(runs)[1]


class TensorFlowText(Contestant):
    """All sentences in one call of the op, so that the cost of the call is shared by them."""

    name = "TensorFlow Text"
    package = "tensorflow-text"
    modules = ("tensorflow", "tensorflow_text")

    def prepare(self, batch: list[np.ndarray]) -> Any:
        import tensorflow as tf

        longest = max(len(scores) for scores in batch)
        padded = np.zeros((len(batch), longest, longest), dtype=np.float32)
        for scores, matrix in zip(batch, padded, strict=True):
            n = len(scores)
            matrix[:n, :n] = scores[:, 1:]
            matrix[np.arange(n), np.arange(n)] = scores[:, 0]
        with tf.device("/CPU:0"):
            return tf.constant([len(scores) for scores in batch]), tf.constant(padded)

    def decode(self, inputs: Any) -> Any:
        from tensorflow_text.python.ops.mst_ops import max_spanning_tree

        return max_spanning_tree(*inputs, forest=False)[1].numpy()

    def heads(self, outputs: Any, lengths: list[int]) -> list[np.ndarray]:
        return [
            np.where(sources[:n] == np.arange(n), 0, sources[:n] + 1)
            for sources, n in zip(outputs, lengths, strict=True)
        ]


class Stanza(Contestant):
    name = "Stanza"
    package = "stanza"
    modules = ("stanza.models.common.chuliu_edmonds",)

    def prepare(self, batch: list[np.ndarray]) -> list[np.ndarray]:
        return [square(scores, np.float32) for scores in batch]

    def decode(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root

        return [chuliu_edmonds_one_root(matrix.copy()) for matrix in inputs]  # it writes to its input

    def heads(self, outputs: list[np.ndarray], lengths: list[int]) -> list[np.ndarray]:
        return [heads[1:] for heads in outputs]


class Supar(Contestant):
    name = "supar"
    package = "supar"
    modules = ("torch", "supar.structs.fn")

    def prepare(self, batch: list[np.ndarray]) -> list[Any]:
        import torch

        torch.set_num_threads(1)  # several would wait for each other on the one core
        inputs = []
        for scores in batch:
            mask = torch.ones(1, len(scores) + 1, dtype=torch.bool)
            mask[:, 0] = False
            inputs.append((torch.from_numpy(square(scores, np.float32)[np.newaxis]), mask))
        return inputs

    def decode(self, inputs: list[Any]) -> list[Any]:
        from supar.structs.fn import mst

        return [mst(matrix, mask, multiroot=False) for matrix, mask in inputs]

    def heads(self, outputs: list[Any], lengths: list[int]) -> list[np.ndarray]:
        return [heads[0, 1:].numpy() for heads in outputs]


class SynJax(Contestant):
    """Its decoder for numpy arrays, which numba compiles; all sentences in one call."""

    name = "SynJax"
    package = "synjax"
    modules = ("synjax._src.deptree_algorithms.deptree_non_proj_argmax",)

    def prepare(self, batch: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.array([len(scores) + 1 for scores in batch])
        padded = np.full((len(batch), lengths.max(), lengths.max()), -np.inf)
        for scores, matrix, length in zip(batch, padded, lengths, strict=True):
            matrix[:length, :length] = square(scores).T
        self.decode((padded[:1], lengths[:1]))  # numba compiles at the first call
        return padded, lengths

    def decode(self, inputs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        from synjax._src.deptree_algorithms.deptree_non_proj_argmax import vectorized_mst

        return vectorized_mst(*inputs, single_root_edge=True)

    def heads(self, outputs: np.ndarray, lengths: list[int]) -> list[np.ndarray]:
        return [heads[1 : n + 1] for heads, n in zip(outputs, lengths, strict=True)]


class SpanningTrees(Contestant):
    """The library of the paper's authors."""

    name = "spanningtrees"
    package = "spanningtrees"
    modules = ("spanningtrees.mst",)

    def prepare(self, batch: list[np.ndarray]) -> list[np.ndarray]:
        return [np.ascontiguousarray(square(scores).T) for scores in batch]

    def decode(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        from spanningtrees.mst import MST

        return [MST(matrix).mst(root_constraint=True) for matrix in inputs]

    def heads(self, outputs: list[np.ndarray], lengths: list[int]) -> list[np.ndarray]:
        return [heads[1:] for heads in outputs]


class NetworkX(Contestant):
    name = "networkx, root penalty"
    package = "networkx"
    modules = ("networkx",)

    def prepare(self, batch: list[np.ndarray]) -> list[Any]:
        import networkx

        graphs = []
        for scores in batch:
            graph = networkx.DiGraph()
            weights = penalised(scores)
            for token, head in zip(*np.nonzero(np.isfinite(weights)), strict=True):
                graph.add_edge(int(head), int(token) + 1, weight=float(weights[token, head]))
            graphs.append(graph)
        return graphs

    def decode(self, inputs: list[Any]) -> list[Any]:
        import networkx

        return [networkx.maximum_spanning_arborescence(graph) for graph in inputs]

    def heads(self, outputs: list[Any], lengths: list[int]) -> list[np.ndarray]:
        return [
            np.array([next(tree.predecessors(token + 1)) for token in range(n)])
            for tree, n in zip(outputs, lengths, strict=True)
        ]


FLOOR, SINGLE, FLAT = Argmax.name, Single.name, FlatBatch.name
CONTESTANTS: tuple[Callable[[], Contestant], ...] = (
    Argmax, Single, ListBatch, FlatBatch,
    TensorFlowText, SynJax, Ufal, UfalPenalty, UfalRuns, SpanningTrees, Stanza, Supar, NetworkX,
)  # fmt: skip
