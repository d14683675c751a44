"""The embedding: what the vector of a word depends on, and copies."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import fix_random_seed

from scorer_helpers import DeviceOps, make_docs, to_ops
from spacy_mindroot.arc_scorer.embedding import WordDropout, build_ngram_hash_embed, distinct_rows
from spacy_mindroot.arc_scorer.lexicon import TABLE, make_lexicon
from spacy_mindroot.doc.words import MultiwordToken, set_multiword_tokens
from spacy_mindroot.errors import MindRootError

NAME = "spacy-mindroot.NGramHashEmbed.v1"


def make_embed(**settings):
    build = spacy.registry.architectures.get(NAME)
    model = build(**{"width": 8, "attrs": ["NORM", "SHAPE"], "rows": [50, 20], "ngram_rows": 100, **settings})
    fix_random_seed(0)
    model.initialize(X=make_docs())
    return model


def test_unknown_words_of_similar_spelling_are_similar():
    model = make_embed(ngram_rows=5000, width=64)
    walked, talked, other = model.predict(make_docs([["walked", "talked", "bornes"]]))[0]

    def cosine(a, b):
        return a @ b / np.sqrt((a @ a) * (b @ b))

    assert cosine(walked, talked) > cosine(walked, other)


@pytest.mark.parametrize("settings", [{}, {"include_static_vectors": True}], ids=["", "static vectors"])
@pytest.mark.parametrize("texts", [[], [[]], [[], []]], ids=["no docs", "an empty doc", "two"])
def test_docs_without_a_token(texts, settings):
    """As from spaCy's MultiHashEmbed; `Tok2Vec.update` asks for them."""
    vocab = spacy.blank("en").vocab
    vocab.set_vector("cat", np.arange(4, dtype="f"))
    build = spacy.registry.architectures.get(NAME)
    model = build(width=8, attrs=["NORM"], rows=[50], **settings)
    model.initialize(X=make_docs(vocab=vocab))
    vectors, backprop = model.begin_update(make_docs(texts, vocab))
    assert [v.shape for v in vectors] == [(0, 8) for _ in texts]
    backprop(vectors)


def test_initialized_without_data():
    model = spacy.registry.architectures.get(NAME)(width=8, attrs=["NORM"], rows=[50])
    model.initialize()
    assert model.predict(make_docs())[0].shape == (3, 8)


def test_a_doc_is_embedded_the_same_alone_and_in_a_batch():
    model, docs = make_embed(), make_docs()
    for doc, vectors in zip(docs, model.predict(docs), strict=True):
        assert vectors.shape == (len(doc), 8)
        np.testing.assert_allclose(vectors, model.predict([doc])[0], atol=1e-5)  # rounded as the kernel does


