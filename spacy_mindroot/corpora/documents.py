"""Parses documents, and cuts what is too long for the pipeline, so that one sentence does not cost a whole document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
from spacy.attrs import DEP, SENT_START
from spacy.attrs import HEAD as HEAD_OFFSET
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc

from ..arc_scorer.component import ArcScorer
from ..conllu.docs import sentence_without_tree
from ..doc.extensions import drop_extension
from ..doc.reading import sentence_bounds
from ..doc.words import part_of
from ..errors import CorpusError, SentenceTooLongError
from ..pipeline.mind_root import MindRoot
from ..trees import MISSING
from .reading import Document, Item

__all__ = ["Notes", "parse_documents", "within_limit"]

Notes = list[tuple[str, str]]  # documents that were not parsed as a whole, and how

_TREE = (HEAD_OFFSET, DEP)
_LONGEST_RUN = 1000  # characters without white space; spaCy's tokenizer takes time in proportion to the square
_RUN = re.compile(rf"\S{{{_LONGEST_RUN}}}(?=\S)")
_PLACES = (r"\n\s*\n", r"\n", r"[.!?…。！？]\S{0,2}\s", r"\s")  # where to cut a text, the best first


def within_limit(items: Iterable[Item], most: int, notes: Notes) -> Iterator[Item]:
    """Yield the items, with texts of more than `most` characters cut into parts: between paragraphs or sentences.

    A text without white space to cut it at is left as it is.
    """
    for item in items:
        text = item.text if isinstance(item, Document) else None
        ends = [] if text is None or len(text) <= most else _ends(text, most)
        if not ends or text is None or not isinstance(item, Document):
            yield item
            continue
        parts = [text[start:end] for start, end in pairwise([0, *ends])]
        notes.append(
            (item.id, f"has {len(text):,} characters, and nlp.max_length is {most:,}: parsed in {len(parts)} parts")
        )
        for number, part in enumerate(parts, 1):
            yield replace(item, id=f"{item.id}-part-{number}", text=part)


def _ends(text: str, most: int) -> list[int]:
    """Return the ends of the parts of a text; [] if there is no place to cut it."""
    ends = [0]
    while len(text) - ends[-1] > most:
        begin = ends[-1]
        for place in _PLACES:
            found = [match.end() for match in re.compile(place).finditer(text, begin + 1, begin + most)]
            least = most // 2 if r"\n" in place else 0  # an early line must not leave most of the text to the rest
            if found and found[-1] > begin + least:
                ends.append(found[-1])
                break
        else:
            return []
    return [*ends[1:], len(text)]


def parse_documents(nlp: Language, documents: list[Document], notes: Notes) -> list[Doc | Exception]:
    """Return each document's Doc, or the error that it caused.

    If a batch fails, each half is parsed again by itself, and so on down to the documents that are at fault. A
    sentence that is too long for the scorer has no tree; the others of its document are parsed.

    RAISES (BaseException): An interruption gets a note on the documents that were being parsed.
    """
    docs: list[Doc | Exception] = []
    try:
        for document in documents:
            docs.append(_made(nlp, document))
        good = [doc for doc in docs if isinstance(doc, Doc)]
        parsed = list(nlp.pipe(good))
        if len(parsed) != len(good):
            raise CorpusError("the pipeline has dropped this document.")
    except Exception as error:
        if len(documents) > 1:
            docs, good = [], []
            middle = len(documents) // 2
            return [
                part for half in (documents[:middle], documents[middle:]) for part in parse_documents(nlp, half, notes)
            ]
        if isinstance(error, SentenceTooLongError) and error.most:
            try:
                return [_parsed_around(nlp, documents[0], good[0], error.most, notes)]
            except Exception:
                return [error]
        return [error]
    except BaseException as error:
        at = documents if len(docs) == len(documents) else [documents[len(docs)]]  # all, or the one being tokenized
        error.add_note(f"It was at {at[0].id}" + (f" to {at[-1].id}." if len(at) > 1 else "."))
        raise
    results = iter(parsed)
    return [next(results) if isinstance(doc, Doc) else doc for doc in docs]


def _made(nlp: Language, document: Document) -> Doc | Exception:
    try:
        if document.sentence is not None:
            return sentence_without_tree(nlp.vocab, document.sentence)
        if document.doc is not None:
            return document.doc
        return _tokenized(nlp, document.text or "")
    except Exception as error:
        return error


def _tokenized(nlp: Language, text: str) -> Doc:
    """Return the tokens of a text. What has no white space for very long is tokenized in pieces."""
    ends = [match.end() for match in _RUN.finditer(text)] if isinstance(nlp.tokenizer, Tokenizer) else []
    if not ends or len(text) > nlp.max_length:
        return nlp.make_doc(text)
    joined = _joined([nlp.make_doc(text[start:end]) for start, end in pairwise([0, *ends, len(text)])])
    joined.from_array((SENT_START,), np.zeros(len(joined), dtype=np.uint64))  # spaCy takes each piece for a sentence
    return joined


def _joined(docs: list[Doc]) -> Doc:
    joined = Doc.from_docs(docs, ensure_whitespace=False)
    assert joined is not None  # of no Docs
    return joined


def _parsed_around(nlp: Language, document: Document, doc: Doc, most: int, notes: Notes) -> Doc:
    """Return a Doc in which the sentences of more than `most` tokens have no tree, and all others have.

    doc (Doc): With sentences, as the pipeline left it when it came to the one that is too long.
    """
    bounds = sentence_bounds(doc)
    runs = [list(run) for _, run in groupby(bounds, key=lambda bound: bound[1] - bound[0] > most)]
    pieces = [part_of(doc, run[0][0], run[-1][1]) for run in runs]
    is_long = [run[0][1] - run[0][0] > most for run in runs]
    short = [piece for piece, long in zip(pieces, is_long, strict=True) if not long]
    parsed = list(nlp.pipe(short))
    if len(parsed) != len(short):
        raise CorpusError("the pipeline has dropped a part of this document.")
    rest = iter(parsed)
    starts: list[int] = []
    for k, (run, long) in enumerate(zip(runs, is_long, strict=True)):
        pieces[k] = _without_tree(nlp, pieces[k]) if long else next(rest)
        own = [(start - run[0][0], end - run[0][0]) for start, end in run] if long else sentence_bounds(pieces[k])
        starts += [1 if i == start else -1 for start, end in own for i in range(start, end)]
    joined = _joined(pieces)
    joined.from_array((SENT_START,), np.array(starts, dtype=np.int64).view(np.uint64))
    joined.user_data = {**doc.user_data, **joined.user_data}
    # The trees that a file had are not what the pipeline has found.
    drop_extension(joined, "conllu")
    if document.sentence is not None:
        document.sentence.replace_arcs([MISSING] * len(document.sentence), ["_"] * len(document.sentence))
    for number, (start, end) in enumerate(bounds, 1):
        if end - start > most:
            words = doc[start : start + 5].text
            what = f"sentence {number} ({words!r} ...) has {end - start:,} tokens, max_length is {most:,}: no tree"
            notes.append((document.id, what))
    return joined


def _without_tree(nlp: Language, doc: Doc) -> Doc:
    """Return a Doc with what all components find but those that parse."""
    doc.from_array(_TREE, np.zeros((len(doc), 2), dtype=np.uint64))
    for _, component in nlp.pipeline:
        if not isinstance(component, ArcScorer | MindRoot):
            doc = component(doc)
    return doc
