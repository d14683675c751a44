"""The official scores: the CoNLL 2018 script, as Universal Dependencies distributes it in the package `udtools`."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...conllu import Sentence
from ...conllu.columns import DEPS, FORM, HEAD, LEMMA, MISC, UPOS, XPOS
from ...conllu.sentence import format_rows
from ...errors import CorpusError, MissingPackageError
from ...trees import MISSING

__all__ = ["METRICS", "OfficialScore", "load_script", "official_scores"]

METRICS = (
    *("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas"),
    *("UAS", "LAS", "CLAS", "MLAS", "BLEX"),
)
_EMPTY = {"UPOS": UPOS, "XPOS": XPOS, "Lemmas": LEMMA}  # metrics that say nothing where gold has no such column


class OfficialScore(NamedTuple):
    """A metric of the CoNLL 2018 script, from 0 to 1."""

    precision: float
    recall: float
    f1: float
    aligned: float | None  # the accuracy on aligned words, for metrics of words


def official_scores(gold: Sequence[Sentence], system: Sequence[Sentence]) -> dict[str, OfficialScore]:
    """Score a system's output with the CoNLL 2018 script.

    Several roots in a sentence, which the shared task did not allow, are scored as they are.

    RETURNS (dict[str, OfficialScore]): Each of METRICS, but for those whose column is empty in `gold`.
    RAISES (MissingPackageError): If `udtools` is not installed.
    """
    udeval = load_script()
    settings = {"multiple_roots_okay": True}
    longest = max((len(sentence) for sentence in (*gold, *system)), default=0)
    with _recursion(longest):
        try:
            read = [
                udeval.load_conllu(io.StringIO(_plain(sentences)), name, settings)
                for name, sentences in (("gold", gold), ("system", system))
            ]
            found = udeval.evaluate(*read)
        except udeval.UDError as error:
            raise CorpusError(f"The CoNLL 2018 script can't compare the output with the treebank: {error}") from error
    absent = {
        name
        for name, column in _EMPTY.items()
        if all(cell in ("_", "") for sentence in gold for cell in sentence.column(column))
    }
    return {
        name: OfficialScore(score.precision, score.recall, score.f1, score.aligned_accuracy)
        for name in METRICS
        if name not in absent
        for score in [found[name]]
    }


def load_script() -> Any:
    """Return the module of the CoNLL 2018 script. Raise MissingPackageError if it is not installed."""
    try:
        from udtools import udeval
    except ImportError as error:
        raise MissingPackageError(
            f"The CoNLL 2018 script is in the package udtools, which can't be imported ({error}). Install it with: pip "
            "install 'spacy-mindroot[evaluate]'"
        ) from error
    return udeval


def _plain(sentences: Sequence[Sentence]) -> str:
    """Return what the script reads: plain CoNLL-U without comments, empty nodes and enhanced dependencies."""
    return "".join(format_rows((), list(_rows(sentence)), sentence.multiword_tokens()) for sentence in sentences)


def _rows(sentence: Sentence) -> Iterator[list[str]]:
    columns = [sentence.column(number) for number in range(MISC + 1)]
    for word, (head, *cells) in enumerate(zip(sentence.heads, *columns, strict=True), 1):
        if head == MISSING:
            raise sentence.fault(word, "has no HEAD. The CoNLL 2018 script needs a complete tree.")
        if not cells[FORM].strip():
            raise sentence.fault(word, "has only white space in FORM, which the CoNLL 2018 script does not allow.")
        cells[HEAD], cells[DEPS] = str(head), "_"
        yield cells


@contextmanager
def _recursion(longest: int) -> Iterator[None]:
    """Let the script follow a path through a sentence of so many words: it calls itself for each head."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, longest + before))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
