"""The vectors of character n-grams: what they depend on, and their gradient."""

import numpy as np
import pytest
from spacy.strings import get_string_id
from spacy.vocab import Vocab
from thinc.api import NumpyOps, Ops, fix_random_seed

from scorer_helpers import make_docs
from spacy_mindroot.arc_scorer.character_ngrams import CharacterNGrams, ngram_rows, ngram_rows_of, spelling_vectors


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


def hashed_by_spacy(word, rows, shortest, longest):
    """The rows of a word's n-grams, one by one, with spaCy's hash function."""
    if len(word) > 100:
        word = word[:50] + word[-50:]
    marked = f"<{word}>"
    sizes = range(shortest, min(longest, len(marked)) + 1)
    return [get_string_id(marked[k : k + n]) % rows for n in sizes for k in range(len(marked) - n + 1)]


def test_ngrams_are_hashed_as_spacy_hashes_strings(rng):
    """Also those that spaCy numbers, such as names of labels, and characters of one to four bytes."""
    alphabet = list("abcdetnsubj<>") + ["é", "ß", "ж", "한", "𝄞", "\u0301", "\0"]
    words = ["det", "nsubj", "NOUN", "xdetx", "", "<", "\U0010ffff" * 3, "ab" * 60, "é" * 101]
    words += ["".join(rng.choice(alphabet, rng.integers(1, 25))) for _ in range(300)]
    assert get_string_id("det") < 1000 < get_string_id("dex")
    for rows, shortest, longest in ((10_000, 2, 5), (7, 1, 3), (10**9, 4, 12)):
        found, counts = ngram_rows_of(words, rows, shortest, longest)
        expected = [hashed_by_spacy(word, rows, shortest, longest) for word in words]
        assert counts.tolist() == [len(of_word) for of_word in expected]
        assert found.tolist() == [row for of_word in expected for row in of_word]


def test_vectors_of_words_without_a_doc():
    model = ngram_layer()
    words = ["cat", "x", "", "sat" * 50]
    expected = model.predict(make_docs([["cat", "x", "sat" * 50]])).dataXd
    found = spelling_vectors(model, words)
    np.testing.assert_allclose(found[[0, 1, 3]], expected, atol=1e-6)
    np.testing.assert_allclose(
        found[2], model.get_param("E")[ngram_rows("", 40, 2, 4)].sum(axis=0), atol=1e-6
    )  # "<>" is one n-gram
    assert spelling_vectors(model, []).shape == (0, 6)


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


def test_words_too_short_for_any_ngram():
    model = CharacterNGrams(6, 40, 9, 9)
    model.initialize()
    docs = make_docs([["a", "b"]])
    output, backprop = model.begin_update(docs)
    assert not output.dataXd.any() and output.dataXd.shape == (2, 6)
    backprop(output)
    assert not model.get_grad("E").any()
