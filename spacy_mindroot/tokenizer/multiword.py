"""Which tokens are multiword tokens, and of which words: learnt from a corpus.

An *edit* turns a surface form into words: the edit of French *du*, which is *de* + *le*, takes *u* from the end, and
adds *e* and the word *le*. A linear ranker chooses among the edits that a token allows, and none. The token and its
neighbours are features, so that context decides about a form that is sometimes one word (French *des*). So are
beginnings and endings, so that forms that have never been seen can be divided.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

__all__ = ["Edit", "Multiword", "edit_of"]

_EPOCHS = 8
_CLOSED = 2  # an edit of at most this many surface forms is one of these forms, and not of others that end like them


class Edit(NamedTuple):
    """A way to make words of a surface form.

    at_end (bool): Whether the end of the form is replaced, and its rest is the beginning of the first word. Otherwise,
        the beginning is replaced, and the rest is the end of the last word.
    cut (str): What is replaced, in lower case.
    added (str): What the rest gets instead.
    words (tuple[str, ...]): The other words.
    """

    at_end: bool
    cut: str
    added: str
    words: tuple[str, ...]

    def apply(self, surface: str) -> tuple[str, ...]:
        """Return the words of a surface form. They have its case where it has only one."""
        kept = surface[: len(surface) - len(self.cut)] if self.at_end else surface[len(self.cut) :]
        found = (kept + self.added, *self.words) if self.at_end else (*self.words, self.added + kept)
        if surface.isupper() and len(surface) > 1:
            return tuple(word.upper() for word in found)
        if surface[:1].isupper():
            return (found[0][:1].upper() + found[0][1:], *found[1:])
        return found


def edit_of(surface: str, words: Sequence[str]) -> Edit:
    """Return the edit that makes the words of a surface form and keeps as much of it as possible."""
    lower, own = _lower(surface), [_lower(word) for word in words]
    from_start, from_end = _common(lower, own[0]), _common(lower[::-1], own[-1][::-1])
    if from_start >= from_end:
        return Edit(True, lower[from_start:], own[0][from_start:], tuple(own[1:]))
    end = len(lower) - from_end
    return Edit(False, lower[:end], own[-1][: len(own[-1]) - from_end], tuple(own[:-1]))


def _lower(text: str) -> str:
    """Return a text in lower case and of the same length: İ has two characters in lower case, and stays."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(own if len(own := character.lower()) == 1 else character for character in text)


