"""Score sources: where `mind_root` reads the arc scores of a Doc. Each is registered, so that a config can name it.

A source is a `ScoreSource`, or any function of a Doc that returns one array of arc scores per sentence.
"""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..decoding import Heads
from ..doc.extensions import describe, drop_extension, read_extension
from ..doc.reading import sentence_bounds
from ..errors import LabelsError, MissingScoresError, NotEnoughMemoryError, ScoresShapeError, ScoresTypeError
from ..scores import FloatArray, Layout, check_layout, rearrange, shown, to_root_column
from .annotate import Hashes
from .arc_labels import ArcLabels

__all__ = [
    "DocArcScores",
    "FunctionSource",
    "ScoreSource",
    "SourcedScores",
    "UserDataScores",
    "WholeDocScores",
    "matrix_of_tree",
    "to_source",
]

Report = list[dict[str, Any]]

_MOST_TOKENS = 16384  # of a sentence that comes as heads and needs a matrix: 1 GiB

_REMEDY = (
    "Put a scorer before this component, or set them yourself. If the Doc came from a .spacy file, write that file "
    "with DocBin(store_user_data=True): the default drops them."
)


class SourcedScores(NamedTuple):
    """Inputs to the decoder for one Doc, one entry per sentence, in order. Their shapes say where the sentences are.

    matrices (list[np.ndarray]): Arc scores (n, n+1), `[dependent, head]`, column 0 = ROOT, as `to_root_column` returns
        them. Empty where `heads` are given.
    arc_labels (Optional[Sequence[ArrayLike | ArcLabels]]): The number of the best label of each arc, laid out like the
        scores.
    label_names (Optional[Sequence[str]]): The label that each number stands for.
    heads (Optional[list[np.ndarray]]): Single-rooted trees that need no decoding, (n,) each, 0 = ROOT, in place of
        `matrices`.
    relabel (Optional[Callable]): Takes the heads that will be written, and returns the hash of each token's label (0 to
        keep the label that it has) and a report of the arcs that changed, for `doc._.mind_root_report`.
    sets_sentences (bool): The sentences replace those that are marked on the Doc. If False, they must agree with them.
    """

    matrices: list[FloatArray]
    arc_labels: Sequence[npt.ArrayLike | ArcLabels] | None = None
    label_names: Sequence[str] | None = None
    heads: list[Heads] | None = None
    relabel: Callable[[Sequence[Heads]], tuple[Hashes, Report]] | None = None
    sets_sentences: bool = False


class ScoreSource(ABC):
    """Reads the arc scores of a Doc. Subclass it to add a source with labels, a layout or sentences of its own."""

    @abstractmethod
    def read(self, doc: Doc) -> SourcedScores:
        """Return the inputs to the decoder for a Doc, which has at least one token. The Doc does not change.

        RAISES (MindRootError): If scores are missing or do not fit the Doc.
        """

    def drop(self, doc: Doc) -> None:  # noqa: B027 - a source that keeps nothing on the Doc has nothing to drop
        """Remove the scores from the Doc once its trees are written."""


def to_source(scores: "ScoreSource | Callable[[Doc], Sequence[npt.ArrayLike]]") -> ScoreSource:
    """Return the source itself, or the source that calls a function. Raise ScoresTypeError if it is neither."""
    if isinstance(scores, ScoreSource):
        return scores
    if not callable(scores):
        raise ScoresTypeError(f"scores must be a ScoreSource, or a function of a Doc; found {shown(scores)}.")
    return FunctionSource(scores)


@dataclass(frozen=True)
class FunctionSource(ScoreSource):
    """Calls a function of the Doc that returns one array of arc scores, (n, n+1), per sentence.

    function (Callable[[Doc], Sequence[ArrayLike]]): The function.
    """

    function: Callable[[Doc], Sequence[npt.ArrayLike]]

    def read(self, doc: Doc) -> SourcedScores:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        arrays: Any = self.function(doc)
        if isinstance(arrays, np.ndarray) and arrays.ndim == 3 or isinstance(arrays, Iterator):
            arrays = list(arrays)
        return _sourced(doc, arrays, f"what {name}() returns", "root_column")


@dataclass(frozen=True)
class DocArcScores(ScoreSource):
    """Reads `doc._.arc_scores`: a list with one array of arc scores per sentence.

    layout (str): The layout of each array, and of each array of `doc._.arc_labels`; see
        `spacy_mindroot.scores.LAYOUTS`.
    """

    layout: Layout = "root_column"

    def __post_init__(self) -> None:
        check_layout(self.layout)

    def read(self, doc: Doc) -> SourcedScores:
        return _sourced(doc, read_extension(doc, "arc_scores"), "doc._.arc_scores", self.layout)

    def drop(self, doc: Doc) -> None:
        drop_extension(doc, "arc_scores")


