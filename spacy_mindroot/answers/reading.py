"""Reads the parse in an answer, in any of its forms, and aligns it with the words of the sentence.

Nothing is shifted: an answer with other words counts where its words are those of the sentence, and an answer without
words counts only if it has one head for each.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np

from ..labels import NO_LABEL, UD_ROOT, is_root_label
from ..scores import FloatArray, is_number, shown
from ..trees import MISSING
from .text import find_answer

__all__ = ["Answer", "Fault", "read_answer", "words_in"]

_WORDS = ("words", "forms", "tokens")
_FORM = ("form", "word", "text", "token")
_HEADS = ("heads", "head")
_LABELS = ("deprels", "deprel", "labels", "label", "relations", "relation")
_RAW = ("answers", "answer", "samples", "responses", "response")
_LEAST = 1e-6  # of the probability, for heads that are not listed
_FLOOR, _NEVER = -30.0, -9999.0  # some interfaces write -9999 for what is hardly probable
_MOST_HEADS = 1 << 30
_MOST_DEPTH = 3  # of answers in answers


class Fault(NamedTuple):
    """Something wrong with an answer.

    Attributes
    ----------
    kind : str
        "no answer", "text around", "truncated", "missing word", "additional word", "other form", "no head",
        "out of range", "self loop", "cycle", "extra root", "no root", "unknown label" or "label".
    word : int
        The word of the sentence, from 1; 0 for the answer as a whole.
    what : str
        What was found.
    """

    kind: str
    word: int
    what: str

    def __str__(self) -> str:
        return f"{f'word {self.word}: ' if self.word else ''}{self.kind}: {self.what}"


class Answer(NamedTuple):
    """The answer of a model about a sentence of n words.

    Attributes
    ----------
    heads : list of lists of int, (n,)
        The heads of each sample that can be read: 0 = ROOT, j = word j, -1 = none. They may be anything.
    labels : list of lists of str, (n,)
        The labels of each sample; "" where there is none.
    scores : np.ndarray of float64, (n, n+1), or None
        Log-probabilities of heads, `[dependent, head]`, column 0 = ROOT, if there are any.
    label_scores : np.ndarray of float64, (n, labels), or None
        Log-probabilities of labels, if there are any.
    label_names : list of str
        What `label_scores` are for.
    faults : list of Fault
        What was wrong.
    """

    heads: list[list[int]]
    labels: list[list[str]]
    scores: FloatArray | None
    label_scores: FloatArray | None
    label_names: list[str]
    faults: list[Fault]


class _Sample(NamedTuple):
    """A parse as it is given: one item per word of its own, or of the sentence if it has none."""

    heads: Sequence[Any]
    labels: Sequence[Any] | None
    words: Sequence[str] | None = None
    ids: Sequence[Any] | None = None
    is_truncated: bool = False


def read_answer(given: Any, words: Sequence[str], labels: Sequence[str] = ()) -> Answer:
    """Return the parse of a sentence in an answer of a language model.

    Parameters
    ----------
    given : dict, list or str
        A dict has `heads` and perhaps `deprels` and `words`. `heads` is a list with one head per word; a list of such
        lists, one per sample; or a list with the log-probabilities of each word's head: dicts from head to
        log-probability, or lists of dicts with `token` and `logprob`, as interfaces call them `top_logprobs`.
        `deprels` likewise. A list has such heads, or a dict with `form`, `head` and `deprel` for each word. A str is
        what the model wrote: one of these as JSON, or CoNLL-U. `answers` in a dict is a list of any of these.
    words : sequence of str, (n,)
        The words of the sentence.
    labels : sequence of str
        All labels, if they are known. A label that differs from one in case, or has a subtype in addition, becomes it.

    Returns
    -------
    Answer
        What could be read. `faults` name what could not, and whatever is not as it should be.
    """
    faults: list[Fault] = []
    samples = _samples(given, faults)
    known = {label.casefold(): label for label in labels}
    distributions = [_is_distribution(cell) for sample in samples for cell in sample.heads]
    if any(distributions) and len(samples) == 1:
        return _read_scores(samples[0], words, known, faults)
    heads, names = [], []
    for sample in samples:
        aligned = _aligned(sample, words, faults)
        if aligned is None:
            continue
        of_word, to_word = aligned
        own = [MISSING if k is None else _head(sample.heads[k], to_word, i, faults) for i, k in enumerate(of_word, 1)]
        if all(head == MISSING for head in own):
            faults.append(Fault("no answer", 0, f"none of {shown(list(sample.heads))} is a head of a word"))
            continue
        heads.append(own)
        names.append(
            ["" if k is None else _label(_at(sample.labels, k), known, i, faults) for i, k in enumerate(of_word, 1)]
        )
    return Answer(heads, names, None, None, [], faults)


# ---------------------------------------------------------------------------------------------------------------------
# The forms of an answer


def _samples(given: Any, faults: list[Fault], *, is_truncated: bool = False, depth: int = 0) -> list[_Sample]:
    """Return the parses in an answer. Whatever is none is named in `faults`."""
    if isinstance(given, str):
        found, what = find_answer(given)
        if what:
            faults.append(Fault(what, 0, shown(given)))
        if found is None:
            faults.append(Fault("no answer", 0, f"there is no JSON and no CoNLL-U in {shown(given)}"))
            return []
        return _samples(found, faults, is_truncated=what == "truncated", depth=depth)
    if isinstance(given, Mapping):
        raw = _get(given, _RAW)
        if raw is not None and depth < _MOST_DEPTH:
            several = raw if isinstance(raw, list) else [raw]
            if not several:
                faults.append(Fault("no answer", 0, "there is none"))
            return [own for each in several for own in _samples(each, faults, depth=depth + 1)]
        words, heads, labels = _get(given, _WORDS), _get(given, _HEADS), _get(given, _LABELS)
        if heads is None and isinstance(words, list):
            return _samples(words, faults, is_truncated=is_truncated, depth=depth)
        forms = [str(word) for word in words] if isinstance(words, list) else None
    else:
        heads, labels, forms = given, None, None
    if not isinstance(heads, list) or not heads:
        faults.append(Fault("no answer", 0, f"there are no heads in {shown(given)}"))
        return []
    labels = labels if isinstance(labels, list) else None
    if any(map(_is_word, heads)):
        return [_of_words([cell if isinstance(cell, Mapping) else {} for cell in heads], is_truncated)]
    parses = [cell for cell in heads if cell is not None]  # None: a sample that is missing
    if parses and all(isinstance(cell, list) and not _is_distribution(cell) for cell in parses):
        own_labels = [labels] * len(heads)
        if labels is not None and any(isinstance(own, list) for own in labels):
            own_labels = [own if isinstance(own, list) else None for own in labels]
        return [_Sample(own or [], _at(own_labels, k), forms, None, is_truncated) for k, own in enumerate(heads)]
    return [_Sample(heads, labels, forms, None, is_truncated)]


def _of_words(cells: list[Mapping[Any, Any]], is_truncated: bool) -> _Sample:
    """Return the parse in a list with one object for each word. A word may lack its head."""
    if is_truncated and {key.lower() for key in cells[0].keys() - cells[-1].keys()} - {*_LABELS}:  # the last is cut off
        cells = cells[:-1]
    ids, forms = [cell.get("id") for cell in cells], [_get(cell, _FORM) for cell in cells]
    return _Sample(
        [_get(cell, _HEADS) for cell in cells],
        [_get(cell, _LABELS) for cell in cells],
        [str(form or "") for form in forms] if any(forms) else None,
        None if None in ids else ids,
        is_truncated,
    )


def _get(mapping: Mapping[Any, Any], names: Sequence[str]) -> Any:
    """Return the value under the first of the names, in any case, that is there; None without any."""
    lower = {key.lower(): value for key, value in mapping.items() if isinstance(key, str)}
    return next((lower[name] for name in names if lower.get(name) is not None), None)


def _at(values: Sequence[Any] | None, k: int) -> Any:
    return values[k] if values is not None and k < len(values) else None


def _is_word(cell: Any) -> bool:
    """Whether a cell is an object for a word. Otherwise it has log-probabilities of heads, if it is an object."""
    if not isinstance(cell, Mapping) or any(_number(key) is not None for key in cell):
        return False
    return isinstance(_get(cell, _FORM), str) or _get(cell, _HEADS) is not None


def _is_distribution(cell: Any) -> bool:
    if isinstance(cell, list):
        return bool(cell) and all(isinstance(each, Mapping) for each in cell)
    return isinstance(cell, Mapping)


# ---------------------------------------------------------------------------------------------------------------------
# Alignment


def _aligned(
    sample: _Sample, words: Sequence[str], faults: list[Fault]
) -> tuple[list[int | None], dict[int, int]] | None:
    """Return for each word the index of its item in the sample, and for each number that is a head, its word.

    None, with a fault, if the sample can't be aligned.
    """
    n, own = len(words), len(sample.heads)
    numbers = None if sample.ids is None else [_number(each) or 0 for each in sample.ids]
    if numbers is not None and (min(numbers) < 1 or len(set(numbers)) < own):
        faults.append(Fault("no answer", 0, f"its words have the numbers {shown(sample.ids)}; they count from 1"))
        return None
    of_word: list[int | None]
    if sample.words is not None:
        if own != len(sample.words) and not (sample.is_truncated and own < len(sample.words)):
            faults.append(Fault("no answer", 0, f"{own} heads for {len(sample.words)} words of its own"))
            return None
        of_word = _align(sample.words, words, faults)
        if 2 * sum(k is not None and _plain(sample.words[k]) == _plain(words[i]) for i, k in enumerate(of_word)) < n:
            faults.append(Fault("no answer", 0, f"most of its words, {shown(list(sample.words))}, are other ones"))
            return None
        to_word = {numbers[k] if numbers else k + 1: i for i, k in enumerate(of_word, 1) if k is not None}
    else:
        if numbers is None and own != n and not (sample.is_truncated and own < n):
            faults.append(Fault("no answer", 0, f"{own} heads for {n} words, and no words to align them with"))
            return None
        at = {number: k for k, number in enumerate(numbers or range(1, own + 1))}
        of_word = [at.get(i) for i in range(1, n + 1)]
        to_word = {i: i for i in range(1, n + 1)}
        faults += [Fault("additional word", 0, f"number {number}") for number in at if number > n]
    faults += [Fault("missing word", i, repr(words[i - 1])) for i, k in enumerate(of_word, 1) if k is None]
    return [k if k is not None and k < own else None for k in of_word], to_word


def _align(theirs: Sequence[str], words: Sequence[str], faults: list[Fault]) -> list[int | None]:
    """Return the index of each word in the words of the answer; None where it is missing."""
    of_word: list[int | None] = [None] * len(words)
    used = set()
    matcher = SequenceMatcher(None, [_plain(word) for word in words], [_plain(word) for word in theirs], autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "equal" or (kind == "replace" and end - start == last - first):
            for i, k in zip(range(start, end), range(first, last), strict=True):
                of_word[i] = k
                used.add(k)
                if kind == "replace":
                    faults.append(Fault("other form", i + 1, f"{theirs[k]!r} for {words[i]!r}"))
    faults += [Fault("additional word", 0, f"{word!r}") for k, word in enumerate(theirs) if k not in used]
    return of_word


def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", "".join(word.split())).casefold()


# ---------------------------------------------------------------------------------------------------------------------
# Heads and labels


def _number(cell: Any) -> int | None:
    """Return the int in a cell: a number, or a string of digits; None if there is none."""
    if isinstance(cell, str):
        text = cell.strip()
        if text.casefold() == UD_ROOT:
            return 0
        return int(text) if text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 10 else None
    if is_number(cell) and not isinstance(cell, bool) and cell == cell and abs(cell) < _MOST_HEADS:
        return int(cell) if int(cell) == cell else None
    return None


def _head(cell: Any, to_word: dict[int, int], word: int, faults: list[Fault]) -> int:
    """Return the head of a word as a number of the sentence; MISSING, with a fault, if the cell has none."""
    number = _number(cell)
    if number is None:
        if cell is not None and cell != "_":
            faults.append(Fault("no head", word, f"{shown(cell)} is no number"))
        return MISSING
    if number == 0 or number in to_word:
        return to_word.get(number, 0)
    faults.append(Fault("out of range", word, f"there is no word {number}"))
    return MISSING


def _label(cell: Any, known: dict[str, str], word: int, faults: list[Fault]) -> str:
    """Return the label in a cell, "" if it has none. With `known`, it is one of them."""
    if _is_distribution(cell):
        cell = max(_pairs(cell, word, faults), key=lambda pair: pair[1], default=(None, 0.0))[0]
    given = "_".join(cell.split()) if isinstance(cell, str) else ""
    text = "".join(character if character.isprintable() else "?" for character in given)
    if text != given:
        faults.append(Fault("label", word, f"{shown(given)} is no text -> {text}"))
    if text in NO_LABEL or not known:
        return "" if text in NO_LABEL else text
    name = text.casefold()
    found = known.get(name, known.get(name.partition(":")[0], ""))
    if found != text:
        faults.append(Fault("unknown label", word, f"{text}{f' -> {found}' if found else ''}"))
    return found


# ---------------------------------------------------------------------------------------------------------------------
# Log-probabilities


def words_in(given: Any) -> list[str] | None:
    """Return the words that come with an answer, in characters that can be written; None if it has none."""
    found: Any = _get(given, _WORDS) if isinstance(given, Mapping) else None
    if not isinstance(found, list) or not found or any(isinstance(word, Mapping) for word in found):
        found = next((own.words for own in _samples(given, []) if own.words and all(own.words)), None)
    return None if found is None else [str(word).encode("utf8", "replace").decode() for word in found]


def _read_scores(sample: _Sample, words: Sequence[str], known: dict[str, str], faults: list[Fault]) -> Answer:
    """Return the log-probabilities of an answer. Heads that are not listed share what probability is left."""
    aligned = _aligned(sample, words, faults)
    n = len(words)
    if aligned is None:
        return Answer([], [], None, None, [], faults)
    of_word, to_word = aligned
    scores = np.zeros((n, n + 1))  # a word without any: all heads are equal
    has_head = False
    for i, k in enumerate(of_word):
        listed: dict[int, float] = {}
        left = 1.0
        for token, logprob in () if k is None else _pairs(sample.heads[k], i + 1, faults):
            left -= math.exp(logprob)
            number = _number(token)
            head = None if number is None else 0 if number == 0 else to_word.get(number)
            if head is not None and head != i + 1:
                listed[head] = float(np.logaddexp(listed.get(head, -math.inf), logprob))
        if not listed:
            faults.append(Fault("no head", i + 1, "none of its tokens is the number of another word or 0"))
            continue
        others = max(1, n - len(listed))
        scores[i] = min(math.log(max(left, _LEAST) / others), max(min(listed.values()), _FLOOR))
        scores[i, list(listed)] = list(listed.values())
        has_head = True
    if not has_head:
        faults.append(Fault("no answer", 0, f"none of {shown(list(sample.heads))} is a head of a word"))
        return Answer([], [], None, None, [], faults)
    cells = [None if k is None else _at(sample.labels, k) for k in of_word]
    if not any(_is_distribution(cell) for cell in cells):
        labels = [_label(cell, known, i, faults) for i, cell in enumerate(cells, 1)]
        return Answer([], [labels], scores, None, [], faults)
    found = [dict(_pairs(cell, i, faults)) for i, cell in enumerate(cells, 1)]
    named = [
        {_label(token, known, i, faults): logprob for token, logprob in reversed(own.items())}
        for i, own in enumerate(found, 1)
    ]
    names = list(dict.fromkeys([UD_ROOT, *(name for own in named for name in own if not is_root_label(name) and name)]))
    label_scores = np.array([[own.get(name, -math.inf) for name in names] for own in named]).reshape(n, len(names))
    return Answer([], [], scores, label_scores, names, faults)


def _pairs(cell: Any, word: int, faults: list[Fault]) -> list[tuple[Any, float]]:
    """Return the tokens of a distribution and their log-probabilities."""
    items: list[tuple[Any, Any]] = [] if cell is None or cell == [] else [(cell, 0.0)]  # a head without alternatives
    if isinstance(cell, Mapping):
        items = list(cell.items())
    elif _is_distribution(cell):
        items = [(each.get("token"), each.get("logprob")) for each in cell]
    pairs = []
    for token, logprob in items:
        is_token = isinstance(token, str | int | float)
        if is_token and is_number(logprob) and not isinstance(logprob, bool) and logprob <= 1e-3:
            pairs.append((token, float(min(0.0, max(logprob, _NEVER)))))
        else:
            faults.append(Fault("no head", word, f"{shown(logprob)} is no log-probability of {shown(token)}"))
    return pairs
