"""Notices that a scorer gets the vectors of another tok2vec than the one that it was trained with.

A listener gets what the tok2vec of its pipeline makes, whichever that is. So the scorer remembers the mean vectors of
some frequent words. In other texts, even of other languages, they are much the same, but not in another tok2vec.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model

__all__ = ["is_foreign", "remember"]

_WORDS = 8
_OCCURRENCES, _DISTINCT = 10, 3  # of these words, at least, and how many of them
_DOCS = 20  # of a batch are enough
_LEAST = 0.8  # correlation. Of four encoders and texts in three languages: 0.88 and more; between encoders at most 0.76
_RATE = 0.5  # of the running means

Memory = Mapping[str, Sequence[float]]


def remember(model: Model[Any, Any], docs: Sequence[Doc], memory: Memory | None) -> dict[str, list[float]] | None:
    """Return the running means of the vectors of frequent words; None for a model that does not listen.

    docs (Sequence[Doc]): The Docs of the last update. The words are those that are the most frequent in the first.
    memory (Optional[Mapping[str, Sequence[float]]]): The means before it.
    """
    vectors = _heard(model, docs, is_train=True)
    if vectors is None:
        return None
    words = [token.text for doc in docs for token in doc]
    found = {word: list(mean) for word, mean in (memory or {}).items()}
    for word in found or [word for word, _ in Counter(words).most_common(_WORDS)]:
        own = [row for row, each in enumerate(words) if each == word]
        if own:
            mean = vectors[own].mean(axis=0)
            before = np.asarray(found.get(word, mean))
            found[word] = [round(value, 4) for value in (before + _RATE * (mean - before)).tolist()]
    return found


def is_foreign(model: Model[Any, Any], docs: Sequence[Doc], memory: Memory | None) -> bool:
    """Whether a model hears other vectors for Docs than in training. If few of its words are there, it is not known.

    memory (Optional[Mapping[str, Sequence[float]]]): See `remember`.
    """
    memory, docs = memory or {}, docs[:_DOCS] if memory else []
    words = [token.text for doc in docs for token in doc]
    rows = [row for row, word in enumerate(words) if word in memory]
    known = len(rows) >= _OCCURRENCES and len({words[row] for row in rows}) >= _DISTINCT
    vectors = _heard(model, docs, is_train=False) if known else None
    if vectors is None:
        return False
    mean, expected = vectors[rows].mean(axis=0), np.mean([memory[words[row]] for row in rows], axis=0)
    return not mean.any() or mean.shape != expected.shape or np.corrcoef(mean, expected)[0, 1] < _LEAST


def _heard(model: Model[Any, Any], docs: Sequence[Doc], *, is_train: bool) -> Any:
    """Return the vectors that a listener gets, which are there already; None without one."""
    for layer in model.walk():
        if isinstance(layer, Tok2VecListener):
            vectors, _ = layer(docs, is_train)
            return model.ops.to_numpy(model.ops.flatten(vectors))
    return None