@dataclass(frozen=True)
class UserDataScores(ScoreSource):
    """Reads `doc.user_data[key]`: a list with one array of arc scores per sentence.

    key (str): The key under which another tool leaves its scores.
    layout (str): The layout of each array, and of each array of `doc._.arc_labels`; see
        `spacy_mindroot.scores.LAYOUTS`.
    """

    key: str
    layout: Layout = "root_column"

    def __post_init__(self) -> None:
        check_layout(self.layout)

    def read(self, doc: Doc) -> SourcedScores:
        return _sourced(doc, doc.user_data.get(self.key), f"doc.user_data[{self.key!r}]", self.layout)

    def drop(self, doc: Doc) -> None:
        doc.user_data.pop(self.key, None)


@dataclass(frozen=True)
class WholeDocScores(DocArcScores):
    """Reads `doc._.arc_scores` as one matrix over all tokens of the Doc, and cuts it along the sentences of the Doc.

    Arcs between two sentences are left out. The sentences must be set before, by a `senter` or `sentencizer`.

    layout (str): The layout of the matrix, and of `doc._.arc_labels`; see `spacy_mindroot.scores.LAYOUTS`.
    """

    def read(self, doc: Doc) -> SourcedScores:
        matrix, labels = read_extension(doc, "arc_scores"), read_extension(doc, "arc_labels")
        if matrix is None:
            raise MissingScoresError(f"{describe(doc)} has no doc._.arc_scores. {_remedy(doc)}")
        cut = self._cut(doc, matrix, "doc._.arc_scores")
        matrices = [to_root_column(own, where=partial(describe, doc, k)) for k, own in enumerate(cut)]
        arc_labels = None if labels is None else self._cut(doc, labels, "doc._.arc_labels")
        return SourcedScores(matrices, arc_labels, read_label_names(doc))

    def _cut(self, doc: Doc, array: Any, place: str) -> list[npt.NDArray[Any]]:
        where = f"{place} of {describe(doc)}"
        matrix = rearrange(np.asarray(array), self.layout, where=where)
        if len(matrix) != len(doc):
            raise ScoresShapeError(f"{where} is over {len(matrix)} tokens, but the Doc has {len(doc)}.")
        if not doc.has_annotation("SENT_START"):
            raise MissingScoresError(
                f"{describe(doc)} has no sentence boundaries to cut its scores along. Add a `senter` or `sentencizer` "
                "before this component, or pass `[scores]` and use spacy-mindroot.doc_arc_scores.v1 if the Doc is one "
                "sentence."
            )
        return [
            np.concatenate([matrix[start:end, :1], matrix[start:end, start + 1 : end + 1]], axis=1)
            for start, end in sentence_bounds(doc)
        ]


def _remedy(doc: Doc) -> str:
    if doc.has_annotation("DEP"):
        return (
            "It has a parse, but a parser such as spaCy's `parser` leaves no scores. Put `arc_scorer` in its place, or "
            "repair its trees: scores = {'@misc': 'spacy-mindroot.head_scores.v1'}. "
        ) + _REMEDY
    return _REMEDY


def _sourced(doc: Doc, arrays: Any, place: str, layout: Layout) -> SourcedScores:
    """Return the scores in a list of arrays, one per sentence, together with the labels on the Doc."""
    if arrays is None:
        raise MissingScoresError(f"{describe(doc)} has no arc scores in {place}. {_remedy(doc)}")
    if not isinstance(arrays, (list, tuple)):
        shape = f" of shape {arrays.shape}" if isinstance(arrays, np.ndarray) else ""
        raise ScoresShapeError(
            f"{place} of {describe(doc)} must be a list with one array per sentence; found {type(arrays).__name__}"
            f"{shape}. If the Doc is one sentence, write [scores]; if it is one matrix for several sentences, use "
            "spacy-mindroot.whole_doc_scores.v1."
        )
    matrices = [to_root_column(array, layout, where=partial(describe, doc, k)) for k, array in enumerate(arrays)]
    labels = read_extension(doc, "arc_labels")
    if labels is not None and layout != "root_column":
        labels = [
            rearrange(np.asarray(array), layout, where=f"doc._.arc_labels of {describe(doc, k)}")
            for k, array in enumerate(labels)
        ]
    return SourcedScores(matrices, labels, read_label_names(doc))


def read_label_names(doc: Doc) -> Sequence[str] | None:
    """Return `doc._.arc_label_names`.

    RAISES (LabelsError): If the Doc has `doc._.arc_labels` but no names.
    """
    names: Sequence[str] | None = read_extension(doc, "arc_label_names")
    if names is None and read_extension(doc, "arc_labels") is not None:
        raise LabelsError(f"{describe(doc)} has doc._.arc_labels, but no doc._.arc_label_names to say what they mean.")
    return names


def matrix_of_tree(doc: Doc, k: int, heads: Heads) -> FloatArray:
    """Return arc scores under which these heads are the best tree: 1 for each of its arcs, 0 for all others."""
    n = len(heads)
    if n > _MOST_TOKENS:
        raise NotEnoughMemoryError(
            f"{describe(doc, k)} has {n:,} tokens, whose arc scores would take {4 * n * (n + 1):,} bytes. With "
            f"constraints, kbest, confidence or projective at most {_MOST_TOKENS:,} tokens are allowed. Set sentence "
            "boundaries."
        )
    scores = np.zeros((n, n + 1), dtype=np.float32)
    scores[np.arange(n), heads] = 1
    return scores
