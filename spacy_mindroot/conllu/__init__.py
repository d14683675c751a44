"""CoNLL-U in and out, byte for byte where nothing changed, and to and from spaCy's Docs.

Only what makes and reads Docs needs spaCy, and imports it when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .files import conllu_files
from .repair import repair_sentence
from .sentence import Sentence, format_sentence, read_conllu, read_pieces
from .vote import vote_sentence

if TYPE_CHECKING:
    from .docs import doc_to_conllu, sentence_to_doc, sentences_to_doc

__all__ = [
    "Sentence",
    "conllu_files",
    "doc_to_conllu",
    "format_sentence",
    "read_conllu",
    "read_pieces",
    "repair_sentence",
    "sentence_to_doc",
    "sentences_to_doc",
    "vote_sentence",
]

_NEED_SPACY = ("doc_to_conllu", "sentence_to_doc", "sentences_to_doc")


def __getattr__(name: str) -> Any:
    if name not in _NEED_SPACY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import docs

    return globals().setdefault(name, getattr(docs, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
