"""Shared by the tests of the scorer: small pipelines, random inputs of layers, and checks of gradients."""

import types
from pathlib import Path

import numpy as np
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.converters import conllu_to_docs
from thinc.api import NumpyOps, fix_random_seed

from spacy_mindroot.arc_scorer.batching import batch_sentences

TREEBANK = Path(__file__).parents[1] / "assets" / "treebank"
ENCODERS = {
    "spaCy's": {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 32,
        "depth": 2,
        "embed_size": 300,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": True,
    },
    "ours": {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy-mindroot.NGramHashEmbed.v1",
            "width": 32,
            "attrs": ["NORM", "SHAPE"],
            "rows": [300, 100],
            "ngram_rows": 500,
        },
        "encode": {"@architectures": "spacy-mindroot.CNNBiLSTM.v1", "width": 32, "depth": 1, "lstm_depth": 2},
    },
}


def small(encoder="spaCy's"):
    return {
        "model": {
            "@architectures": "spacy-mindroot.Biaffine.v1",
            "arc_width": 24,
            "label_width": 16,
            "tag_width": 8,
            "tok2vec": ENCODERS[encoder],
        }
    }


def gold_docs(count=8, per_doc=2, part="train"):
    text = (TREEBANK / f"{part}.conllu").read_text("utf8")
    return list(conllu_to_docs(text, n_sents=per_doc, no_print=True))[:count]


def make_examples(nlp, docs):
    """The predicted Docs have the tokens, and nothing else."""
    return [
        Example(Doc(nlp.vocab, words=[t.text for t in doc], spaces=[bool(t.whitespace_) for t in doc]), doc)
        for doc in docs
    ]


def make_nlp(docs, *, steps, seed=0, config=None, encoder="spaCy's"):
    fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.add_pipe("arc_scorer", config=small(encoder) | (config or {}))
    nlp.add_pipe("mind_root")
    return learn(nlp, docs, steps)


def learn(nlp, docs, steps):
    """Initialize a pipeline, update it with all Docs a few times, and return it."""
    optimizer = nlp.initialize(lambda: make_examples(nlp, docs))
    optimizer.learn_rate = 0.005
    for _ in range(steps):
        nlp.update(make_examples(nlp, docs), sgd=optimizer, drop=0.0)
    return nlp


def with_sentences(nlp, doc):
    starts = [t.is_sent_start for t in doc]
    return Doc(nlp.vocab, words=[t.text for t in doc], spaces=[bool(t.whitespace_) for t in doc], sent_starts=starts)


def parse(nlp, docs, **kwargs):
    return list(nlp.pipe([with_sentences(nlp, doc) for doc in docs], **kwargs))


def trees(docs):
    return [[(t.head.i, t.dep_) for t in doc] for doc in docs]


# ---------------------------------------------------------------------------------------------------------------------
# Layers

TEXTS = (["The", "cat", "sat"], [], ["a", "cat", "cat", "x" * 300])  # for the embedding

OPS = NumpyOps()


class DeviceOps(NumpyOps):
    """Operations whose arrays are numpy's, and which are not recognised as the host's.

    Layers take the way that they take on a GPU.
    """

    xp = types.ModuleType("device")
    xp.__getattr__ = lambda name: getattr(np, name)


def to_ops(model, ops):
    """Set the operations of all layers, and return the model."""
    for node in model.walk():
        node.ops = ops
    return model


LENGTHS = [3, 1, 6, 4, 4, 30]
N, WIDTH = sum(LENGTHS), 5


def vectors(rng, rows=N, width=WIDTH):
    return rng.normal(size=(rows, width)).astype("f")


def randomise(model, rng):
    """Gives a layer parameters that are not zero."""
    for name in model.param_names:
        model.set_param(name, rng.normal(size=model.get_param(name).shape).astype("f"))
    return model


def gradient_errors(loss, arrays, gradients, rng, *, step, checks=12):
    """Yield the differences between gradients and central finite differences, at random places of each array."""
    for array, gradient in zip(arrays, gradients, strict=True):
        assert array.shape == gradient.shape
        for _ in range(checks):
            place = tuple(rng.integers(size) for size in array.shape)
            before = array[place]
            array[place] = before + step
            above = loss()
            array[place] = before - step
            below = loss()
            array[place] = before
            yield abs((above - below) / (2 * step) - gradient[place]) / max(1, abs(gradient[place]))


def check_arc_gradients(make, rng):
    """Compare the gradients of an arc layer with finite differences, which are exact but for rounding.

    The scores are linear in each single number.
    """
    batch = batch_sentences(OPS, LENGTHS)
    dependents, heads = vectors(rng), vectors(rng)
    model = make(WIDTH)
    model.initialize(X=(dependents, heads, batch))
    randomise(model, rng)
    weights = [
        rng.normal(size=group.allowed.shape).astype("f") * group.allowed * group.real[:, :, None]
        for group in batch.groups
    ]

    def loss():
        scores = model.predict((dependents, heads, batch))
        return sum(float((s[w != 0] * w[w != 0]).sum()) for s, w in zip(scores, weights, strict=True))

    _, backprop = model.begin_update((dependents, heads, batch))
    d_dependents, d_heads = backprop(weights)
    arrays = [dependents, heads, *(model.get_param(name) for name in model.param_names)]
    gradients = [d_dependents, d_heads, *(model.get_grad(name) for name in model.param_names)]
    assert max(gradient_errors(loss, arrays, gradients, rng, step=0.5)) < 1e-3


def check_alone_and_in_a_batch(make, rng):
    """Compare the scores of each sentence, alone and in a batch."""
    dependents, heads = vectors(rng), vectors(rng)
    batch = batch_sentences(OPS, LENGTHS)
    model = make(WIDTH)
    model.initialize(X=(dependents, heads, batch))
    randomise(model, rng)
    blocks = model.predict((dependents, heads, batch))
    start = 0
    for k, n in enumerate(LENGTHS):
        rows = slice(start, start + n)
        start += n
        alone = model.predict((dependents[rows], heads[rows], batch_sentences(OPS, [n])))[0][0]
        for group, block in zip(batch.groups, blocks, strict=True):
            for row in np.flatnonzero(group.sentences == k):
                np.testing.assert_allclose(block[row, :n, : n + 1], alone, rtol=1e-4, atol=1e-4)


def make_docs(texts=TEXTS, vocab=None):
    vocab = vocab or spacy.blank("en").vocab
    return [Doc(vocab, words=words) for words in texts]
