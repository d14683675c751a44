"""The embedding: what a word's vector depends on, and its gradient."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import NumpyOps, Ops, fix_random_seed

from spacy_mindroot.arc_scorer.character_ngrams import CharacterNGrams, ngram_rows
from spacy_mindroot.arc_scorer.embedding import WordDropout

NAME = "spacy-mindroot.NGramHashEmbed.v1"
TEXTS = (["The", "cat", "sat"], [], ["a", "cat", "cat", "x" * 300])


def make_docs(texts=TEXTS, vocab=None):
    vocab = vocab or spacy.blank("en").vocab
    return [Doc(vocab, words=words) for words in texts]


def make_embed(**settings):
    build = spacy.registry.architectures.get(NAME)
    model = build(**{"width": 8, "attrs": ["NORM", "SHAPE"], "rows": [50, 20], "ngram_rows": 100, **settings})
    fix_random_seed(0)
    model.initialize(X=make_docs())
    return model


def ngram_layer(ops=None):
    model = CharacterNGrams(6, 40, 2, 4)
    if ops:
        model.ops = ops
    fix_random_seed(0)
    model.initialize()
    return model


def test_the_ngrams_of_a_word():
    assert len(ngram_rows("ab", 1000, 2, 3)) == len(["<a", "ab", "b>", "<ab", "ab>"])
    assert len(ngram_rows("ab", 1000, 5, 9)) == 0
    assert len(ngram_rows("ab", 1000, 2, 10**9)) == len(["<a", "ab", "b>", "<ab", "ab>", "<ab>"])
    assert len(ngram_rows("ab" * 10**6, 1000, 2, 2)) == 101
    assert set(ngram_rows("walked", 10**6, 3, 5)) & set(ngram_rows("talked", 10**6, 3, 5))
    assert not set(ngram_rows("walked", 10**6, 3, 5)) & set(ngram_rows("been", 10**6, 3, 5))
    assert max(ngram_rows("abcdefgh" * 50, 7, 1, 5)) < 7


@pytest.mark.parametrize("ops", [NumpyOps(), Ops()], ids=["NumpyOps", "Ops"])
def test_a_vector_is_the_sum_of_those_of_the_ngrams(ops):
    model = ngram_layer(ops)
    docs = make_docs()
    output = model.predict(docs)
    assert list(output.lengths) == [len(doc) for doc in docs]
    for token, vector in zip([token for doc in docs for token in doc], output.dataXd, strict=True):
        rows = model.get_param("E")[ngram_rows(token.norm_, 40, 2, 4)]
        np.testing.assert_allclose(vector, rows.sum(axis=0) / np.sqrt(len(rows)), atol=1e-5)


@pytest.mark.parametrize("ops", [NumpyOps(), Ops()], ids=["NumpyOps", "Ops"])
def test_gradient_of_the_ngrams(ops, rng):
    """The output is linear in the table, so that differences are exact but for rounding."""
    model, docs = ngram_layer(ops), make_docs()
    output, backprop = model.begin_update(docs)
    weights = rng.normal(size=output.dataXd.shape).astype("f")
    output.data = weights
    backprop(output)
    table, gradient = model.get_param("E"), model.get_grad("E")
    for place in [(row, 2) for row in range(len(table))]:
        before = float((model.predict(docs).dataXd.astype("d") * weights).sum())
        table[place] += 1
        after = float((model.predict(docs).dataXd.astype("d") * weights).sum())
        table[place] -= 1
        assert after - before == pytest.approx(gradient[place], abs=1e-3)


def test_docs_of_different_vocabs_in_a_batch():
    """Each has its own strings."""
    model = ngram_layer()
    mixed = model.predict(make_docs([["cat"]], Vocab()) + make_docs([["dog", "cat"]], Vocab())).dataXd
    np.testing.assert_array_equal(mixed[0], mixed[2])
    assert not np.allclose(mixed[0], mixed[1])


def test_unknown_words_of_similar_spelling_are_similar():
    model = make_embed(ngram_rows=5000, width=64)
    walked, talked, other = model.predict(make_docs([["walked", "talked", "bornes"]]))[0]

    def cosine(a, b):
        return a @ b / np.sqrt((a @ a) * (b @ b))

    assert cosine(walked, talked) > cosine(walked, other)


def test_words_too_short_for_any_ngram():
    model = CharacterNGrams(6, 40, 9, 9)
    model.initialize()
    docs = make_docs([["a", "b"]])
    output, backprop = model.begin_update(docs)
    assert not output.dataXd.any() and output.dataXd.shape == (2, 6)
    backprop(output)
    assert not model.get_grad("E").any()
    assert make_embed(shortest=9, longest=9).predict(docs)[0].shape == (2, 8)


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
        np.testing.assert_allclose(vectors, model.predict([doc])[0], atol=1e-6)


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
        ({"ngram_rows": 0}, "ngram_rows = 0"),
        ({"word_dropout": 1.0}, "word_dropout .* found 1.0"),
    ],
)
def test_settings_that_do_not_fit(settings, says):
    with pytest.raises(ValueError, match=f"{NAME}.*{says}"):
        make_embed(**settings)
