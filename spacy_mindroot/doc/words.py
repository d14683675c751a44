"""Multiword tokens on a Doc: which of its tokens are words of one multiword token, and what their forms are.

spaCy's tokens divide the text, and so do the words of a multiword token: French *du* (*de* + *le*) is the tokens *d*
and *u*. Their `norm_` is the form of the word. Which tokens belong together is a span group, which spaCy stores with a
Doc. The label of each of its spans is the forms of the words: "de + le".

A surface form with fewer characters than words (Galician *á*, *a* + *a*) can't be divided. Raw text keeps it as one
token. In a Doc made of words that are known, as from CoNLL-U, each word is a token, a space separates them, and the
surface form is the `kb_id_` of the span.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import combining

import numpy as np
import numpy.typing as npt
from spacy.attrs import LOWER, NORM, ORTH, PREFIX, SHAPE, SUFFIX
from spacy.tokens import Doc, Span, SpanGroup

__all__ = [
    "GROUP",
    "MultiwordToken",
    "attributes_of",
    "copy_tokens",
    "divide",
    "multiword_tokens",
    "part_of",
    "set_multiword_tokens",
    "shifted",
    "texts_of",
    "word_forms",
    "words_between",
]

#: The name of the span group.
GROUP = "multiword_tokens"

_PLUS = " + "  # between the forms in a label
_LONGEST = 60  # characters of a surface form that is divided: the time grows with their cube
_OF_FORM = (ORTH, LOWER, NORM, PREFIX, SUFFIX, SHAPE)


class MultiwordToken(NamedTuple):
    """A multiword token.

    start (int): The first of its words, from 0.
    end (int): The one after the last.
    words (tuple[str, ...]): The form of each word.
    surface (str): The form in the text; "" if it is the text of the tokens.
    """

    start: int
    end: int
    words: tuple[str, ...]
    surface: str = ""


def multiword_tokens(doc: Doc) -> list[MultiwordToken]:
    """Return the multiword tokens of a Doc, in order, each with its surface form."""
    if GROUP not in doc.spans:
        return []
    found = []
    for span in doc.spans[GROUP]:
        words = tuple(token.norm_ for token in span)
        if span.label_ != _PLUS.join(words) and span.label_.count(_PLUS) == len(words) - 1:  # norms are not in JSON
            words = tuple(span.label_.split(_PLUS))
        if len(words) > 1:
            found.append(MultiwordToken(span.start, span.end, words, span.kb_id_ or span.text))
    return sorted(found)


def set_multiword_tokens(doc: Doc, tokens: Iterable[MultiwordToken]) -> None:
    """Say which tokens of a Doc are words of multiword tokens, in place of what has been said before.

    This sets `token.norm_` of the words and the span group.
    """
    for span in doc.spans.get(GROUP, ()):
        for token in span:
            token.norm_ = token.lex.norm_
    spans = []
    for start, end, words, surface in tokens:
        own = surface if surface and surface != doc[start:end].text else ""
        spans.append(Span(doc, start, end, label=_PLUS.join(words), kb_id=own))
        for token, form in zip(spans[-1], words, strict=True):
            token.norm_ = form
    if spans or GROUP in doc.spans:
        doc.spans[GROUP] = SpanGroup(doc, name=GROUP, spans=spans)


def word_forms(doc: Doc) -> list[str]:
    """Return the form of each word of a Doc: the text of a token, unless it belongs to a multiword token."""
    return words_between(doc, multiword_tokens(doc), 0, len(doc))[0]


def words_between(
    doc: Doc, multiword: Sequence[MultiwordToken], start: int, end: int
) -> tuple[list[str], list[MultiwordToken]]:
    """Return the forms of some words, and the multiword tokens that are wholly among them, numbered from the first.

    multiword (Sequence[MultiwordToken]): All of the Doc.
    """
    own = shifted(multiword, start, end)
    forms = [token.text for token in doc[start:end]]
    for token in own:
        forms[token.start : token.end] = token.words
    return forms, own


def texts_of(
    words: Sequence[str], spaces: Sequence[bool], multiword: Iterable[MultiwordToken]
) -> tuple[list[str], list[bool]]:
    """Return the text of the token of each word, and whether a space follows it.

    words (Sequence[str]): The forms.
    spaces (Sequence[bool]): Whether a space follows each word. Within a multiword token, this counts only if it can't
        be divided.
    multiword (Iterable[MultiwordToken]): With their surface forms.
    """
    texts, after = list(words), list(spaces)
    for token in multiword:
        parts = divide(token.surface, token.words)
        if parts is not None:
            texts[token.start : token.end] = parts
            after[token.start : token.end - 1] = [False] * (len(parts) - 1)
    return texts, after


def copy_tokens(doc: Doc) -> Doc:
    """Return a Doc with the tokens of another, multiword tokens included, and no other annotation."""
    copy = Doc(doc.vocab, words=[token.text for token in doc], spaces=[bool(token.whitespace_) for token in doc])
    set_multiword_tokens(copy, multiword_tokens(doc))
    return copy


def part_of(doc: Doc, start: int, end: int, multiword: Sequence[MultiwordToken] | None = None) -> Doc:
    """Return some tokens of a Doc as a Doc. Unlike `Span.as_doc`, this keeps multiword tokens.

    multiword (Optional[Sequence[MultiwordToken]]): All of the Doc, if they are known.
    """
    part: Doc = doc[start:end].as_doc()
    set_multiword_tokens(part, shifted(multiword_tokens(doc) if multiword is None else multiword, start, end))
    return part


def shifted(tokens: Sequence[MultiwordToken], start: int, end: int) -> list[MultiwordToken]:
    """Return the multiword tokens that are wholly between two tokens, numbered from the first.

    tokens (Sequence[MultiwordToken]): In order.
    """
    first = bisect_left(tokens, start, key=lambda token: token.start)
    last = bisect_left(tokens, end, lo=first, key=lambda token: token.start)
    return [
        token._replace(start=token.start - start, end=token.end - start)
        for token in tokens[first:last]
        if token.end <= end
    ]


def attributes_of(doc: Doc, attrs: Sequence[int]) -> npt.NDArray[np.uint64]:
    """Return attributes of each token, (tokens, attributes), as `Doc.to_array` does, but those of spelling by its form.

    doc (Doc): Words of multiword tokens have the ORTH, LOWER, NORM, PREFIX, SUFFIX and SHAPE of their forms.
    attrs (Sequence[int]): The attributes.
    """
    array: npt.NDArray[np.uint64] = doc.to_array(list(attrs)).reshape(len(doc), len(attrs))
    multiword = multiword_tokens(doc) if isinstance(doc, Doc) else ()
    if multiword:
        columns = [k for k, attr in enumerate(attrs) if attr in _OF_FORM]
        tokens = [i for token in multiword for i in range(token.start, token.end)]
        forms = Doc(doc.vocab, words=[form for token in multiword for form in token.words])
        array[np.ix_(tokens, columns)] = forms.to_array(list(attrs)).reshape(len(forms), len(attrs))[:, columns]
    return array


@lru_cache(maxsize=10_000)
def divide(surface: str, words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the parts of a surface form that stand for its words: those that are most like them.

    Among equally good divisions, the first parts are as long as they can be. No part begins with a combining mark. None
    if there is no division, or if the surface form has white space or more than 60 characters, and is not simply the
    words in a row.

    Examples
    --------
    >>> divide("du", ("de", "le")), divide("dámelo", ("dá", "me", "lo")), divide("á", ("a", "a"))
    (('d', 'u'), ('dá', 'me', 'lo'), None)
    """
    if "".join(words) == surface:
        return words
    n, k = len(surface), len(words)
    if not k <= n <= _LONGEST or any(map(str.isspace, surface)):
        return None
    places = [place for place in range(1, n) if not combining(surface[place])]
    best: list[dict[int, tuple[int, int]]] = [{0: (0, 0)}]  # by the end of a part: distance so far, start of the part
    for number, word in enumerate(words, 1):
        ends: dict[int, tuple[int, int]] = {}
        for start, (so_far, _) in best[-1].items():
            last = n - (k - number)
            distances = _distances(surface[start:last].lower(), word.lower())
            for end in [place for place in places if start < place <= last] if number < k else (n,):
                found = (so_far + distances[end - start], start)
                if end not in ends or found < ends[end]:
                    ends[end] = found
        if not ends:
            return None
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
