"""Measures the speed of a pipeline."""

from __future__ import annotations

import time
from collections.abc import Sequence

from spacy.language import Language

from ...conllu import Sentence
from ..evaluation.raw_text import text_of

__all__ = ["words_per_cpu_second"]

_SENTENCES = 10  # in a text
_FEWEST = 5000  # words to measure, if need be by reading the same texts again


def words_per_cpu_second(nlp: Language, sentences: Sequence[Sentence]) -> int:
    """Return the number of tokens per second of CPU time that a pipeline makes of raw text, in texts of ten sentences.

    sentences (Sequence[Sentence]): Where the text comes from; at least one.
    """
    texts = ["".join(map(text_of, some)).strip() for some in _batches(sentences)]
    list(nlp.pipe(texts[:2]))  # warm up
    words = 0
    began = time.process_time()
    while words < _FEWEST:
        tokens = sum(len(doc) for doc in nlp.pipe(texts))
        if not tokens:
            return 0
        words += tokens
    return round(words / max(time.process_time() - began, 1e-9))


def _batches(sentences: Sequence[Sentence]) -> list[Sequence[Sentence]]:
    return [sentences[i : i + _SENTENCES] for i in range(0, len(sentences), _SENTENCES)]
