"""A vector for the spelling of a word, from its character n-grams (Bojanowski et al. 2017, "fastText")."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from spacy.attrs import NORM
from spacy.symbols import IDS
from spacy.tokens import Doc
from thinc.api import Model, uniform_init
from thinc.types import Ragged

from ..doc.words import attributes_of
from . import _layers

__all__ = ["CharacterNGrams", "ngram_rows", "ngram_rows_of", "spelling_vectors"]

_layers.set_symbols(IDS)

_END = 50  # a longer word counts with this many characters at its beginning and its end


def CharacterNGrams(nO: int, rows: int, shortest: int, longest: int) -> Model[list[Doc], Ragged]:
    """Build a layer that embeds the spelling of each token.

    Input: Docs.
    Output: a vector for each token, (N, nO), a function of its NORM alone (of the form, in multiword tokens).

    The norm is put between "<" and ">". The learned vectors of all n-grams of `shortest` to `longest` characters are
    summed, and the sum is divided by the square root of their number. A word too short for any n-gram has the zero
    vector. In words of more than 100 characters, the middle is ignored.

    nO (int): Width of the vectors.
    rows (int): Rows of the table. N-grams are hashed into it, so that several may share a row.
    shortest (int): Number of characters of the shortest n-grams, "<" and ">" included.
    longest (int): Number of characters of the longest n-grams.
    """
    return Model(
        "character_ngrams",
        _forward,
        init=_init,
        dims={"nO": nO, "nV": rows},
        params={"E": None},  # (nV, nO)
        attrs={"shortest": shortest, "longest": longest},
    )


def _forward(
    model: Model[list[Doc], Ragged], docs: Sequence[Doc], is_train: bool
) -> tuple[Ragged, Callable[[Ragged], list[Doc]]]:
    ops = model.ops
    table = model.get_param("E")
    words, numbers = _words(docs)
    rows, counts = ngram_rows_of(words, len(table), model.attrs["shortest"], model.attrs["longest"])
    lengths, which, flat = ops.asarray1i(counts), ops.asarray1i(numbers), ops.asarray1i(rows)
    scale = ops.asarray2f((1 / np.sqrt(np.maximum(counts, 1)))[:, np.newaxis])
    sums = ops.reduce_sum(table[flat], lengths) * scale if len(flat) else ops.alloc2f(len(words), table.shape[1])

    def backprop(d_output: Ragged) -> list[Doc]:
        d_sums, d_table = ops.alloc2f(*sums.shape), ops.alloc2f(*table.shape)
        if len(flat):
            ops.scatter_add(d_sums, which, d_output.dataXd)
            ops.scatter_add(d_table, flat, ops.backprop_reduce_sum(d_sums * scale, lengths))
        model.inc_grad("E", d_table)
        return []

    return Ragged(sums[which], ops.asarray1i([len(doc) for doc in docs])), backprop


def spelling_vectors(model: Model[list[Doc], Ragged], words: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return the vectors of words, given by their norms, (words, nO), from a CharacterNGrams layer on the host.

    There is no backprop.
    """
    table = model.get_param("E")
    rows, counts = ngram_rows_of(words, len(table), model.attrs["shortest"], model.attrs["longest"])
    vectors = np.empty((len(words), table.shape[1]), dtype="f")
    _layers.sum_rows(table, rows, counts, vectors)
    return vectors


def _init(model: Model[list[Doc], Ragged], X: Sequence[Doc] | None = None, Y: Ragged | None = None) -> None:
    model.set_param("E", uniform_init(model.ops, (model.get_dim("nV"), model.get_dim("nO"))))


def _words(docs: Sequence[Doc]) -> tuple[list[str], npt.NDArray[np.int32]]:
    """Return the distinct norms, and for each token the index of its norm."""
    norms = np.concatenate([np.empty(0, dtype=np.uint64), *(attributes_of(doc, [NORM]).ravel() for doc in docs)])
    _, first, numbers = np.unique(norms, return_index=True, return_inverse=True)
    owners = np.repeat(np.arange(len(docs)), [len(doc) for doc in docs])[first]
    words = [docs[k].vocab.strings[norm] for k, norm in zip(owners.tolist(), norms[first].tolist(), strict=True)]
    return words, numbers.astype("i")


def ngram_rows_of(
    words: Sequence[str], rows: int, shortest: int, longest: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the rows of the n-grams of all words, end to end, and their number for each word.

    See `ngram_rows`. Nothing is cached: hashing a word takes less than a microsecond.
    """
    marked = [f"<{word if len(word) <= 2 * _END else word[:_END] + word[-_END:]}>" for word in words]
    found, counts = _layers.ngram_rows(marked, rows, shortest, longest)
    return np.frombuffer(found, dtype=np.int32).copy(), np.frombuffer(counts, dtype=np.int32).copy()


def ngram_rows(word: str, rows: int, shortest: int, longest: int) -> npt.NDArray[np.int32]:
    """Return the rows of a word's n-grams in a table of `rows` rows. An n-gram that occurs twice is listed twice."""
    return ngram_rows_of([word], rows, shortest, longest)[0]
