"""Reads a Doc: its heads, its sentences, and the constraints on its arcs. To write one, see annotate.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, HEAD, ORTH, SENT_START
from spacy.pipeline import Sentencizer
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..constraints import Constraints, pairs_of_ints
from ..errors import ConstraintsError, SentenceMismatchError
from ..labels import UD_ROOT
from ..trees import MISSING
from . import _annotate
from .extensions import describe
from .words import MultiwordToken, multiword_tokens, set_multiword_tokens, texts_of, words_between

__all__ = [
    "AnnotatedSentence",
    "blank_doc",
    "characters_of",
    "check_sentences",
    "conllu_heads",
    "lengths_between",
    "listed",
    "looks_like_many",
    "read_annotated",
    "read_arc_constraints",
    "read_heads",
    "sentence_bounds",
    "sentence_lengths",
]

_STARTS = (SENT_START,)  # as a tuple, which spaCy converts faster
_FINAL = frozenset(Sentencizer.default_punct_chars)
_FINAL_HASHES = np.array([get_string_id(mark) for mark in Sentencizer.default_punct_chars], dtype=np.uint64)
_SHORTEST = 4  # tokens of a sentence that counts, so that abbreviations and initials do not


@dataclass(frozen=True)
class AnnotatedSentence:
    """An annotated sentence of n tokens.

    words (list[str]): The tokens. Words of multiword tokens have their forms.
    spaces (list[bool]): Whether a space follows each token.
    heads (np.ndarray): (n,), 0 = ROOT, j = token j-1, MISSING (-1) = unknown.
    labels (list[str]): The label of each token; `root` on arcs from ROOT.
    name (str): The name of the sentence in reports and messages; "" for none.
    multiword (Sequence[MultiwordToken]): The multiword tokens.
    """

    words: list[str]
    spaces: list[bool]
    heads: npt.NDArray[np.int64]
    labels: list[str]
    name: str = ""
    multiword: Sequence[MultiwordToken] = ()


def read_annotated(doc: Doc) -> list[AnnotatedSentence]:
    """Return the sentences of a Doc with their annotation. A Doc without sentence boundaries is one sentence."""
    multiword = multiword_tokens(doc)
    found = []
    for (start, end), heads in zip(sentence_bounds(doc), conllu_heads(doc), strict=True):
        words, own = words_between(doc, multiword, start, end)
        span = doc[start:end]
        spaces = [bool(token.whitespace_) for token in span]
        labels = [UD_ROOT if head == 0 else token.dep_ for head, token in zip(heads.tolist(), span, strict=True)]
        found.append(AnnotatedSentence(words, spaces, heads, labels, multiword=own))
    return found


def blank_doc(vocab: Vocab, sentences: Sequence[AnnotatedSentence]) -> Doc:
    """Return a Doc with the tokens and the boundaries of sentences, and no other annotation."""
    texts: list[str] = []
    spaces: list[bool] = []
    multiword: list[MultiwordToken] = []
    for each in sentences:
        first = len(texts)
        multiword += [own._replace(start=first + own.start, end=first + own.end) for own in each.multiword]
        own_texts, own_spaces = texts_of(each.words, each.spaces, each.multiword)
        texts += own_texts
        spaces += own_spaces
    sent_starts = [i == 0 for each in sentences for i in range(len(each.words))]
    doc = Doc(vocab, words=texts, spaces=spaces, sent_starts=sent_starts)
    set_multiword_tokens(doc, multiword)
    return doc


def characters_of(sentence: AnnotatedSentence) -> str:
    """Return the text of a sentence without white space: the same however it is divided into words."""
    forms = list(sentence.words)
    for token in reversed(sentence.multiword):
        forms[token.start : token.end] = [token.surface]
    return "".join("".join(forms).split())


def read_heads(doc: Doc) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Return the head and the label of each token.

    doc (Doc): The Doc. Its heads need not form trees.
    RETURNS (tuple[np.ndarray, np.ndarray]): For each token the index of its head in the Doc, its own if it is a root or
        has no head, and the hash of its label, 0 if it has none. Where a Doc has labels, a token without one has no
        head.
    """
    offsets, deps = doc.to_array((HEAD, DEP)).T
    return np.arange(len(doc)) + offsets.view(np.int64), deps


def conllu_heads(doc: Doc) -> list[npt.NDArray[np.int64]]:
    """Return the heads of each sentence as in CoNLL-U: 0 = ROOT, j = token j-1 of the sentence, MISSING = none.

    A token without a label has no head. A Doc without sentence boundaries is one sentence.
    """
    heads, deps = read_heads(doc)
    found = []
    for start, end in sentence_bounds(doc):
        own = heads[start:end] - start + 1
        own[own == np.arange(1, end - start + 1)] = 0
        own[deps[start:end] == 0] = MISSING
        found.append(own)
    return found


def sentence_lengths(doc: Doc) -> list[int] | None:
    """Return the number of tokens of each sentence of a Doc; None if it has no sentence boundaries.

    A Doc of one token is one sentence. A Doc whose roots have no label has no boundaries: spaCy drops them.
    """
    if len(doc) == 0:
        return []
    starts = doc.to_array(_STARTS) == 1
    if not doc.has_annotation("SENT_START") or (doc.has_annotation("DEP") and not starts.any()):
        return None
    return lengths_between(starts)


def sentence_bounds(doc: Doc) -> list[tuple[int, int]]:
    """Return the first token of each sentence of a Doc, and the token after its last.

    A Doc without sentence boundaries is one sentence.
    """
    lengths = sentence_lengths(doc)
    return list(pairwise(accumulate([len(doc)] if lengths is None else lengths, initial=0)))


