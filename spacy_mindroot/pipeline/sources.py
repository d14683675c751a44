"""Where arc scores come from: registered sources, each a function of a Doc that returns one array per sentence.

A source may also have `drop(doc)`, which takes the scores off the Doc again: `mind_root` calls it once the tree is
written, unless it is to keep them; and `rearrange(doc, arrays, place)`, which brings the labels into the form of the scores. One
that takes the heads and sentences of a parsed Doc, `head_scores.HeadScores`, has `relabel(doc)`.
"""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..errors import MissingScoresError, ScoresShapeError
from ..scores import Layout, check_layout, rearrange
from .extensions import describe, drop_extension, read_extension

_REMEDY = (
    "Put a scorer before this component, or set them yourself. If the Doc came from a .spacy file, write that with "
    "DocBin(store_user_data=True): the default drops them."
)


@runtime_checkable
class ScoreSource(Protocol):
    """Arc scores of a Doc: one (n, n+1) array per sentence, in order. The shapes say where the sentences are."""

    def __call__(self, doc: Doc) -> Sequence[npt.ArrayLike]: ...


@dataclass(frozen=True)
class DocArcScores:
    """Reads `doc._.arc_scores`.

    layout (str): How each array is laid out, and each of `doc._.arc_labels`; see `spacy_mindroot.scores.LAYOUTS`.
    """

    layout: Layout = "root_column"

    def __post_init__(self) -> None:
        check_layout(self.layout)

    def __call__(self, doc: Doc) -> Sequence[npt.ArrayLike]:
        return self.rearrange(doc, read_extension(doc, "arc_scores"), "doc._.arc_scores")

    def rearrange(self, doc: Doc, arrays: Any, place: str) -> Sequence[npt.ArrayLike]:
        return _per_sentence(doc, arrays, place, self.layout)

    def drop(self, doc: Doc) -> None:
        drop_extension(doc, "arc_scores")


@dataclass(frozen=True)
class UserDataScores:
    """Reads `doc.user_data[key]`.

    key (str): Where another tool leaves its scores.
    layout (str): How each array is laid out, and each of `doc._.arc_labels`; see `spacy_mindroot.scores.LAYOUTS`.
    """

    key: str
    layout: Layout = "root_column"

    def __post_init__(self) -> None:
        check_layout(self.layout)

    def __call__(self, doc: Doc) -> Sequence[npt.ArrayLike]:
        return self.rearrange(doc, doc.user_data.get(self.key), f"doc.user_data[{self.key!r}]")

    def rearrange(self, doc: Doc, arrays: Any, place: str) -> Sequence[npt.ArrayLike]:
        return _per_sentence(doc, arrays, place, self.layout)

    def drop(self, doc: Doc) -> None:
        doc.user_data.pop(self.key, None)


@dataclass(frozen=True)
class WholeDocScores:
    """Reads `doc._.arc_scores` as a single matrix over all tokens of the Doc, and cuts it along the Doc's sentences.

    Arcs from one sentence to another are left out. The sentences must be set before, by `senter` or `sentencizer`.

    layout (str): How the matrix is laid out, and `doc._.arc_labels`; see `spacy_mindroot.scores.LAYOUTS`.
    """

    layout: Layout = "root_column"

    def __post_init__(self) -> None:
        check_layout(self.layout)

    def __call__(self, doc: Doc) -> Sequence[npt.ArrayLike]:
        return self.rearrange(doc, read_extension(doc, "arc_scores"), "doc._.arc_scores")

    def rearrange(self, doc: Doc, array: Any, place: str) -> Sequence[npt.ArrayLike]:
        where = f"{place} of {describe(doc)}"
        if array is None:
            raise MissingScoresError(f"{describe(doc)} has no {place}. {_REMEDY}")
        matrix = rearrange(np.asarray(array), self.layout, where=where)
        if len(matrix) != len(doc):
            raise ScoresShapeError(f"{where} is over {len(matrix)} tokens, the Doc has {len(doc)}.")
        if not doc.has_annotation("SENT_START"):
            raise MissingScoresError(
                f"{describe(doc)} has no sentence boundaries to cut its scores along. Add a `senter` or `sentencizer` before, "
                "or pass `[scores]` and use spacy-mindroot.doc_arc_scores.v1 if the Doc is one sentence."
            )
        return [
            np.concatenate([matrix[s.start : s.end, :1], matrix[s.start : s.end, s.start + 1 : s.end + 1]], axis=1)
            for s in doc.sents
        ]

    def drop(self, doc: Doc) -> None:
        drop_extension(doc, "arc_scores")


def _per_sentence(doc: Doc, arrays: Any, place: str, layout: Layout) -> Sequence[npt.ArrayLike]:
    if arrays is None:
        raise MissingScoresError(f"{describe(doc)} has no arc scores in {place}. {_REMEDY}")
    if not isinstance(arrays, (list, tuple)):
        raise ScoresShapeError(
            f"{place} of {describe(doc)} is to be a list with one array per sentence; found {type(arrays).__name__}"
            f"{f' of shape {arrays.shape}' if hasattr(arrays, 'shape') else ''}. If the Doc is one sentence, write [scores]; "
            "if it is one matrix for several sentences, use spacy-mindroot.whole_doc_scores.v1."
        )
    if layout == "root_column":
        return arrays
    return [rearrange(np.asarray(array), layout, where=describe(doc, k)) for k, array in enumerate(arrays)]
