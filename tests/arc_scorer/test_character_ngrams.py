"""The vectors of character n-grams: what they depend on, and their gradient."""

import numpy as np
import pytest
from spacy.vocab import Vocab
from thinc.api import NumpyOps, Ops, fix_random_seed

from scorer_helpers import make_docs
from spacy_mindroot.arc_scorer.character_ngrams import CharacterNGrams, ngram_rows


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


def test_words_too_short_for_any_ngram():
    model = CharacterNGrams(6, 40, 9, 9)
    model.initialize()
    docs = make_docs([["a", "b"]])
    output, backprop = model.begin_update(docs)
    assert not output.dataXd.any() and output.dataXd.shape == (2, 6)
    backprop(output)
    assert not model.get_grad("E").any()
