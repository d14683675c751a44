"""The embedding spacy-mindroot.NGramHashEmbed.v1: spaCy's hashed attributes and the character n-grams of each word."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import NORM, intify_attr
from spacy.ml.staticvectors import StaticVectors
from spacy.tokens import Doc
from thinc.api import HashEmbed, Model, chain, concatenate, list2ragged, ragged2list, with_array
from thinc.types import Floats2d, Ints2d

from ..doc.extensions import read_extension
from ..doc.words import GROUP, attributes_of, word_forms
from ..errors import MindRootError
from .character_ngrams import CharacterNGrams, spelling_vectors
from .lexicon import FORM_ATTRS, word_classes
from .maxout import MaxoutNorm
from .products import on_one_thread, set_products

__all__ = ["WordDropout", "build_ngram_hash_embed", "distinct_rows"]

_NAME = "spacy-mindroot.NGramHashEmbed.v1"
_FURTHER = ("with_treebanks", "with_lexicon")  # columns, beside spaCy's attributes


def build_ngram_hash_embed(
    width: int,
    attrs: list[str | int],
    rows: list[int],
    ngram_rows: int = 10000,
    shortest: int = 2,
    longest: int = 5,
    word_dropout: float = 0.1,
    include_static_vectors: bool = False,
    treebank_rows: int = 0,
    lexicon_rows: list[int] | None = None,
) -> Model[list[Doc], list[Floats2d]]:
    """Build an embedding layer for `spacy.Tok2Vec.v2`: `spacy.MultiHashEmbed.v2` plus the spelling of each word.

    The spelling tells the model much about words that are not in the training data.

    width (int): Width of the output and of each table.
    attrs (list[str | int]): Token attributes, each with a table of its own. The first one identifies the word.
    rows (list[int]): Number of rows of each table.
    ngram_rows (int): Number of rows of the table of n-grams; 0 for no n-grams.
    shortest (int): Number of characters of the shortest n-grams. The beginning and the end of the word count as one
        each.
    longest (int): Number of characters of the longest n-grams.
    word_dropout (float): Fraction of tokens whose first attribute is hidden during training, so that the model learns
        to use the other attributes and the n-grams.
    include_static_vectors (bool): Embed the word vectors of the vocabulary as well.
    treebank_rows (int): Number of rows of the table of related treebanks, for training on a mixture (Stymne et al.
        2018, "Parser training with heterogeneous treebanks"); 0 for none. Each word is embedded with the treebank that
        it comes from: `doc._.treebanks`, which the corpus readers set, and an augmenter that makes new Docs loses. Text
        to be parsed counts as text of the treebank itself.
    lexicon_rows (Optional[list[int]]): Numbers of rows of the tables of ambiguity classes and of lemmas: what a lexicon
        says of each word. It is the table `mindroot_lexicon` of `nlp.vocab.lookups`. None for no lexicon.
    RAISES (MindRootError): If the settings do not fit together.
    """
    if len(rows) != len(attrs) or not attrs or min(rows) < 1:
        raise MindRootError(
            f"{_NAME}: each attribute needs a number of rows, 1 or more, but found attributes {attrs} and rows {rows}."
        )
    if not 1 <= shortest <= longest or min(ngram_rows, treebank_rows) < 0:
        raise MindRootError(
            f"{_NAME}: expected 1 <= shortest <= longest, ngram_rows >= 0 and treebank_rows >= 0, but found shortest = "
            f"{shortest}, longest = {longest}, ngram_rows = {ngram_rows}, treebank_rows = {treebank_rows}."
        )
    lexicon_rows = lexicon_rows or []
    if lexicon_rows and (len(lexicon_rows) != 2 or min(lexicon_rows) < 1):
        raise MindRootError(
            f"{_NAME}: lexicon_rows must be two numbers, for ambiguity classes and lemmas, or null, but they are "
            f"{lexicon_rows}."
        )
    columns = [intify_attr(attr) for attr in attrs]
    all_rows = [*rows, *([treebank_rows] if treebank_rows else []), *lexicon_rows]
    more = dict(zip(_FURTHER, (bool(treebank_rows), bool(lexicon_rows)), strict=True))
    tables = [HashEmbed(width, nV, column=i, seed=8 + i, dropout=0.0) for i, nV in enumerate(all_rows)]
    embed = concatenate(*tables) if len(tables) > 1 else tables[0]
    parts: list[Model[Any, Any]] = [
        chain(_extractor(columns, **more), WordDropout(word_dropout), list2ragged(), with_array(embed))
    ]
    if ngram_rows:
        parts.append(CharacterNGrams(width, ngram_rows, shortest, longest))
    if include_static_vectors:
        parts.append(chain(Model("forms", _with_forms), StaticVectors(width, dropout=0.0)))
    mix = MaxoutNorm(width, width * (len(all_rows) + len(parts) - 1))
    joined = concatenate(*parts) if len(parts) > 1 else parts[0]
    layer: Model[list[Doc], list[Floats2d]] = chain(joined, with_array(mix), ragged2list())
    model: Model[list[Doc], list[Floats2d]] = Model(
        "ngram_hash_embed",
        _forward,
        init=_init,
        layers=[layer],
        dims={"nO": width},
        attrs={
            "columns": columns,
            "by_type": not include_static_vectors,
            "has_ngrams": bool(ngram_rows),
            **more,
        },
    )
    return set_products(model)


@on_one_thread
def _forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    # thinc's layers can't tell the width of an empty batch, so that Docs without a single token never reach them.
    if not any(len(doc) for doc in docs):
        return [model.ops.alloc2f(0, model.get_dim("nO")) for _ in docs], lambda d_docs: []
    layer: Model[list[Doc], list[Floats2d]] = model.layers[0]
    if is_train or model.ops.xp is not np or not model.attrs["by_type"]:
        return layer(docs, is_train)
    # Prediction keeps no state; a backprop call recomputes the forward pass.
    return _by_type(model, docs), lambda d_docs: layer(docs, True)[1](d_docs)


def _by_type(model: Model[list[Doc], list[Floats2d]], docs: list[Doc]) -> list[Floats2d]:
    """Return the vectors of each Doc, computed once for all tokens with the same attributes.

    In a batch of a thousand tokens these are more than half. There is no cache across batches: it would have to know
    when weights change.
    """
    columns, more = model.attrs["columns"], {name: model.attrs[name] for name in _FURTHER}
    attributes = _attributes(docs, [*columns, NORM], **more)
    first, inverse = distinct_rows(attributes)
    types = attributes[first]
    joined, mix = model.layers[0].layers[:2]  # not refs: a copy of a model has none
    embed = joined.layers[0] if model.attrs["has_ngrams"] else joined
    vectors = embed.layers[-1].predict(np.delete(types, len(columns), axis=1))  # which is the spelling's
    if model.attrs["has_ngrams"]:
        norms = types[:, len(columns)]
        owners = np.repeat(np.arange(len(docs)), [len(doc) for doc in docs])[first]
        words = [docs[k].vocab.strings[norm] for k, norm in zip(owners.tolist(), norms.tolist(), strict=True)]
        vectors = np.hstack([vectors, spelling_vectors(joined.layers[1], words)])
    mixed = mix.predict(vectors)[inverse]
    ends = np.cumsum([len(doc) for doc in docs])[:-1]
    return np.split(mixed, ends)


def _with_forms(
    model: Model[list[Doc], list[Doc]], docs: list[Doc], is_train: bool
) -> tuple[list[Doc], Callable[[list[Doc]], list[Doc]]]:
    """Return Docs whose tokens are the forms of the words, for word vectors: only multiword tokens are changed."""
    found = [Doc(doc.vocab, words=word_forms(doc)) if GROUP in doc.spans else doc for doc in docs]
    return found, lambda d_docs: []


def _extractor(columns: list[int], with_treebanks: bool, with_lexicon: bool) -> Model[list[Doc], list[Ints2d]]:
    """Build a layer that returns the attributes of the tokens of each Doc. See `_attributes`."""
    attrs = {"columns": columns, "with_treebanks": with_treebanks, "with_lexicon": with_lexicon}
    return Model("extract_attributes", _extract, attrs=attrs)


def _extract(
    model: Model[list[Doc], list[Ints2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Ints2d], Callable[[list[Ints2d]], list[Doc]]]:
    settings = {name: model.attrs[name] for name in ("columns", *_FURTHER)}
    found = _attributes(docs, **settings)
    ends = np.cumsum([len(doc) for doc in docs])[:-1]
    return [model.ops.asarray2i(each, dtype="uint64") for each in np.split(found, ends)], lambda d_found: []


def _attributes(
    docs: list[Doc], columns: list[int], with_treebanks: bool, with_lexicon: bool
) -> npt.NDArray[np.uint64]:
    """Return attributes of the tokens of all Docs, (N, columns), and perhaps more columns.

    These are the related treebank, 0 for none, and the ambiguity class and the lemmas by the lexicon.
    """
    attrs = [*columns, *(FORM_ATTRS if with_lexicon else ())]
    found = np.concatenate([attributes_of(doc, attrs) for doc in docs])
    parts = [found[:, : len(columns)]]
    if with_treebanks:
        parts.append(np.concatenate([_treebanks(doc) for doc in docs])[:, None])
    if with_lexicon:
        parts.append(word_classes(docs[0].vocab, found[:, len(columns) :]))
    return np.hstack(parts)


def _treebanks(doc: Doc) -> npt.NDArray[np.uint64]:
    marks = read_extension(doc, "treebanks")
    return np.asarray([0] * len(doc) if marks is None or len(marks) != len(doc) else marks, dtype=np.uint64)


def distinct_rows(attributes: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the index of one row of each kind, and for each row, (N, columns), the index of its kind among these.

    Rows are compared by a 64-bit hash. If two different rows have the same one, all rows count as different.
    """
    hashes = np.zeros(len(attributes), dtype=np.uint64)
    for column in attributes.T:
        hashes = (hashes ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(attributes[first][inverse], attributes):
        first = inverse = np.arange(len(attributes))
    return first, inverse


def _init(model: Model[list[Doc], list[Floats2d]], X: list[Doc] | None = None, Y: Any = None) -> None:
    model.layers[0].initialize(X=X if X and any(len(doc) for doc in X) else None)


def WordDropout(rate: float) -> Model[list[Ints2d], list[Ints2d]]:
    """Build a layer that hides the first attribute of some tokens, (n, attributes), during training: it becomes 0."""
    if not 0 <= rate < 1:
        raise MindRootError(f"{_NAME}: word_dropout must be at least 0 and less than 1, but found {rate}.")
    return Model("word_dropout", _drop_words, attrs={"rate": rate})


def _drop_words(
    model: Model[list[Ints2d], list[Ints2d]], docs: list[Ints2d], is_train: bool
) -> tuple[list[Ints2d], Callable[[list[Ints2d]], list[Ints2d]]]:
    rate = model.attrs["rate"]
    if not is_train or not rate:
        return docs, lambda d_docs: d_docs
    xp = model.ops.xp
    dropped = []
    for attributes in docs:
        attributes = attributes.copy()
        attributes[:, 0] *= xp.random.uniform(size=len(attributes)) >= rate
        dropped.append(attributes)
    return dropped, lambda d_docs: d_docs
