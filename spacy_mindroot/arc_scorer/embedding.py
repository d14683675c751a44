"""The embedding spacy-mindroot.NGramHashEmbed.v1: spaCy's hashed attributes, and the character n-grams of each word."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable
from typing import Any

from spacy.ml.featureextractor import FeatureExtractor
from spacy.ml.staticvectors import StaticVectors
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, chain, concatenate, list2ragged, ragged2list, with_array
from thinc.types import Floats2d, Ints2d

from .character_ngrams import CharacterNGrams


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
    """For `spacy.Tok2Vec.v2` to embed with: `spacy.MultiHashEmbed.v2`, and beside it what each word is spelled like, so that
    little is unknown of a word that was not in the training data.

    width (int): Width of the output, and of each table.
    attrs (list[str | int]): Attributes of tokens, each of which has a table. The first is the one that tells words apart.
    rows (list[int]): Rows of each table.
    ngram_rows (int): Rows of the table of n-grams.
    shortest (int): Characters of the shortest n-grams, the beginning and the end of the word counted as one each.
    longest (int): Characters of the longest.
    word_dropout (float): How often, in training, a token's first attribute is hidden, so that the rest is relied on, too.
    include_static_vectors (bool): Embed the word vectors of the vocabulary as well.
    """
    if len(rows) != len(attrs) or not attrs or min(rows) < 1:
        raise ValueError(
            f"spacy-mindroot.NGramHashEmbed.v1: each attribute needs a number of rows, 1 or more, found attributes {attrs} and rows {rows}."
        )
    if not 1 <= shortest <= longest or ngram_rows < 1:
        raise ValueError(
            f"spacy-mindroot.NGramHashEmbed.v1: 1 <= shortest <= longest and ngram_rows >= 1 are needed, found shortest = {shortest}, "
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
    return Model("ngram_hash_embed", forward, init=init, layers=[layer], dims={"nO": width})


def forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    """For Docs without a single token the layer is not called: thinc's layers don't know how wide nothing is."""
    if not any(len(doc) for doc in docs):
        return [model.ops.alloc2f(0, model.get_dim("nO")) for _ in docs], lambda d_docs: []
    layer: Model[list[Doc], list[Floats2d]] = model.layers[0]
    return layer(docs, is_train)


def init(model: Model[list[Doc], list[Floats2d]], X: list[Doc] | None = None, Y: Any = None) -> None:
    model.layers[0].initialize(X=X if X and any(len(doc) for doc in X) else None)


def WordDropout(rate: float) -> Model[list[Ints2d], list[Ints2d]]:
    """Input and output: the attributes of the tokens of each Doc, (n, attributes). In training, the first of them is 0 in a share of the
    tokens that is `rate`."""
    if not 0 <= rate < 1:
        raise ValueError(f"spacy-mindroot.NGramHashEmbed.v1: word_dropout is at least 0 and less than 1, found {rate}.")
    return Model("word_dropout", drop_words, attrs={"rate": rate})


def drop_words(
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
