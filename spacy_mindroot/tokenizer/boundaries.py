"""The ends of tokens in a text, and of the words of multiword tokens: learnt from a corpus."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _boundaries
from .characters import TYPES, code_points, types_of

__all__ = ["Boundaries", "LabelledText", "Pieces", "Rules"]

_FEATURES = 1 << 20  # hashed; a power of 2
_EPOCHS = 10
_LEAST = 1e-3  # a weight below this is not stored
_CACHED = 100_000  # chunks whose labels are kept
_LONGEST_CACHED = 60  # characters of these chunks
_LONGEST_RULED = 1000  # characters of a chunk that rules are applied to: they take quadratic time
_INSIDE, _TOKEN_ENDS, _WORD_ENDS = range(3)
_STRINGS = re.compile(r"\S+")

#: Returns the ends of the tokens of a string, by rules.
Rules = Callable[[str], Iterable[int]]


class LabelledText(NamedTuple):
    """A text and the label of the place after each of its characters.

    text (str): The text.
    labels (np.ndarray): int8, (n,): 1 after the last character of a token, 2 after that of a word within a multiword
        token, 0 elsewhere.
    """

    text: str
    labels: npt.NDArray[np.int8]


class Pieces(NamedTuple):
    """The words of a string.

    words (tuple[str, ...]): The words, as they are in the string.
    spaces (tuple[bool, ...]): Whether a space follows each within the string.
    sizes (tuple[int, ...]): The number of words of each token.
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    sizes: tuple[int, ...]


class _Chunk(NamedTuple):
    start: int
    end: int
    next: int  # the type of the character that follows the chunk and a space