@pytest.mark.parametrize("attrs", [["NORM", "SHAPE"], ["PREFIX"], ["SHAPE", "NORM", "ORTH"]])
@pytest.mark.parametrize("ngram_rows", [0, 100])
def test_predicted_once_for_all_tokens_with_the_same_attributes(attrs, ngram_rows, monkeypatch):
    """The vectors are those of the layers, token by token, also across vocabs and with empty Docs."""
    model = make_embed(attrs=attrs, rows=[50] * len(attrs), ngram_rows=ngram_rows)
    texts = [["The", "cat", "the", "cat"], [], ["a"], ["cat", "CAT", "cat"]]
    docs = make_docs(texts) + make_docs(texts[::-1], Vocab())
    docs[0][2].norm_ = "thee"
    rows = []
    embed = model.layers[0].layers[0].layers[0] if ngram_rows else model.layers[0].layers[0]
    embed = embed.layers[-1]
    forward = embed._func
    monkeypatch.setattr(embed, "_func", lambda node, X, is_train: rows.append(len(X)) or forward(node, X, is_train))
    found = model.predict(docs)
    expected = model.layers[0].predict(docs)
    assert [len(doc) for doc in docs] == [len(vectors) for vectors in found]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert rows[0] < 0.8 * sum(map(len, docs))
    for one, other in zip(to_ops(model, DeviceOps()).predict(docs), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("ngram_rows", [0, 100])
def test_the_treebank_of_a_word_is_embedded(ngram_rows):
    """In training and in prediction. Without a mark, a word is of the treebank itself."""
    model = make_embed(ngram_rows=ngram_rows, treebank_rows=19, word_dropout=0.0)
    own, marked, unmarked, odd = make_docs([["a", "cat", "a"]] * 4)
    own._.treebanks = np.zeros(3, dtype=np.uint64)
    marked._.treebanks = np.array([0, 7, 9], dtype=np.uint64)
    odd._.treebanks = np.array([7, 7], dtype=np.uint64)  # of another tokenization
    docs = [own, marked, unmarked, odd]
    predicted = model.predict(docs)
    trained, backprop = model(docs, True)
    for one, other in zip(predicted, trained, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    for other in (predicted[2], predicted[3]):
        np.testing.assert_allclose(predicted[0], other, atol=1e-5)
    same = np.isclose(predicted[0], predicted[1], atol=1e-5).all(axis=1)
    assert same.tolist() == [True, False, False]
    backprop([np.ones_like(vectors) for vectors in trained])
    (table,) = (node for node in model.walk() if node.has_dim("nV") and node.get_dim("nV") == 19)
    assert table.get_grad("E").any()
    assert len(model.predict(make_docs([[]]))[0]) == 0


def test_without_ngrams_it_is_spacys_embedding():
    build = spacy.registry.architectures.get("spacy.MultiHashEmbed.v2")
    theirs = build(width=8, attrs=["NORM", "SHAPE"], rows=[50, 20], include_static_vectors=False)
    fix_random_seed(0)
    theirs.initialize(X=make_docs())
    for one, other in zip(theirs.predict(make_docs()), make_embed(ngram_rows=0).predict(make_docs()), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_prediction_may_be_propagated_back():
    model, docs = make_embed(word_dropout=0.0), make_docs()
    gradients = []
    for is_train in (True, False):
        vectors, backprop = model(docs, is_train)
        backprop([np.ones_like(v) for v in vectors])
        gradients.append([node.get_grad(name).copy() for node in model.walk() for name in node.param_names])
        for node in model.walk():
            for name in node.param_names:
                node.set_grad(name, node.get_grad(name) * 0)
    for one, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    assert any(gradient.any() for gradient in gradients[0])


def test_distinct_rows(rng):
    rows = rng.integers(0, 3, (200, 3)).astype(np.uint64)
    first, inverse = distinct_rows(rows)
    assert len(first) == len({tuple(row) for row in rows.tolist()})
    np.testing.assert_array_equal(rows[first][inverse], rows)


def test_rows_with_the_same_hash_stay_distinct():
    """Constructed from two different first columns: what the second one must be for the hashes to agree."""

    def mixed(value):
        value = value * 0x9E3779B97F4A7C15 % 2**64
        return value ^ (value >> 29)

    rows = np.array([[1, 5], [2, mixed(1) ^ 5 ^ mixed(2)], [1, 5]], dtype=np.uint64)
    first, inverse = distinct_rows(rows)
    assert first.tolist() == inverse.tolist() == [0, 1, 2]


def test_words_are_dropped_in_training_only():
    layer = WordDropout(0.25)
    attributes = [np.arange(1, 3001, dtype="uint64").reshape(-1, 3), np.empty((0, 3), dtype="uint64")]
    before = [array.copy() for array in attributes]
    assert all(np.array_equal(a, b) for a, b in zip(layer.predict(attributes), before, strict=True))
    dropped, backprop = layer.begin_update(attributes)
    assert all(np.array_equal(a, b) for a, b in zip(attributes, before, strict=True))  # they may be used elsewhere
    share = np.mean(dropped[0][:, 0] == 0)
    assert 0.2 < share < 0.3
    kept = dropped[0][:, 0] != 0
    np.testing.assert_array_equal(dropped[0][kept], before[0][kept])
    np.testing.assert_array_equal(dropped[0][:, 1:], before[0][:, 1:])
    assert dropped[0].dtype == np.uint64 and dropped[1].shape == (0, 3)
    assert backprop(dropped) is dropped


def test_static_vectors():
    vocab = spacy.blank("en").vocab
    vocab.set_vector("cat", np.arange(4, dtype="f"))
    build = spacy.registry.architectures.get(NAME)
    model = build(width=8, attrs=["NORM"], rows=[50], include_static_vectors=True)
    docs = make_docs([["cat", "dog"]], vocab)
    model.initialize(X=docs)
    before = model.predict(docs)[0].copy()
    vocab.set_vector("cat", -np.arange(4, dtype="f"))
    assert not np.allclose(model.predict(docs)[0], before)


def test_weights_come_back_from_bytes():
    model, other = make_embed(), make_embed()
    for node in other.walk():
        for name in node.param_names:
            node.set_param(name, node.get_param(name) + 1)
    other.from_bytes(model.to_bytes())
    np.testing.assert_array_equal(model.predict(make_docs())[0], other.predict(make_docs())[0])


def test_a_copy_has_weights_of_its_own():
    """As `replace_listeners` makes one."""
    model = make_embed()
    before = model.predict(make_docs())[0].copy()
    copied = model.copy()
    for node in copied.walk():
        for name in node.param_names:
            node.set_param(name, node.get_param(name) + 1)
    np.testing.assert_array_equal(model.predict(make_docs())[0], before)
    assert not np.allclose(copied.predict(make_docs())[0], before)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"rows": [50]}, r"attributes .*NORM.* and rows \[50\]"),
        ({"rows": [50, 0]}, r"rows \[50, 0\]"),
        ({"attrs": [], "rows": []}, r"attributes \[\]"),
        ({"shortest": 4, "longest": 3}, "shortest = 4, longest = 3"),
        ({"shortest": 0}, "shortest = 0"),
        ({"ngram_rows": -1}, "ngram_rows = -1"),
        ({"word_dropout": 1.0}, "word_dropout .* found 1.0"),
    ],
)
def test_settings_that_do_not_fit(settings, says):
    with pytest.raises(MindRootError, match=f"{NAME}.*{says}"):
        make_embed(**settings)


