"""CoNLL-U in and out, byte for byte where nothing changed, and to and from spaCy's Docs."""

from .docs import doc_to_conllu, sentence_to_doc, sentences_to_doc
from .files import conllu_files
from .repair import repair_sentence
from .sentence import Sentence, format_sentence, read_conllu, read_pieces
from .vote import vote_sentence

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
