"""The architecture spacy-mindroot.Biaffine.v1: token vectors -> projections -> scores of arcs and of their labels."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc
from thinc.api import Model, chain
from thinc.types import Floats2d, Floats3d

from .arc_biaffine import ArcBiaffine
from .arc_distance import ArcDistance
from .batching import SentenceBatch, batch_sentences, bucket_of
from .gold import lengths_to_score
from .label_biaffine import LabelBiaffine, LabelScores
from .maxout import MaxoutNorm
from .products import on_one_thread, set_products
from .tag_features import TagFeatures

__all__ = ["ArcGradient", "ArcInput", "ArcOutput", "build_biaffine"]

_PROJECTIONS = ("arc_dependent", "arc_head", "label_dependent", "label_head")


class ArcInput(NamedTuple):
    """Input of the model. A plain list of Docs will do, too: see `build_biaffine`."""

    docs: Sequence[Doc]
    lengths: Sequence[int]  # of the sentences of all Docs, end to end
    heads: npt.NDArray[np.int64] | None = None  # (N,), for training: 0 = ROOT, j = token j of the sentence, or MISSING


class ArcOutput(NamedTuple):
    """Output of the model. With heads in the input, labels are scored on their arcs, and otherwise on demand."""

    batch: SentenceBatch
    arcs: list[Floats3d]  # (B, T, T+1) by group, [sentence, dependent, head], column 0 = ROOT; -inf for arcs not there
    labels: Floats2d | LabelScores  # (N, nO)
    tags: Floats2d | None  # (N, nT); None if the model has no tags


class ArcGradient(NamedTuple):
    """Gradient of an ArcOutput that was computed with heads."""

    arcs: list[Floats3d]
    labels: Floats2d
    tags: Floats2d | None


def build_biaffine(
    tok2vec: Model[list[Doc], list[Floats2d]],
    encode: Model[list[Floats2d], list[Floats2d]] | None = None,
    arc_width: int = 128,
    label_width: int = 64,
    maxout_pieces: int = 2,
    tag_width: int = 32,
    nO: int | None = None,
) -> Model[ArcInput | list[Doc], ArcOutput]:
    """Build a model that scores all arcs of each sentence, and all labels of each arc.

    Input: an ArcInput, or a list of Docs, as for spaCy's own architectures. The sentences of such Docs are those that
        are set on them. A Doc without sentence boundaries is one sentence.
    Output: an ArcOutput.

    tok2vec (Model[list[Doc], list[Floats2d]]): Makes the token vectors.
    encode (Optional[Model[list[Floats2d], list[Floats2d]]]): Encodes them further. With a listener as `tok2vec`, these
        layers belong to this model alone.
    arc_width (int): Width of the vectors that score arcs.
    label_width (int): Width of the vectors that score labels. The time to score labels grows with its square.
    maxout_pieces (int): Number of maxout pieces of the four projections.
    tag_width (int): Width of the auxiliary part-of-speech features; 0 for none.
    nO (Optional[int]): Number of labels other than ROOT's. Leave it null to infer it from the training data.
    """
    projections = {
        name: MaxoutNorm(label_width if "label" in name else arc_width, nP=maxout_pieces) for name in _PROJECTIONS
    }
    layers: dict[str, Model[Any, Any]] = {
        "tok2vec": tok2vec if encode is None else chain(tok2vec, encode),
        **projections,
        "arc_biaffine": ArcBiaffine(arc_width),
        "arc_distance": ArcDistance(arc_width),
        "label_biaffine": LabelBiaffine(label_width, nO),
    }
    if tag_width:
        layers["tag_features"] = TagFeatures(tag_width)
    model: Model[ArcInput | list[Doc], ArcOutput] = Model(
        "biaffine",
        _forward,
        init=_init,
        layers=list(layers.values()),
        refs={"tag_features": None, **layers},
        dims={"nO": nO},
    )
    return set_products(model)


@on_one_thread
def _forward(
    model: Model[ArcInput | list[Doc], ArcOutput], inputs: ArcInput | list[Doc], is_train: bool
) -> tuple[ArcOutput, Callable[[ArcGradient], list[Doc]]]:
    ops = model.ops
    if not isinstance(inputs, ArcInput):
        inputs = ArcInput(inputs, [n for doc in inputs for n in lengths_to_score(doc, whole_doc=True)])
    vectors, backprop_tok2vec = model.get_ref("tok2vec")(inputs.docs, is_train)
    flat, tags = ops.flatten(vectors), None
    tag_features = model.maybe_get_ref("tag_features")
    if tag_features is not None:
        (flat, tags), backprop_tags = tag_features(flat, is_train)
    batch = batch_sentences(ops, inputs.lengths)
    projected, backprops = {}, {}
    for name in _PROJECTIONS:
        projected[name], backprops[name] = model.get_ref(name)(flat, is_train)
    arc_input = (projected["arc_dependent"], projected["arc_head"], batch)
    by_vectors, backprop_biaffine = model.get_ref("arc_biaffine")(arc_input, is_train)
    by_distance, backprop_distance = model.get_ref("arc_distance")(arc_input, is_train)
    arcs = [ops.xp.add(one, other, out=other) for one, other in zip(by_vectors, by_distance, strict=True)]
    given = (None, None) if inputs.heads is None else _arcs_as_rows(ops, batch, inputs.heads)
    label_input = (projected["label_dependent"], projected["label_head"], batch, *given)
    labels, backprop_labels = model.get_ref("label_biaffine")(label_input, is_train)

    def backprop(d_output: ArcGradient) -> list[Doc]:
        one, other = backprop_biaffine(d_output.arcs), backprop_distance(d_output.arcs)
        d_projected = (one[0] + other[0], one[1] + other[1], *backprop_labels(d_output.labels))
        d_flat = sum(backprops[name](d) for name, d in zip(_PROJECTIONS, d_projected, strict=True))
        if tag_features is not None:
            d_flat = backprop_tags((d_flat, d_output.tags))
        return backprop_tok2vec(ops.unflatten(d_flat, ops.asarray1i([len(v) for v in vectors])))

    return ArcOutput(batch, arcs, labels, tags), backprop


def _init(model: Model[ArcInput | list[Doc], ArcOutput], X: ArcInput | list[Doc] | None = None, Y: Any = None) -> None:
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=X.docs if isinstance(X, ArcInput) else X)
    vectors = model.ops.alloc2f(1, tok2vec.get_dim("nO"))
    tag_features = model.maybe_get_ref("tag_features")
    if tag_features is not None:
        tag_features.initialize(X=vectors)
        vectors = model.ops.alloc2f(1, vectors.shape[1] + tag_features.get_dim("nO"))
    for name in _PROJECTIONS:
        model.get_ref(name).initialize(X=vectors)
    model.get_ref("label_biaffine").set_dim("nO", model.get_dim("nO"))
    for name in ("arc_biaffine", "arc_distance", "label_biaffine"):
        model.get_ref(name).initialize()


def _arcs_as_rows(ops: Any, batch: SentenceBatch, heads: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    """Return heads within sentences as rows of the flat vectors (-1 = ROOT), and the buckets of their distances."""
    starts = np.repeat(np.cumsum(batch.lengths) - batch.lengths, batch.lengths)
    rows = np.where(heads > 0, starts + heads - 1, -1)
    distances = np.where(heads > 0, bucket_of(rows - np.arange(len(rows))), 0)
    return ops.asarray(rows), ops.asarray(distances)
