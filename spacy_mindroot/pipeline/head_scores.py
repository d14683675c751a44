"""The score source spacy-mindroot.head_scores.v1: repairs the trees that another parser left on a Doc."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..decoding import Heads
from ..doc.extensions import describe, read_extension
from ..doc.reading import read_heads, sentence_lengths
from ..errors import LabelsError, MissingScoresError, MissingSentencesError
from ..labels import is_root_label
from ..repair import Repair, looks_like_punctuation, repair_heads, repair_labels
from ..trees import MISSING
from .annotate import Hashes
from .sources import Report, ScoreSource, SourcedScores, read_label_names

__all__ = ["HeadScores"]


@dataclass(frozen=True)
class HeadScores(ScoreSource):
    """Repairs the heads that any parser left on the Doc: finds the nearest single-rooted tree of each sentence.

    The nearest tree shares the most arcs with those heads (see `repair.repair_heads`). Heads that are such a tree
    already stay as they are.

    spaCy derives sentences from heads, so a Doc whose heads have several roots has lost its sentences. `sentences` says
    where to find them. They replace those on the Doc.

    sentences (str): "starts": the sentence starts on the Doc, as a `senter` or `sentencizer` with `overwrite = true`
        sets them between the parser and this component. "spans": a span group that was made before the Doc was parsed.
        "doc": each Doc is one sentence.
    spans_key (str): The name of the span group, `doc.spans[spans_key]`. Its spans must cover the Doc, one after the
        other.
    demoted_label (Optional[str]): The label of a token that is no longer a root, if it is not punctuation and keeps no
        other label. By default `parataxis`, or `dep` if its part of speech is unknown.
    """

    sentences: Literal["starts", "spans", "doc"] = "starts"
    spans_key: str = "sentences"
    demoted_label: str | None = None

    def __post_init__(self) -> None:
        if self.sentences not in ("starts", "spans", "doc"):
            raise MissingSentencesError(f'sentences is {self.sentences!r}. It must be "starts", "spans" or "doc".')
        if self.demoted_label is not None and (not self.demoted_label or is_root_label(self.demoted_label)):
            raise LabelsError(f"demoted_label is {self.demoted_label!r}. It must be a label other than ROOT's.")

    def read(self, doc: Doc) -> SourcedScores:
        parsed = list(self._parsed(doc))
        repairs = [repair_heads(s.heads, labels=s.labels, pos=s.pos, is_punct=s.is_punct) for s in parsed]
        return SourcedScores(
            matrices=[],
            arc_labels=read_extension(doc, "arc_labels"),
            label_names=read_label_names(doc),
            heads=[repair.heads for repair in repairs],
            relabel=partial(self._relabel, doc, parsed, repairs),
            sets_sentences=True,
        )

    def _relabel(
        self, doc: Doc, parsed: Sequence["_ParsedSentence"], repairs: Sequence[Repair], heads: Sequence[Heads]
    ) -> tuple[Hashes, Report]:
        """Return the labels of the trees that will be written, and a report of the arcs that change.

        RETURNS: The hash of each token's label, 0 if it keeps its own or gets the `fallback_label` of the component;
            and for each token with another head a dict with its index `token`, the indexes `old_head` and `head` (None
            for ROOT, and for a head that was missing or in another sentence), its `old_label`, and `why` it changed
            (see `repair.Change`). An arc that constraints changed is "required".
        """
        hashes = np.zeros(len(doc), dtype=np.uint64)
        report: Report = []
        for sentence, repair, final in zip(parsed, repairs, heads, strict=True):
            start, n, before, was = sentence.start, len(sentence.heads), sentence.heads, sentence.labels
            labels = repair_labels(
                was,
                before,
                final.tolist(),
                pos=sentence.pos,
                is_punct=sentence.is_punct,
                demoted_label=self.demoted_label,
            )
            reasons = {change.dependent: change.why for change in repair.changes}
            for i, head in enumerate(final.tolist()):
                is_same = labels[i] == was[i]
                if head != 0 and (head != before[i] if is_same else labels[i] != "dep"):
                    hashes[start + i] = doc.vocab.strings.add(labels[i])
                if head != before[i]:
                    report.append(
                        {
                            "token": start + i,
                            "old_head": start + before[i] - 1 if 1 <= before[i] <= n else None,
                            "head": start + head - 1 if head else None,
                            "old_label": was[i],
                            "why": reasons.get(i + 1, "required"),
                        }
                    )
        return hashes, report

    def _parsed(self, doc: Doc) -> Iterator["_ParsedSentence"]:
        heads, deps = read_heads(doc)
        if not deps.any() and np.array_equal(heads, np.arange(len(doc))):
            raise MissingScoresError(f"{describe(doc)} has no heads to repair. Put a parser before this component.")
        for start, end in pairwise(accumulate(self._lengths(doc), initial=0)):
            yield _parsed_sentence(doc, start, heads[start:end], deps[start:end])

    def _lengths(self, doc: Doc) -> list[int]:
        """Return the number of tokens of each sentence."""
        if self.sentences == "doc":
            return [len(doc)]
        if self.sentences == "starts":
            lengths = sentence_lengths(doc)
            if lengths is None:
                raise MissingSentencesError(
                    f"{describe(doc)} has no sentence starts. Put a `senter` or `sentencizer` with overwrite = true "
                    'before this component, or take the sentences from elsewhere: sentences = "spans", or "doc" if '
                    "each Doc is one sentence."
                )
            return lengths
        if self.spans_key not in doc.spans:
            raise MissingSentencesError(
                f"{describe(doc)} has no span group doc.spans[{self.spans_key!r}]. Make it of the sentences before the "
                "Doc is parsed."
            )
        spans = [(span.start, span.end) for span in doc.spans[self.spans_key]]
        ends = [end for _, end in spans]
        if [start for start, _ in spans] != [0, *ends[:-1]] or ends[-1] != len(doc):
            raise MissingSentencesError(
                f"the spans in doc.spans[{self.spans_key!r}] of {describe(doc)} are not its sentences: they must cover "
                "it, one after the other."
            )
        return [end - start for start, end in spans]


class _ParsedSentence(NamedTuple):
    """A sentence as a parser left it: one item per token. Heads are as in CoNLL-U, and may be anything."""

    start: int
    heads: list[int]
    labels: list[str]
    pos: list[str | None]
    is_punct: list[bool]


def _parsed_sentence(
    doc: Doc, start: int, heads_in_doc: npt.NDArray[np.int64], deps: npt.NDArray[np.uint64]
) -> _ParsedSentence:
    n = len(deps)
    heads = heads_in_doc - start + 1
    is_own = heads == np.arange(1, n + 1)
    is_root = is_own & (deps != 0) if deps.any() else is_own  # where there are labels, a token without one has no head
    is_outside = (heads < 1) | (heads > n)
    heads = np.where(is_root, 0, np.where(is_own, MISSING, np.where(is_outside, n + 1, heads)))
    tokens = [doc[i] for i in range(start, start + n)]
    return _ParsedSentence(
        start,
        heads.tolist(),
        [token.dep_ for token in tokens],
        [token.pos_ for token in tokens],
        [looks_like_punctuation(token.text, token.pos_) for token in tokens],
    )
