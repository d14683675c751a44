"""The raw text of a CoNLL-U file, as the CoNLL shared tasks gave it to the systems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...conllu import Sentence
from ...conllu.columns import MISC
from ...conllu.sentence import surface_forms

__all__ = ["paragraphs", "text_of"]

_START = re.compile(r"#\s*new(par|doc)\b")


def paragraphs(sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield the text of each paragraph.

    Paragraphs begin at the comments `newpar` and `newdoc`. A file without them is a single paragraph: nothing else
    about its sentences is given away.
    """
    parts: list[str] = []
    for sentence in sentences:
        if parts and any(map(_START.match, sentence.comments)):
            yield "".join(parts).rstrip()
            parts = []
        parts.append(text_of(sentence))
    if parts:
        yield "".join(parts).rstrip()


def text_of(sentence: Sentence) -> str:
    """Return the text of a sentence, with the space that follows it, unless its last token has SpaceAfter=No.

    This is the comment `text`. If there is none, or if its characters are not those of the tokens, the text is put
    together from the tokens: multiword tokens in place of the words in them, with spaces as SpaceAfter in MISC says.
    """
    tokens = surface_forms(sentence.words, sentence.column(MISC), sentence.multiword_tokens())
    after = " " if tokens[-1][1] else ""
    forms = "".join(form for form, _ in tokens)
    text = sentence.comment("text")
    if text is not None and _characters(text) == _characters(forms):
        return text.strip() + after
    return "".join(form + (" " if space else "") for form, space in tokens[:-1]) + tokens[-1][0] + after


def _characters(text: str) -> str:
    return "".join(text.split())
