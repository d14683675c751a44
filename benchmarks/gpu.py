"""Layers, losses and training on one kind of operations against another: CupyOps against NumpyOps.

The functions take any two operations, so that their logic is tested without a GPU. benchmarks/README.md has what was
found on one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import spacy
from spacy import util
from spacy.language import Language
from spacy.lookups import Table
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Config, Model, Ops, fix_random_seed, use_ops

from spacy_mindroot.arc_scorer.arc_biaffine import ArcBiaffine
from spacy_mindroot.arc_scorer.arc_distance import ArcDistance
from spacy_mindroot.arc_scorer.batching import BUCKETS, batch_sentences
from spacy_mindroot.arc_scorer.bilstm import BiLSTM
from spacy_mindroot.arc_scorer.character_ngrams import CharacterNGrams
from spacy_mindroot.arc_scorer.component import ARC_LOSSES
from spacy_mindroot.arc_scorer.embedding import build_ngram_hash_embed
from spacy_mindroot.arc_scorer.encoder import build_cnn_bilstm
from spacy_mindroot.arc_scorer.label_biaffine import LabelBiaffine
from spacy_mindroot.arc_scorer.lexicon import TABLE, make_lexicon
from spacy_mindroot.arc_scorer.loss import class_loss
from spacy_mindroot.arc_scorer.maxout import MaxoutNorm, MaxoutWindows
from spacy_mindroot.arc_scorer.model import ArcGradient, ArcInput, build_biaffine
from spacy_mindroot.arc_scorer.tag_features import TagFeatures

from .pipelines import make_docs

LENGTHS = [3, 1, 6, 4, 4, 30, 17]
TOKENS = sum(LENGTHS)
WIDTH, LABELS, TAGS = 16, 5, 4
TOLERANCE = 1e-3  # of the largest value of an array

# What a layer computed: arrays on the host, by name.
Results = dict[str, np.ndarray]


def compare(one: Ops, other: Ops) -> Iterator[tuple[str, float]]:
    """Yield the name of each layer and loss, and the largest relative difference between the two operations.

    Weights, inputs and gradients of outputs are the same; outputs, and gradients of inputs and weights, are compared.
    """
    for name, run in (*_LAYERS.items(), *_LOSSES.items()):
        results = [_run(run, ops) for ops in (one, other)]
        yield name, difference(*results)


def difference(one: Results, other: Results) -> float:
    """Return the largest difference between two sets of arrays, relative to the largest value of each array.

    It is infinite if they do not have the same arrays of the same shapes, or differ in what is finite.
    """
    if one.keys() != other.keys() or not one:
        return float("inf")
    largest = 0.0
    for name, a in one.items():
        b = other[name]
        finite = np.isfinite(a)
        if a.shape != b.shape or not np.array_equal(finite, np.isfinite(b)):
            return float("inf")
        if finite.any():
            scale = max(float(np.abs(a[finite]).max()), 1e-6)
            largest = max(largest, float(np.abs(a[finite] - b[finite]).max()) / scale)
    return largest


def train(config: Config, gold: list[Doc], ops: Ops, steps: int, batch: int) -> tuple[Language, list[float], float]:
    """Train a pipeline on some operations, and return it, the loss of each step, and the words per second."""
    with use_ops_of(ops):
        fix_random_seed(0)
        nlp = util.load_model_from_config(config, auto_fill=True)
        optimizer = nlp.initialize(lambda: _examples(nlp, gold))
        optimizer.learn_rate = 0.002
        losses, words, seconds = [], 0, 0.0
        for step in range(steps):
            examples = _examples(nlp, [gold[(step * batch + k) % len(gold)] for k in range(batch)])
            began = time.perf_counter()
            losses.append(nlp.update(examples, sgd=optimizer)["arc_scorer"])
            if step >= steps // 10:  # the first steps warm up
                seconds += time.perf_counter() - began
                words += sum(len(example.reference) for example in examples)
    return nlp, losses, words / seconds


def predict(nlp: Language, texts: list[list[str]], ops: Ops, batch: int) -> tuple[list[list[int]], float, float]:
    """Return the heads of some sentences, the words per second, and the transfers to the host per batch."""
    with use_ops_of(ops):
        list(nlp.pipe(make_docs(nlp, texts[:batch]), batch_size=batch))
        docs = make_docs(nlp, texts)
        began = time.perf_counter()
        with count_transfers(type(ops)) as transfers:
            docs = list(nlp.pipe(docs, batch_size=batch))
        seconds = time.perf_counter() - began
    heads = [[token.head.i for token in doc] for doc in docs]
    batches = -(-len(texts) // batch)
    return heads, sum(map(len, texts)) / seconds, len(transfers) / batches


@contextmanager
def count_transfers(kind: type[Ops]) -> Iterator[list[int]]:
    """Collect the sizes of the arrays that operations of a kind move to the host with `to_numpy`."""
    sizes: list[int] = []
    original = kind.to_numpy

    def to_numpy(self: Ops, data: Any, *args: Any, **kwargs: Any) -> Any:
        sizes.append(data.size)
        return original(self, data, *args, **kwargs)

    kind.to_numpy = to_numpy  # type: ignore[method-assign]
    try:
        yield sizes
    finally:
        kind.to_numpy = original  # type: ignore[method-assign]


@contextmanager
def use_ops_of(ops: Ops) -> Iterator[None]:
    """Make some operations the current ones, with which new models are made."""
    from thinc.api import get_current_ops, set_current_ops

    before = get_current_ops()
    set_current_ops(ops)
    try:
        yield
    finally:
        set_current_ops(before)


def _examples(nlp: Language, gold: list[Doc]) -> list[Example]:
    docs = make_docs(nlp, [[token.text for token in doc] for doc in gold])
    return [Example(doc, reference) for doc, reference in zip(docs, gold, strict=True)]


def _run(run: Callable[[Ops, Any], Results], ops: Ops) -> Results:
    fix_random_seed(0)
    with use_ops("numpy"):  # weights are made on the host, so that they are the same
        return run(ops, np.random.default_rng(0))


def _floats(rng: Any, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype("f")


def _on(model: Model, ops: Ops, rng: Any) -> Model:
    """Give all layers random weights, and move them to some operations."""
    for node in model.walk():
        node.ops = ops
        for name in node.param_names:
            node.set_param(name, ops.asarray(0.3 * _floats(rng, *node.get_param(name).shape)))
    return model


def _gradients(model: Model, ops: Ops) -> Results:
    return {
        f"{k} {node.name}.{name}": ops.to_numpy(node.get_grad(name))
        for k, node in enumerate(model.walk())
        for name in node.param_names
        if node.has_grad(name)
    }


def _arrays(ops: Ops, name: str, value: Any) -> Results:
    """Return all arrays of an output or input gradient, on the host."""
    if isinstance(value, list | tuple):
        return {key: a for k, part in enumerate(value) for key, a in _arrays(ops, f"{name} {k}", part).items()}
    if hasattr(value, "dataXd"):
        value = value.dataXd
    return {name: ops.to_numpy(value)} if hasattr(value, "shape") else {}


def _layer(model: Model, X: Any, weights: Any, ops: Ops, rng: Any) -> Results:
    """Return what a layer computes of X, with `weights(output)` as the gradient of its output."""
    _on(model, ops, rng)
    Y, backprop = model.begin_update(X)
    outputs = _arrays(ops, "output", Y)
    dX = backprop(weights(Y))
    predicted = _arrays(ops, "prediction", model.predict(X))
    return outputs | predicted | _arrays(ops, "d_input", dX) | _gradients(model, ops)


def _initialized(model: Model, X: Any = None) -> Model:
    model.initialize(X=X)
    return model


def _bilstm(ops: Ops, rng: Any) -> Results:
    return _texts_layer(_initialized(BiLSTM(WIDTH, WIDTH)), ops, rng)


def _texts_layer(model: Model, ops: Ops, rng: Any) -> Results:
    texts = [ops.asarray(_floats(rng, n, WIDTH)) for n in (*LENGTHS, 0)]
    d_texts = [ops.asarray(_floats(rng, n, WIDTH)) for n in (*LENGTHS, 0)]
    return _layer(model, texts, lambda _: d_texts, ops, rng)


def _maxout(ops: Ops, rng: Any) -> Results:
    X, dY = ops.asarray(_floats(rng, TOKENS, WIDTH)), ops.asarray(_floats(rng, TOKENS, 8))
    return _layer(_initialized(MaxoutNorm(8, WIDTH, 3)), X, lambda _: dY, ops, rng)


def _tags(ops: Ops, rng: Any) -> Results:
    X = ops.asarray(_floats(rng, TOKENS, WIDTH))
    dY = (ops.asarray(_floats(rng, TOKENS, WIDTH + 8)), ops.asarray(_floats(rng, TOKENS, TAGS)))
    return _layer(_initialized(TagFeatures(8, WIDTH, TAGS)), X, lambda _: dY, ops, rng)


def _arcs(build: Callable[[int], Model]) -> Callable[[Ops, Any], Results]:
    def run(ops: Ops, rng: Any) -> Results:
        batch = batch_sentences(ops, LENGTHS)
        X = (*(ops.asarray(_floats(rng, TOKENS, WIDTH)) for _ in range(2)), batch)
        d_arcs = []
        for group in batch.groups:  # no gradient comes to padding
            weights = _floats(rng, len(group.lengths), *(max(group.lengths) + k for k in range(2)))
            for row, n in zip(weights, group.lengths, strict=True):
                row[n:] = row[:, n + 1 :] = 0
            d_arcs.append(ops.asarray(weights))
        found = _layer(_initialized(build(WIDTH)), X, lambda _: d_arcs, ops, rng)
        return {name: a for name, a in found.items() if "output" not in name and "prediction" not in name} | {
            f"{name}, sentence {k}": a[row, :n, : n + 1]  # padding has meaningless scores
            for name, a in found.items()
            if "output" in name or "prediction" in name
            for row, (k, n) in enumerate(
                zip(
                    *(getattr(batch.groups[int(name.split()[-1])], part) for part in ("sentences", "lengths")),
                    strict=True,
                )
            )
        }

    return run


def _labels(ops: Ops, rng: Any) -> Results:
    batch = batch_sentences(ops, LENGTHS)
    rows = np.where(rng.random(TOKENS) < 0.2, -1, rng.integers(0, TOKENS, TOKENS))
    distances = rng.integers(0, BUCKETS, TOKENS)
    vectors = [ops.asarray(_floats(rng, TOKENS, WIDTH)) for _ in range(2)]
    d_scores = ops.asarray(_floats(rng, TOKENS, LABELS))
    model = _initialized(LabelBiaffine(WIDTH, LABELS))
    found = _layer(model, (*vectors, batch, ops.asarray(rows), ops.asarray(distances)), lambda _: d_scores, ops, rng)
    on_demand = model.predict((*vectors, batch, None, None))
    for k, group in enumerate(batch.groups):
        found[f"all arcs {k}"] = np.concatenate([ops.to_numpy(part) for part in on_demand.of_all_arcs(group)], axis=1)
    return found


def _docs(rng: Any) -> list[Doc]:
    nlp = spacy.blank("xx")
    nlp.vocab.lookups.set_table(TABLE, _lexicon())
    words = ["cat", "cats", "Cat", "sat", "on", "the", "The", "mat", ".", "1984", "ünïcödé"]
    return make_docs(nlp, [[words[k] for k in rng.integers(0, len(words), n)] for n in LENGTHS])


def _lexicon() -> Table:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lexicon.tsv"
        path.write_text("cats\tcat\tNOUN\nsat\tsit\tVERB\nsat\tsat\tADJ\n", encoding="utf8")
        return make_lexicon([path])


def _ngrams(ops: Ops, rng: Any) -> Results:
    docs = _docs(rng)

    def gradient(Y: Any) -> Any:
        Y.data = ops.asarray(_floats(rng, TOKENS, WIDTH))
        return Y

    return _layer(_initialized(CharacterNGrams(WIDTH, 50, 2, 4)), docs, gradient, ops, rng)


def _embedding(ops: Ops, rng: Any) -> Results:
    docs = _docs(rng)
    d_vectors = [ops.asarray(_floats(rng, n, WIDTH)) for n in LENGTHS]
    settings = {"ngram_rows": 50, "word_dropout": 0.0, "lexicon_rows": [20, 20]}
    model = build_ngram_hash_embed(WIDTH, ["NORM", "SHAPE"], [30, 20], **settings)
    return _layer(_initialized(model, docs), docs, lambda _: d_vectors, ops, rng)


def _encoder(ops: Ops, rng: Any) -> Results:
    return _texts_layer(_initialized(build_cnn_bilstm(WIDTH, lstm_depth=2)), ops, rng)


def _windows(ops: Ops, rng: Any) -> Results:
    return _texts_layer(_initialized(MaxoutWindows(WIDTH, 1, 3, 2)), ops, rng)


def _whole_model(ops: Ops, rng: Any) -> Results:
    """The architecture as a whole, with gold heads, and the loss of trees as the gradient."""
    docs = _docs(rng)
    embed = build_ngram_hash_embed(WIDTH, ["NORM"], [30], ngram_rows=50, word_dropout=0.0)
    model = build_biaffine(embed, arc_width=WIDTH, label_width=8, tag_width=8, nO=LABELS)
    model.get_ref("tag_features").set_dim("nT", TAGS)
    heads = np.concatenate([rng.integers(0, n + 1, n) for n in LENGTHS])
    X = ArcInput(docs, LENGTHS, heads)
    model.initialize(X=X)
    labels, tags = rng.integers(0, LABELS, TOKENS), rng.integers(0, TAGS, TOKENS)

    def gradient(output: Any) -> ArcGradient:
        return ArcGradient(
            ARC_LOSSES["both"](ops, output.batch, output.arcs, heads)[1],
            class_loss(ops, output.labels, labels)[1],
            class_loss(ops, output.tags, tags)[1],
        )

    _on(model, ops, rng)
    output, backprop = model.begin_update(X)
    arrays = _arrays(ops, "labels", output.labels) | _arrays(ops, "tags", output.tags)
    for group, arcs in zip(output.batch.groups, output.arcs, strict=True):
        for row, (k, n) in enumerate(zip(group.sentences, group.lengths, strict=True)):
            arrays[f"arcs {k}"] = ops.to_numpy(arcs)[row, :n, : n + 1]
    backprop(gradient(output))
    return arrays | _gradients(model, ops)


def _arc_loss(name: str, *, soft: bool = False) -> Callable[[Ops, Any], Results]:
    """Return a loss with gold heads, or with the probabilities of heads in all sentences but the first."""

    def run(ops: Ops, rng: Any) -> Results:
        batch = batch_sentences(ops, LENGTHS)
        heads = np.concatenate([rng.integers(-1, np.arange(1, n + 1)) for n in LENGTHS])  # -1: not known
        arcs = [
            ops.asarray(np.where(ops.to_numpy(group.allowed), _floats(rng, *group.allowed.shape), -np.inf).astype("f"))
            for group in batch.groups
        ]
        allowed = (~np.eye(n, n + 1, 1, dtype=bool) for n in LENGTHS[1:])  # no token is its own head
        targets = [None, *(rng.dirichlet(np.ones(len(a) + 1), len(a)) * a for a in allowed)] if soft else None
        loss, gradients = ARC_LOSSES[name](ops, batch, arcs, heads, targets)
        found = {"loss": np.array([loss])}
        for group, block in zip(batch.groups, gradients, strict=True):
            for row, (k, n) in enumerate(zip(group.sentences, group.lengths, strict=True)):
                found[f"gradient {k}"] = ops.to_numpy(block)[row, :n, : n + 1]
        return found

    return run


def _class_loss(*, soft: bool = False) -> Callable[[Ops, Any], Results]:
    def run(ops: Ops, rng: Any) -> Results:
        scores, classes = ops.asarray(_floats(rng, TOKENS, LABELS)), rng.integers(-1, LABELS, TOKENS)
        targets = rng.dirichlet(np.ones(LABELS), TOKENS) * (rng.random((TOKENS, 1)) < 0.8) if soft else None
        loss, gradient = class_loss(ops, scores, classes, targets)
        return {"loss": np.array([loss]), "gradient": ops.to_numpy(gradient)}

    return run


_LAYERS: dict[str, Callable[[Ops, Any], Results]] = {
    "CharacterNGrams": _ngrams,
    "NGramHashEmbed": _embedding,
    "MaxoutNorm": _maxout,
    "MaxoutWindows": _windows,
    "BiLSTM": _bilstm,
    "CNNBiLSTM": _encoder,
    "TagFeatures": _tags,
    "ArcBiaffine": _arcs(ArcBiaffine),
    "ArcDistance": _arcs(ArcDistance),
    "LabelBiaffine": _labels,
    "Biaffine": _whole_model,
}
_LOSSES: dict[str, Callable[[Ops, Any], Results]] = {
    **{f"loss of arcs, {name}": _arc_loss(name) for name in ARC_LOSSES},
    **{f"loss of arcs, {name}, to teachers": _arc_loss(name, soft=True) for name in ARC_LOSSES},
    "loss of labels and tags": _class_loss(),
    "loss of labels and tags, to teachers": _class_loss(soft=True),
}
