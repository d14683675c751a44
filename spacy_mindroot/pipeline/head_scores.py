"""The registered source spacy-mindroot.head_scores.v1: repairs the trees that another parser has left on a Doc."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.tokens import Doc

from ..errors import LabelsError, MissingScoresError, MissingSentencesError, NotEnoughMemoryError
from ..labels import is_root_label
from ..repair import Repair, looks_like_punctuation, repair_heads, repair_labels
from ..trees import MISSING
from .extensions import describe

_MOST_TOKENS = 16384  # in a sentence: 1 GiB of scores


@dataclass(frozen=True)
class HeadScores:
    """Makes arc scores of the heads that are on the Doc, by whatever parser: the best tree under them is the nearest one with a single
    root, which shares the most arcs with those heads (`repair.repair_heads`). Heads that are well formed stay as they are.

    spaCy derives sentences from heads, so a Doc whose heads have several roots has lost the sentences that it had: say where they
    are to be had from. They replace those on the Doc.

    sentences (str): "starts": the sentence starts on the Doc, as a `senter` or `sentencizer` with `overwrite = true` sets them between the
        parser and this component. "spans": a span group, made before the Doc was parsed. "doc": each Doc is one sentence.
    spans_key (str): The name of the span group, `doc.spans[spans_key]`. Its spans cover the Doc, one after the other.
    demoted_label (Optional[str]): What a token that was a root and is none any more gets, if it is not punctuation and its label says
        nothing else. Without it, `parataxis`, or `dep` if its part of speech is not known.
    """

    sentences: Literal["starts", "spans", "doc"] = "starts"
    spans_key: str = "sentences"
    demoted_label: str | None = None

    def __post_init__(self) -> None:
        if self.sentences not in ("starts", "spans", "doc"):
            raise MissingSentencesError(f'sentences is {self.sentences!r}. It is "starts", "spans" or "doc".')
        if self.demoted_label is not None and (not self.demoted_label or is_root_label(self.demoted_label)):
            raise LabelsError(f"demoted_label is {self.demoted_label!r}. It is a label, and not ROOT's.")

    def __call__(self, doc: Doc) -> Sequence[npt.ArrayLike]:
        return [_scores_of(doc, k, repair.heads) for k, (_, repair) in enumerate(self._repaired(doc))]

    def relabel(self, doc: Doc) -> tuple[npt.NDArray[np.uint64], list[dict[str, Any]]]:
        """The labels of the repaired trees (`repair.repair_labels`), and what has changed. Reads the Doc before the trees are written.

        RETURNS: For each token the hash of its label, 0 if it keeps the one that it has or is to get the component's `fallback_label`; and for each token with another head a dict of
            its index `token`, those of its `old_head` and `head` (None for ROOT, and for one that is missing or in another sentence), its
            `old_label` and `why` it was changed (see `repair.Change`).
        """
        hashes = np.zeros(len(doc), dtype=np.uint64)
        report: list[dict[str, Any]] = []
        for parsed, repair in self._repaired(doc):
            heads, was = repair.heads.tolist(), parsed.labels
            labels = repair_labels(
                was, parsed.heads, heads, pos=parsed.pos, is_punct=parsed.is_punct, demoted_label=self.demoted_label
            )
            for i, head in enumerate(heads):
                is_same = labels[i] == was[i]
                if head != 0 and (head != parsed.heads[i] if is_same else labels[i] != "dep"):
                    hashes[parsed.start + i] = doc.vocab.strings.add(labels[i])
            report += [
                {
                    "token": parsed.start + change.dependent - 1,
                    "old_head": parsed.start + change.before - 1 if 1 <= change.before <= len(was) else None,
                    "head": parsed.start + change.head - 1 if change.head else None,
                    "old_label": was[change.dependent - 1],
                    "why": change.why,
                }
                for change in repair.changes
            ]
        return hashes, report

    def _repaired(self, doc: Doc) -> Iterator[tuple["_ParsedSentence", Repair]]:
        if len(doc) == 0:
            return
        offsets, deps = doc.to_array([HEAD, DEP]).T
        if not offsets.any() and not deps.any():
            raise MissingScoresError(f"{describe(doc)} has no heads to repair. Put a parser before this component.")
        heads = np.arange(len(doc)) + offsets.view(np.int64)
        for start, end in pairwise([0, *self._ends(doc)]):
            parsed = _parsed_sentence(doc, start, heads[start:end], deps[start:end])
            yield (
                parsed,
                repair_heads(parsed.heads, labels=parsed.labels, pos=parsed.pos, is_punct=parsed.is_punct),
            )

    def _ends(self, doc: Doc) -> list[int]:
        """The token after each sentence."""
        if self.sentences == "doc":
            return [len(doc)]
        if self.sentences == "starts":
            starts = np.flatnonzero(doc.to_array([SENT_START]) == 1)
            if not len(starts) and len(doc) > 1:
                raise MissingSentencesError(
                    f"{describe(doc)} has no sentence starts. Put a `senter` or `sentencizer` with overwrite = true before this component, or "
                    'let it take the sentences from elsewhere: sentences = "spans", or "doc" if each Doc is one sentence.'
                )
            return [*starts[starts > 0].tolist(), len(doc)]
        if self.spans_key not in doc.spans:
            raise MissingSentencesError(
                f"{describe(doc)} has no span group doc.spans[{self.spans_key!r}]. Make it of the sentences before the Doc is parsed."
            )
        spans = doc.spans[self.spans_key]
        ends = [span.end for span in spans]
        if [span.start for span in spans] != [0, *ends[:-1]] or ends[-1] != len(doc):
            raise MissingSentencesError(
                f"the spans in doc.spans[{self.spans_key!r}] of {describe(doc)} are not its sentences: they are to cover it, one after the other."
            )
        return ends


class _ParsedSentence(NamedTuple):
    """A sentence as a parser has left it; its heads may be anything. Lists with an item for each token; heads as in CoNLL-U."""

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


def _scores_of(doc: Doc, k: int, heads: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    """Arc scores under which these heads are the best tree: 1 for each of its arcs, 0 for all others."""
    n = len(heads)
    if n > _MOST_TOKENS:
        raise NotEnoughMemoryError(
            f"{describe(doc, k)} has {n:,} tokens, whose arc scores would take {4 * n * (n + 1):,} bytes; up to {_MOST_TOKENS:,} tokens are "
            "taken. Set sentence boundaries."
        )
    scores = np.zeros((n, n + 1), dtype=np.float32)
    scores[np.arange(n), heads] = 1
    return scores
