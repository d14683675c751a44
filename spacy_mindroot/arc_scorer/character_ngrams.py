"""What a word is spelled like: the sum of learned vectors of its character n-grams (Bojanowski et al. 2017, "fastText")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from spacy.attrs import NORM
from spacy.strings import get_string_id
from spacy.tokens import Doc
from thinc.api import Model, uniform_init
from thinc.types import Ragged

_END = 50  # characters of a very long word that are looked at, from its beginning and from its end


def CharacterNGrams(nO: int, rows: int, shortest: int, longest: int) -> Model[list[Doc], Ragged]:
    """Input: Docs. Output: a vector for each token, (N, nO), that depends on nothing but its norm.

    The norm is put between "<" and ">", and the vectors of all its n-grams from `shortest` to `longest` characters are
    added up and divided by the square root of their number; without any, it is 0. N-grams share `rows` vectors by their
    hashes. Of very long words, the middle is left out.
    """
    return Model(
        "character_ngrams",
        forward,
        init=init,
        dims={"nO": nO, "nV": rows},
        params={"E": None},  # (nV, nO)
        attrs={"shortest": shortest, "longest": longest},
    )


def forward(
    model: Model[list[Doc], Ragged], docs: Sequence[Doc], is_train: bool
) -> tuple[Ragged, Callable[[Ragged], list[Doc]]]:
    ops = model.ops
    table = model.get_param("E")
    words, numbers = _words(docs)
    hashed = [ngram_rows(word, len(table), model.attrs["shortest"], model.attrs["longest"]) for word in words]
    counts = np.array([len(of_word) for of_word in hashed], dtype="i")
    lengths, which = ops.asarray1i(counts), ops.asarray1i(numbers)
    flat = ops.asarray1i(np.concatenate([np.empty(0, dtype="i"), *hashed]))
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


def init(model: Model[list[Doc], Ragged], X: Sequence[Doc] | None = None, Y: Ragged | None = None) -> None:
    model.set_param("E", uniform_init(model.ops, (model.get_dim("nV"), model.get_dim("nO"))))


def _words(docs: Sequence[Doc]) -> tuple[list[str], npt.NDArray[np.int32]]:
    """The different norms, and the number of that of each token."""
    numbers: dict[str, int] = {}
    of_tokens = [
        numbers.setdefault(doc.vocab.strings[norm], len(numbers))
        for doc in docs
        for norm in doc.to_array([NORM]).ravel().tolist()
    ]
    return list(numbers), np.array(of_tokens, dtype="i")


@lru_cache(maxsize=1 << 16)
def ngram_rows(word: str, rows: int, shortest: int, longest: int) -> npt.NDArray[np.int32]:
    """The rows of a word's n-grams, one that occurs twice twice."""
    if len(word) > 2 * _END:
        word = word[:_END] + word[-_END:]
    marked = f"<{word}>"
    sizes = range(shortest, min(longest, len(marked)) + 1)
    ngrams = (marked[at : at + n] for n in sizes for at in range(len(marked) - n + 1))
    return np.array([get_string_id(ngram) % rows for ngram in ngrams], dtype="i")
