"""Noun chunks under Universal Dependencies, for languages whose own rules in spaCy expect other labels.

spaCy's English rules look for `dobj` and `pobj`, and so find no objects in a UD parse.
"""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable, Iterator

from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc, Span

__all__ = ["make_noun_chunks_callback", "noun_chunks"]

_NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})
# What belongs to a base noun phrase: words that modify its noun without a phrase of their own.
_LEFT = frozenset({"det", "amod", "nummod", "compound", "clf", "flat", "nmod:poss", "fixed", "advmod", "poss"})
_RIGHT = frozenset({"flat", "compound", "fixed", "goeswith"})


def noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Yield the base noun phrases of a UD parse, as `doc.noun_chunks` wants them.

    A chunk is a noun, proper noun or pronoun with the determiners, adjectives, numerals and other modifiers next to it;
    prepositions, conjunctions and punctuation are outside. A noun inside another chunk makes none of its own.

    doclike (Doc | Span): A Doc with a parse and parts of speech (UPOS), or a part of one.
    YIELDS (tuple[int, int, int]): The first token of a chunk, the token after its last, and the hash of its label,
        "NP".
    """
    doc = doclike.doc
    if not doc.has_annotation("DEP"):
        raise ValueError(Errors.E029)
    label = doc.vocab.strings.add("NP")
    chunks = []
    for token in doclike:
        if token.pos_ in _NOMINAL:
            start, end = token.i, token.i + 1
            for child in reversed(list(token.lefts)):
                if not _belongs(child.dep_, _LEFT) or child.right_edge.i + 1 != start:
                    break
                start = child.left_edge.i
            for child in token.rights:
                if not _belongs(child.dep_, _RIGHT) or child.left_edge.i != end:
                    break
                end = child.right_edge.i + 1
            chunks.append((start, end))
    reached = -1
    for start, end in sorted(chunks, key=lambda chunk: (chunk[0], -chunk[1])):
        if start >= reached:
            yield start, end, label
            reached = end


def make_noun_chunks_callback() -> Callable[[Language], Language]:
    """Return a callback that lets `doc.noun_chunks` follow Universal Dependencies.

    In a config: `after_pipeline_creation = {"@callbacks": "spacy-mindroot.noun_chunks.v1"}` under `[nlp]`.
    """

    def use_ud_noun_chunks(nlp: Language) -> Language:
        nlp.vocab.get_noun_chunks = noun_chunks
        return nlp

    return use_ud_noun_chunks


def _belongs(dep: str, labels: frozenset[str]) -> bool:
    return dep in labels or dep.partition(":")[0] in labels