def test_words_too_short_for_any_ngram():
    docs = make_docs([["a", "b"]])
    assert make_embed(shortest=9, longest=9).predict(docs)[0].shape == (2, 8)


def test_word_vectors_are_those_of_the_forms():
    nlp = spacy.blank("xx")
    for form, value in (("va", 1.0), ("de", 2.0), ("le", 3.0)):
        nlp.vocab.set_vector(form, np.full(4, value, dtype="f"))
    doc = Doc(nlp.vocab, ["va", "d", "u"], spaces=[True, False, False])
    set_multiword_tokens(doc, [MultiwordToken(1, 3, ("de", "le"))])
    plain = Doc(nlp.vocab, ["va", "de", "le"])
    model = build_ngram_hash_embed(8, ["NORM"], [50], include_static_vectors=True)
    model.initialize(X=[doc])
    found, expected = model.predict([doc, plain])
    np.testing.assert_array_equal(found, expected)
    assert np.abs(found[1] - found[2]).max() > 0


def test_lexicon(tmp_path):
    """Words of the same class are alike, in training and in prediction, and a form is that of the word."""
    (tmp_path / "words.tsv").write_text("le\tle\tDET\nla\tle\tDET\n", "utf8")
    vocab = Vocab()
    vocab.lookups.set_table(TABLE, make_lexicon([tmp_path / "words.tsv"]))
    build = spacy.registry.architectures.get(NAME)
    model = build(
        width=8, attrs=["SHAPE"], rows=[20], ngram_rows=0, word_dropout=0.0, treebank_rows=2, lexicon_rows=[50, 50]
    )
    doc = Doc(vocab, words=["le", "la", "du", "au", "d", "u"])
    set_multiword_tokens(doc, [MultiwordToken(4, 6, ("de", "la"))])
    model.initialize(X=[doc])
    found = model.predict([doc])[0]
    np.testing.assert_allclose(model([doc], is_train=True)[0][0], found, atol=1e-5)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[2], found[3])
    np.testing.assert_array_equal(found[0], found[5])
    assert not np.allclose(found[0], found[2])


@pytest.mark.parametrize("rows", [[10], [10, 0], [1, 2, 3]])
def test_sizes_of_the_lexicon(rows):
    with pytest.raises(MindRootError, match="lexicon_rows must be two numbers"):
        make_embed(lexicon_rows=rows)