@dataclass
class Boundaries:
    """Finds the ends of tokens. Without having learnt anything, it finds them at white space.

    rules (Optional[Callable[[str], Iterable[int]]]): The ends of the tokens of a string by rules, which become
        features.
    weights (np.ndarray): float32, (features, labels).
    joined (frozenset[tuple[int, int]]): The types of the characters before and after a space that is in a token.
    whole_clusters (bool): Whether no token ends within a grapheme cluster.
    """

    rules: Rules | None = None
    weights: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros((_FEATURES, 2), np.float32))
    joined: frozenset[tuple[int, int]] = frozenset()
    whole_clusters: bool = True
    learnt: bool = False

    def __post_init__(self) -> None:
        self._cache: dict[tuple[str, int], Pieces] = {}

    def learn(self, texts: Sequence[LabelledText], *, seed: int = 0) -> None:
        """Learn from texts in which the tokens are known.

        seed (int): Of the order of the texts. The same seed gives the same boundaries.
        """
        self._cache.clear()
        self.joined = frozenset(pair for text in texts for pair in _joined(text))
        packed: list[tuple[npt.NDArray[Any], ...]] = []
        nexts, divided = [], False
        for text, labels in texts:
            types, codes = types_of(text), code_points(text)
            for start, end, following in self._chunks(text):
                own = slice(start, end)
                packed.append((codes[own], types[own], self._ruled(text[own]), labels[own]))
                divided |= _divides_clusters(types[own], labels[own])
                nexts.append(following)
        several = any((text.labels == _WORD_ENDS).any() for text in texts)
        self.weights = np.zeros((_FEATURES, 3 if several else 2), np.float32)
        self.learnt = True
        if not packed:
            return
        codes, types, ruled, gold = (np.concatenate(parts) for parts in zip(*packed, strict=True))
        self.whole_clusters = not divided
        starts = np.cumsum([0, *(len(part[0]) for part in packed)]).astype(np.intc)
        arrays = codes, types, None if self.rules is None else ruled, starts, np.array(nexts, np.uint8), gold
        _boundaries.learn(*arrays, self.weights, self.whole_clusters, _EPOCHS, seed)
        self.weights[np.abs(self.weights) < _LEAST] = 0
        self.weights = self.weights.astype(np.float16).astype(np.float32)  # as they are stored

    def strings(self, text: str) -> Iterator[tuple[int, int, Pieces]]:
        """Yield the strings of a text that are decided on at a time, which are parted by white space.

        YIELDS (tuple[int, int, Pieces]): The start and the end of each, and what it is divided into.
        """
        cache = self._cache
        for start, end, following in self._chunks(text):
            chunk = text[start:end]
            pieces = cache.get((chunk, following))
            if pieces is None:
                pieces = _pieces(chunk, self.labels(chunk, following))
                if len(chunk) <= _LONGEST_CACHED:
                    if len(cache) >= _CACHED:
                        cache.clear()
                    cache[(chunk, following)] = pieces
            yield start, end, pieces

    def labels_of(self, text: str) -> npt.NDArray[np.int8]:
        """Return the label of the place after each character of a text. See `LabelledText`."""
        found = np.zeros(len(text), np.int8)
        for start, end, following in self._chunks(text):
            found[start:end] = np.frombuffer(self.labels(text[start:end], following), np.int8)
        return found

    def labels(self, chunk: str, following: int) -> bytes:
        """Return the labels of a string. `following` is the type of the next character after it and white space."""
        if not self.learnt:
            return bytes(len(chunk) - 1) + b"\1"
        found = np.empty(len(chunk), np.int8)
        rules = None if self.rules is None else self._ruled(chunk)
        _boundaries.find(
            code_points(chunk), types_of(chunk), rules, following, self.weights, self.whole_clusters, found
        )
        return found.tobytes()

    def _ruled(self, chunk: str) -> npt.NDArray[np.uint8]:
        ends = np.zeros(len(chunk), np.uint8)
        if self.rules is not None and len(chunk) <= _LONGEST_RULED:
            for end in self.rules(chunk):
                ends[end - 1] = 1
        return ends

    def _chunks(self, text: str) -> Iterator[_Chunk]:
        strings = _STRINGS.finditer(text)
        first = next(strings, None)
        if first is None:
            return
        start, end = first.span()
        joined = self.joined
        for string in strings:
            begin = string.start()
            after = TYPES[text[begin]]
            if begin - end == 1:
                if joined and text[end] == " " and (TYPES[text[end - 1]], after) in joined:
                    end = string.end()
                    continue
                following = 0 if text[end] == "\n" else after
            else:
                following = 0 if "\n" in text[end:begin] else after
            yield _Chunk(start, end, following)
            start, end = string.span()
        yield _Chunk(start, end, 0)

    def to_dict(self) -> dict[str, Any]:
        """Return what has been learnt, for `from_dict`: the weights that are not 0, in 16 bits."""
        cells = np.flatnonzero(self.weights)
        return {
            "labels": self.weights.shape[1],
            "cells": cells.astype("<u4").tobytes(),
            "weights": self.weights.ravel()[cells].astype("<f2").tobytes(),
            "joined": sorted(map(list, self.joined)),
            "whole_clusters": self.whole_clusters,
            "learnt": self.learnt,
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any], rules: Rules | None) -> Boundaries:
        """Return what `to_dict` was called on, but for rounding. The rules must be those of the training."""
        weights = np.zeros((_FEATURES, int(state["labels"])), np.float32)
        weights.ravel()[np.frombuffer(state["cells"], "<u4")] = np.frombuffer(state["weights"], "<f2")
        joined = frozenset((int(before), int(after)) for before, after in state["joined"])
        return cls(rules, weights, joined, bool(state["whole_clusters"]), bool(state["learnt"]))


def _joined(labelled: LabelledText) -> Iterator[tuple[int, int]]:
    text = labelled.text
    for match in re.finditer(r"(?<=\S) (?=\S)", text):
        at = match.start()
        if labelled.labels[at - 1] == _INSIDE:
            yield TYPES[text[at - 1]], TYPES[text[at + 1]]


def _divides_clusters(types: npt.NDArray[np.uint8], gold: npt.NDArray[np.int8]) -> bool:
    """Whether a token or word ends before a mark that belongs to the character before it."""
    extended = (types[1:] == 1) | (types[1:] == 2)
    return bool((extended & (gold[:-1] != _INSIDE)).any())


def _pieces(chunk: str, labels: bytes) -> Pieces:
    words: list[str] = []
    spaces: list[bool] = []
    sizes = [0]
    start = 0
    for place, label in enumerate(labels, 1):
        if label != _INSIDE:
            words.append(chunk[start:place])
            spaces.append(place < len(chunk) and chunk[place] == " ")
            start = place + spaces[-1]
            sizes[-1] += 1
            if label == _TOKEN_ENDS:
                sizes.append(0)
    return Pieces(tuple(words), tuple(spaces), tuple(sizes[:-1]))
