"""Sentences of annotated Docs, from which a tokenizer learns."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..doc.extensions import read_extension
from ..doc.targets import read_targets
from ..doc.words import multiword_tokens
from .boundaries import LabelledText

__all__ = ["Sentence", "join", "sentences_of"]

_SIZES = (1, 2, 4, 8)  # sentences of a text to learn from: the beginning and the end of a text are special


class Sentence(NamedTuple):
    """A sentence to learn from.

    tokens (tuple[tuple[str, tuple[str, ...]], ...]): The surface form of each token, and the words that it is made of:
        one, unless it is a multiword token.
    spaces (tuple[str, ...]): The white space after each token.
    """

    tokens: tuple[tuple[str, tuple[str, ...]], ...]
    spaces: tuple[str, ...]


def sentences_of(docs: Iterable[Doc]) -> list[Sentence]:
    """Return the sentences of Docs, each once: readers of corpora repeat them. Docs without sentences are one.

    Sentences of related treebanks (`doc._.treebanks`) are left out: they may be tokenized otherwise. So are those that
    teachers have tokenized.
    """
    found: dict[Sentence, None] = {}
    for doc in docs:
        if read_targets(doc) is not None:
            continue
        treebanks = read_extension(doc, "treebanks") or [0] * len(doc)
        multiword = {token.start: token for token in multiword_tokens(doc)}
        tokens: list[tuple[str, tuple[str, ...]]] = []
        spaces: list[str] = []
        begins = doc.has_annotation("SENT_START")
        at = 0
        while at < len(doc):
            token, several = doc[at], multiword.get(at)
            end = at + 1 if several is None else several.end
            if treebanks[at]:
                at = end
                continue
            if begins and token.is_sent_start and tokens:
                found[Sentence(tuple(tokens), tuple(spaces))] = None
                tokens, spaces = [], []
            last = doc[end - 1]
            if token.is_space:
                if spaces:
                    spaces[-1] += token.text_with_ws
            else:
                tokens.append((token.text, (token.text,)) if several is None else (several.surface, several.words))
                spaces.append(last.whitespace_)
            at = end
        if tokens:
            found[Sentence(tuple(tokens), tuple(spaces))] = None
    return list(found)


def join(sentences: Sequence[Sentence], *, words: bool, seed: int = 0) -> list[LabelledText]:
    """Return texts of one to eight sentences in a row, with their labels.

    words (bool): Whether the ends of words are labelled in multiword tokens that their words add up to.
    """
    rng = random.Random(seed)
    texts = []
    start = 0
    while start < len(sentences):
        end = start + rng.choice(_SIZES)
        text: list[str] = []
        labels: list[int] = []
        for sentence in sentences[start:end]:
            for (surface, own), space in zip(sentence.tokens, sentence.spaces, strict=True):
                text += [surface, space]
                labels += [0] * (len(surface) - 1) + [1] + [0] * len(space)
                if words and len(own) > 1 and "".join(own) == surface:
                    at = len(labels) - len(space) - len(surface)
                    for word in own[:-1]:
                        at += len(word)
                        labels[at - 1] = 2
        texts.append(LabelledText("".join(text), np.array(labels, np.int8)))
        start = end
    return texts
