"""Finds the `mind_root` of a pipeline, and runs the pipeline up to it, to read the scores as it would."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from spacy.language import Language
from spacy.pipeline import DependencyParser
from spacy.tokens import Doc

from ..doc.extensions import describe
from ..doc.reading import AnnotatedSentence, blank_doc, check_sentences, listed
from ..errors import CorpusError, MindRootError, MissingScoresError, SentenceMismatchError
from .head_scores import HeadScores
from .mind_root import MindRoot
from .sources import DocArcScores, ScoreSource, SourcedScores

__all__ = ["find_mind_root", "mind_roots", "piped", "scored"]

_Context = TypeVar("_Context")
_Sentences = TypeVar("_Sentences", bound=Sequence[AnnotatedSentence])


def mind_roots(nlp: Language) -> dict[str, MindRoot]:
    """Return the components `mind_root` of a pipeline by their names, in order."""
    return {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, MindRoot)}


def find_mind_root(nlp: Language, name: str | None = None) -> tuple[str, MindRoot]:
    """Return the name and the component of a pipeline's `mind_root`, by default the first, which reads arc scores.

    RAISES (CorpusError): If there is none, or if it repairs the heads of another parser.
    """
    found = mind_roots(nlp)
    name = next(iter(found), None) if name is None else name
    if name is None or name not in found:
        wanted = "a mind_root component" if name is None else f"a mind_root component named {name!r}"
        raise CorpusError(
            f"The pipeline does not have {wanted}. It has: {', '.join(nlp.pipe_names) or 'none'}.{_of_any_parser(nlp)}"
        )
    if isinstance(found[name].scores, HeadScores):
        raise CorpusError(
            f"The component {name} of the pipeline repairs the heads of another parser, so there are no arc scores and "
            "no probabilities."
        )
    return name, found[name]


def _of_any_parser(nlp: Language) -> str:
    """Return what can be done with a pipeline that has spaCy's own parser; "" if it has none."""
    if not any(isinstance(pipe, DependencyParser) for _, pipe in nlp.pipeline):
        return ""
    config = shlex.quote(str((nlp.path or Path("MODEL")) / "config.cfg"))
    return (
        " spaCy's parser sets no scores of arcs, and no probabilities. `spacy mindroot evaluate` measures its trees "
        "and counts their roots, `show` draws them, and `repair` mends those that `parse` writes. To train a parser "
        f"that sets scores: spacy mindroot init-config new.cfg --from {config}"
    )


def piped(nlp: Language, pairs: Iterable[tuple[str | Doc, _Context]]) -> Iterator[tuple[Doc, _Context]]:
    """Run `nlp.pipe` on pairs of a text or a Doc and anything else. Any error of a component becomes a CorpusError."""
    try:
        yield from nlp.pipe(pairs, as_tuples=True)
    except (MindRootError, OSError, MemoryError):
        raise
    except Exception as error:  # a component was not initialized, say; each library has errors of its own
        raise CorpusError(f"The pipeline can't process this corpus ({type(error).__name__}): {error}") from error


def scored(
    nlp: Language, docs: Iterable[_Sentences], name: str | None = None
) -> Iterator[tuple[Doc, SourcedScores, _Sentences]]:
    """Run a pipeline up to its `mind_root` on annotated sentences, and read the scores as that would.

    Without a `mind_root`, all of the pipeline runs, and `doc._.arc_scores` is read. Tokens and boundaries of the
    sentences are kept.
    """
    at = len(nlp.pipeline)
    source: ScoreSource = DocArcScores()
    if name is not None or mind_roots(nlp):
        name, component = find_mind_root(nlp, name)
        at, source = nlp.pipe_names.index(name), component.scores
    with nlp.select_pipes(enable=nlp.pipe_names[:at]):
        for doc, sentences in piped(nlp, ((blank_doc(nlp.vocab, own), own) for own in docs)):
            try:
                sourced = source.read(doc)
            except MissingScoresError as error:
                remedy = _of_any_parser(nlp)
                raise CorpusError(f"There are no arc scores.{remedy}") if remedy else error from None
            lengths, expected = ([len(each) for each in sourced.matrices], [len(each.words) for each in sentences])
            if lengths != expected:
                raise SentenceMismatchError(
                    f"{sentences[0].name or describe(doc)} has arc scores for sentences of {listed(lengths)} tokens, "
                    f"other sentences than the annotated ones of {listed(expected)}. If a component of the pipeline "
                    "sets sentence boundaries anew, set its overwrite = false."
                )
            check_sentences(doc, lengths)
            yield doc, sourced, sentences