def looks_like_many(doc: Doc) -> int | None:
    """Return the token at which a second sentence seems to begin; None if the text looks like one sentence.

    A sentence seems to end at an empty line, or at a mark such as "." or "?" after at least three other tokens, if the
    next word does not begin with a lower-case letter.
    """
    orths = doc.to_array(ORTH)
    ends = np.isin(orths, _FINAL_HASHES)
    if not ends[:-1].any() and "\n\n" not in doc.text:
        return None
    start, ended = 0, False
    for token in doc:
        if token.is_space:
            ended |= token.text.count("\n") > 1 and token.i > start
        elif token.text in _FINAL:
            ended |= token.i - start >= _SHORTEST - 1
        elif ended and not token.is_punct:
            if not token.text[:1].islower():
                return int(token.i)
            ended = False
    return None


def lengths_between(starts: npt.NDArray[np.bool_]) -> list[int]:
    """Return the lengths of the sentences that begin at the first token and wherever `starts` is true."""
    begins = [0, *(np.flatnonzero(starts[1:]) + 1).tolist()]
    lengths: list[int] = np.diff([*begins, len(starts)]).tolist()
    return lengths


def check_sentences(doc: Doc, lengths: Sequence[int]) -> None:
    """Check that sentences of these lengths fit the Doc.

    Boundaries that were set on the Doc must be the same. Boundaries that a parse left may be more: in spaCy a second
    root splits a sentence, and the new tree is there to mend that.

    doc (Doc): The Doc.
    lengths (Sequence[int]): The number of tokens of each sentence.
    RAISES (SentenceMismatchError): If they do not fit.
    """
    if sum(lengths) != len(doc):
        raise SentenceMismatchError(
            f"{describe(doc)} has {len(doc)} tokens, but its arc scores are for sentences of {listed(lengths)} tokens, "
            f"{sum(lengths)} in total. Score the Doc with the tokenization it has."
        )
    if 0 in lengths:
        raise SentenceMismatchError(f"{describe(doc)} has arc scores for a sentence of 0 tokens. Leave it out.")
    starts = doc.to_array(_STARTS)
    if _annotate.boundaries_agree(starts, list(lengths)) is not False:
        return
    present, wanted = starts == 1, np.zeros(len(doc), dtype=bool)
    wanted[list(accumulate(lengths[:-1], initial=0))] = present[0] = True
    if not (doc.has_annotation("DEP", require_complete=True) and bool(present[wanted].all())):
        raise SentenceMismatchError(
            f"{describe(doc)} has sentences of {listed(lengths_between(present))} tokens, but its arc scores are for "
            f"sentences of {listed(lengths)}. Set the boundaries before the Doc is scored, and do not change them "
            "afterwards."
        )


def read_arc_constraints(doc: Doc, arc_constraints: Any, lengths: Sequence[int]) -> list[Constraints]:
    """Return the constraints in `doc._.arc_constraints`, sentence by sentence.

    doc (Doc): The Doc.
    arc_constraints (dict[str, list[tuple[int, int]]]): Arcs (token.i, head.i) that the tree must have, under
        "required", and must not have, under "forbidden". A root is its own head, as in spaCy.
    lengths (Sequence[int]): The number of tokens of each sentence. A forbidden arc between two sentences changes
        nothing.
    RAISES (ConstraintsError): If there is no such arc, or a required arc leads from one sentence to another.
    """
    if not isinstance(arc_constraints, dict) or not arc_constraints.keys() <= {"required", "forbidden"}:
        raise ConstraintsError(
            f"{describe(doc)}: doc._.arc_constraints is a dict with lists of arcs under 'required' and 'forbidden', or "
            f"one of them; found {str(arc_constraints)[:100]}."
        )
    sentence_of = np.repeat(np.arange(len(lengths)), lengths)
    starts = list(accumulate(lengths, initial=0))
    arcs: dict[str, list[list[tuple[int, int]]]] = {name: [[] for _ in lengths] for name in ("required", "forbidden")}
    for name, of_doc in arc_constraints.items():
        for dependent, head in pairs_of_ints(of_doc, name, where=f"{describe(doc)}: "):
            if not (0 <= dependent < len(doc) and 0 <= head < len(doc)):
                raise ConstraintsError(
                    f"{describe(doc)} has no arc {dependent, head} that could be {name}: arcs in doc._.arc_constraints "
                    f"are (token.i, head.i), from 0 to {len(doc) - 1}, and a root is its own head."
                )
            k = int(sentence_of[dependent])
            if sentence_of[head] == k:
                arcs[name][k].append((dependent - starts[k] + 1, 0 if head == dependent else head - starts[k] + 1))
            elif name == "required":
                raise ConstraintsError(
                    f"{describe(doc)}: token {dependent} ({doc[dependent].text!r}) is required to have token {head} "
                    f"({doc[head].text!r}) as its head, which is in another sentence. Change the sentence boundaries, "
                    "or drop this arc."
                )
    return [
        Constraints(required, forbidden)
        for required, forbidden in zip(arcs["required"], arcs["forbidden"], strict=True)
    ]


def listed(numbers: Sequence[int]) -> str:
    """Return at most ten of the numbers, for a message."""
    shown = ", ".join(map(str, numbers[:10]))
    return f"{shown}, ... ({len(numbers)} in all)" if len(numbers) > 10 else shown