def _common(one: str, other: str) -> int:
    return next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class Multiword:
    """Divides tokens into words.

    The weights are those of a feature together with an edit, by its number; -1 is the number of no edit at all.
    """

    def __init__(self) -> None:
        self._edits: list[Edit] = []
        self._forms: list[frozenset[str] | None] = []  # the only surface forms of each edit, if it is not for others
        self._weights: dict[str, float] = {}
        self._index()

    def __bool__(self) -> bool:
        return bool(self._edits)

    def _index(self) -> None:
        self._ends: defaultdict[str, list[int]] = defaultdict(list)
        self._starts: defaultdict[str, list[int]] = defaultdict(list)
        for number, edit in enumerate(self._edits):
            (self._ends if edit.at_end else self._starts)[edit.cut].append(number)
        self._longest = max((len(edit.cut) for edit in self._edits), default=-1)
        self._allowed: dict[str, list[int]] = {}

    def learn(self, texts: Iterable[Sequence[tuple[str, tuple[str, ...]]]], *, seed: int = 0) -> None:
        """Learn from texts in which the words are known.

        texts (Iterable[Sequence[tuple[str, tuple[str, ...]]]]): The surface forms of each text, each with its words:
            one, unless it is a multiword token.
        seed (int): Of the order of the tokens. The same seed gives the same words.
        """
        texts = list(texts)
        forms: dict[Edit, set[str]] = {}
        for surface, words in (token for text in texts for token in text):
            if len(words) > 1:
                forms.setdefault(edit_of(surface, words), set()).add(_lower(surface))
        self._edits = list(forms)
        self._forms = [frozenset(own) if len(own) <= _CLOSED else None for own in forms.values()]
        self._index()
        numbers = {edit: number for number, edit in enumerate(self._edits)}
        cases = []
        for text in texts:
            for k, (surface, words) in enumerate(text):
                if allowed := self.allowed(surface):
                    right = numbers[edit_of(surface, words)] if len(words) > 1 else -1
                    features = list(_features(surface, _at(text, k - 1), _at(text, k + 1)))
                    cases.append((features, [-1, *allowed], right))
        self._weights = _learn_ranking(cases, random.Random(seed))

    def allowed(self, surface: str) -> list[int]:
        """Return the numbers of the edits that a surface form allows."""
        lower = _lower(surface)
        found = self._allowed.get(lower)
        if found is None:
            numbers = [
                number
                for size in range(min(self._longest, len(lower)) + 1)
                for number in (*self._ends.get(lower[len(lower) - size :], ()), *self._starts.get(lower[:size], ()))
            ]
            found = [number for number in numbers if (forms := self._forms[number]) is None or lower in forms]
            # No word is empty: something of the form is kept, or something is put in its place.
            found = [n for n in found if len(self._edits[n].cut) < len(lower) or self._edits[n].added]
            if len(self._allowed) > 100_000:
                self._allowed.clear()
            self._allowed[lower] = found
        return found

    def words(self, surface: str, previous: str, following: str) -> tuple[str, ...]:
        """Return the words of a token, which are itself if it is no multiword token.

        surface, previous, following (str): The token and its neighbours; "" for none.
        """
        allowed = self.allowed(surface)
        if not allowed:
            return (surface,)
        best = _best(self._weights, list(_features(surface, previous, following)), [-1, *allowed])
        return (surface,) if best < 0 else self._edits[best].apply(surface)

    def to_dict(self) -> dict[str, Any]:
        """Return what has been learnt, for `from_dict`."""
        return {
            "edits": [list(edit[:3]) + [list(edit.words)] for edit in self._edits],
            "forms": [None if forms is None else sorted(forms) for forms in self._forms],
            "weights": self._weights,
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Multiword:
        """Return what `to_dict` was called on."""
        found = cls()
        found._edits = [Edit(bool(end), cut, added, tuple(words)) for end, cut, added, words in state["edits"]]
        found._forms = [None if forms is None else frozenset(forms) for forms in state["forms"]]
        found._weights = dict(state["weights"])
        found._index()
        return found


def _at(text: Sequence[tuple[str, tuple[str, ...]]], k: int) -> str:
    return text[k][0] if 0 <= k < len(text) else ""


def _features(surface: str, previous: str, following: str) -> Iterator[str]:
    """Yield features: the first is the form itself, and those after the first space are of its neighbours."""
    lower, before, after = surface.lower(), previous.lower(), following.lower()
    yield f"={lower}"
    for size in range(1, 6):
        if size < len(lower):
            yield f"-{lower[-size:]}"
            yield f"{lower[:size]}-"
    yield f"#{min(len(lower), 9)}{surface[:1].isupper():d}"
    yield f"= {lower} {after}"
    yield f"= {before} {lower}"
    yield f"> {lower} {after[-2:]}"
    yield f"> {lower} {after[:2]}"
    yield f"< {lower} {before[-2:]}"
    yield f"> {after}"
    yield f"< {before}"


def _best(weights: dict[str, float], features: Sequence[str], edits: Sequence[int]) -> int:
    scores = [sum(weights.get(f"{edit} {feature}", 0.0) for feature in features) for edit in edits]
    return edits[max(range(len(edits)), key=scores.__getitem__)]


def _learn_ranking(cases: list[tuple[list[str], list[int], int]], rng: random.Random) -> dict[str, float]:
    """Return the weights of an averaged perceptron. In half of the cases, the form itself is hidden, as if unseen."""
    weights: dict[str, float] = defaultdict(float)
    sums: dict[str, float] = defaultdict(float)
    step = 1
    for _ in range(_EPOCHS):
        rng.shuffle(cases)
        for features, edits, right in cases:
            shown = features if rng.random() < 0.5 else [each for each in features[1:] if each[1] != " "]
            best = _best(weights, shown, edits)
            if best != right:
                for edit, change in ((right, 1.0), (best, -1.0)):
                    for feature in shown:
                        weights[f"{edit} {feature}"] += change
                        sums[f"{edit} {feature}"] += change * step
            step += 1
    averaged = {key: round(weight - sums[key] / step, 3) for key, weight in weights.items()}
    return {key: weight for key, weight in averaged.items() if weight}
