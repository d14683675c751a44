"""The embedding spacy-mindroot.NGramHashEmbed.v1: spaCy's hashed attributes and the character n-grams of each word."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable
from typing import Any

from spacy.ml.featureextractor import FeatureExtractor
from spacy.ml.staticvectors import StaticVectors
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, chain, concatenate, list2ragged, ragged2list, with_array
from thinc.types import Floats2d, Ints2d

from ..errors import MindRootError
from .character_ngrams import CharacterNGrams
from .products import on_one_thread, set_products

__all__ = ["WordDropout", "build_ngram_hash_embed"]

_NAME = "spacy-mindroot.NGramHashEmbed.v1"


def build_ngram_hash_embed(
    width: int,
    attrs: list[str | int],
    rows: list[int],
    ngram_rows: int = 10000,
    shortest: int = 2,
    longest: int = 5,
    word_dropout: float = 0.1,
    include_static_vectors: bool = False,
) -> Model[list[Doc], list[Floats2d]]:
    """Build an embedding layer for `spacy.Tok2Vec.v2`: `spacy.MultiHashEmbed.v2` plus the spelling of each word.

    The spelling tells the model much about words that are not in the training data.

    width (int): Width of the output and of each table.
    attrs (list[str | int]): Token attributes, each with a table of its own. The first one identifies the word.
    rows (list[int]): Number of rows of each table.
    ngram_rows (int): Number of rows of the table of n-grams.
    shortest (int): Number of characters of the shortest n-grams. The beginning and the end of the word count as one
        each.
    longest (int): Number of characters of the longest n-grams.
    word_dropout (float): Fraction of tokens whose first attribute is hidden during training, so that the model learns
        to use the other attributes and the n-grams.
    include_static_vectors (bool): Embed the word vectors of the vocabulary as well.
    RAISES (MindRootError): If the settings do not fit together.
    """
    if len(rows) != len(attrs) or not attrs or min(rows) < 1:
        raise MindRootError(
            f"{_NAME}: each attribute needs a number of rows, 1 or more, but found attributes {attrs} and rows {rows}."
        )
    if not 1 <= shortest <= longest or ngram_rows < 1:
        raise MindRootError(
            f"{_NAME}: expected 1 <= shortest <= longest and ngram_rows >= 1, but found shortest = {shortest}, "
            f"longest = {longest}, ngram_rows = {ngram_rows}."
        )
    tables = [HashEmbed(width, nV, column=i, seed=8 + i, dropout=0.0) for i, nV in enumerate(rows)]
    parts: list[Model[Any, Any]] = [
        chain(FeatureExtractor(attrs), WordDropout(word_dropout), list2ragged(), with_array(concatenate(*tables))),
        CharacterNGrams(width, ngram_rows, shortest, longest),
    ]
    if include_static_vectors:
        parts.append(StaticVectors(width, dropout=0.0))
    mix = Maxout(width, width * (len(attrs) + len(parts) - 1), nP=3, dropout=0.0, normalize=True)
    layer: Model[list[Doc], list[Floats2d]] = chain(concatenate(*parts), with_array(mix), ragged2list())
    return set_products(Model("ngram_hash_embed", _forward, init=_init, layers=[layer], dims={"nO": width}))


@on_one_thread
def _forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    # thinc's layers can't tell the width of an empty batch, so that Docs without a single token never reach them.
    if not any(len(doc) for doc in docs):
        return [model.ops.alloc2f(0, model.get_dim("nO")) for _ in docs], lambda d_docs: []
    layer: Model[list[Doc], list[Floats2d]] = model.layers[0]
    return layer(docs, is_train)


def _init(model: Model[list[Doc], list[Floats2d]], X: list[Doc] | None = None, Y: Any = None) -> None:
    model.layers[0].initialize(X=X if X and any(len(doc) for doc in X) else None)


def WordDropout(rate: float) -> Model[list[Ints2d], list[Ints2d]]:
    """Build a layer that hides the first attribute of some tokens during training.

    Input and output: the attributes of the tokens of each Doc, (n, attributes).

    rate (float): Fraction of tokens whose first attribute is set to 0 during training.
    """
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
