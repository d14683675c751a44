"""Multiword tokens on a Doc: which of its tokens are words of one multiword token, and what their forms are.

spaCy's tokens divide the text, and so do the words of a multiword token: French *du* (*de* + *le*) is the tokens *d*
and *u*. Their `norm_` is the form of the word. Which tokens belong together is a span group, which spaCy stores with a
Doc.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from spacy.tokens import Doc, SpanGroup, Token

__all__ = ["GROUP", "divide", "form_of", "multiword_tokens", "set_multiword_tokens"]

#: The name of the span group.
GROUP = "multiword_tokens"


def multiword_tokens(doc: Doc) -> list[tuple[int, int]]:
    """Return the multiword tokens of a Doc, in order: the first token of each, and the one after the last."""
    return [(span.start, span.end) for span in doc.spans[GROUP]] if GROUP in doc.spans else []


def set_multiword_tokens(doc: Doc, bounds: Iterable[tuple[int, int]], forms: Iterable[Sequence[str]]) -> None:
    """Say which tokens of a Doc are multiword tokens, in place of what has been said before.

    bounds (Iterable[tuple[int, int]]): See `multiword_tokens`.
    forms (Iterable[Sequence[str]]): The forms of the words of each.
    """
    spans = []
    for (start, end), words in zip(bounds, forms, strict=True):
        spans.append(doc[start:end])
        for token, form in zip(spans[-1], words, strict=True):
            token.norm_ = form
    if spans or GROUP in doc.spans:
        doc.spans[GROUP] = SpanGroup(doc, name=GROUP, spans=spans)


def form_of(token: Token, words: set[int]) -> str:
    """Return the form of a word.

    words (set[int]): The tokens of the Doc that belong to a multiword token.
    """
    return str(token.norm_ if token.i in words else token.text)


@lru_cache(maxsize=10_000)
def divide(surface: str, words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the parts of a surface form that stand for its words: those that are most like them.

    Among equally good divisions, the first parts are as long as they can be. None if there are fewer characters than
    words: such a token stays whole.

    Examples
    --------
    >>> divide("du", ("de", "le")), divide("dámelo", ("dá", "me", "lo")), divide("á", ("a", "a"))
    (('d', 'u'), ('dá', 'me', 'lo'), None)
    """
    if "".join(words) == surface:
        return words
    n, k = len(surface), len(words)
    if n < k:
        return None
    best: list[dict[int, tuple[int, int]]] = [{0: (0, 0)}]  # by the end of a part: distance so far, start of the part
    for number, word in enumerate(words, 1):
        ends: dict[int, tuple[int, int]] = {}
        for start, (so_far, _) in best[-1].items():
            last = n - (k - number)
            distances = _distances(surface[start:last].lower(), word.lower())
            for end in range(start + 1, last + 1) if number < k else (n,):
                found = (so_far + distances[end - start], start)
                if end not in ends or found < ends[end]:
                    ends[end] = found
        best.append(ends)
    cuts = [n]
    for ends in best[:0:-1]:
        cuts.append(ends[cuts[-1]][1])
    cuts.reverse()
    return tuple(surface[a:b] for a, b in zip(cuts, cuts[1:], strict=False))


def _distances(text: str, word: str) -> list[int]:
    """Return the edit distance of a word from each beginning of a text."""
    row = list(range(len(word) + 1))
    found = [row[-1]]
    for number, character in enumerate(text, 1):
        previous, row = row, [number]
        for k, other in enumerate(word, 1):
            row.append(min(previous[k] + 1, row[-1] + 1, previous[k - 1] + (character != other)))
        found.append(row[-1])
    return found
