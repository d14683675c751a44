"""The errors of this package.

Every one is a `ValueError`, so a single `except` catches all bad input. A message says what was found, where, and
what to do.
"""

from __future__ import annotations

from functools import partial
from typing import Any

__all__ = [
    "CalibrationError",
    "ConflictError",
    "ConlluError",
    "ConstraintsError",
    "CorpusError",
    "DecodingError",
    "HeadsError",
    "InvalidScoreError",
    "LabelsError",
    "MindRootError",
    "MissingScoresError",
    "MissingSentencesError",
    "NoHeadError",
    "NoRootError",
    "NoTreeError",
    "NoValidTreeError",
    "NotEnoughMemoryError",
    "RulesError",
    "ScoreFileError",
    "ScoreRangeError",
    "ScoresShapeError",
    "ScoresTypeError",
    "SearchLimitError",
    "SentenceMismatchError",
    "SentenceTooLongError",
    "TrainingError",
]


class MindRootError(ValueError):
    """Base class of all errors of this package."""


class ScoresShapeError(MindRootError):
    """An array of arc scores has the wrong shape for its layout or its sentence."""


class ScoresTypeError(MindRootError):
    """Arc scores are not real numbers in host memory."""


class DecodingError(MindRootError):
    """No tree can be decoded from these arc scores.

    Attributes
    ----------
    sentence : int
        Index of the sentence in its batch, file or Doc, from 0.
    dependent : int
        The dependent, from 1 as in CoNLL-U; 0 if the error concerns no single token.
    head : int
        The head, 0 = ROOT.
    """

    def __init__(self, message: str, *, sentence: int = 0, dependent: int = 0, head: int = 0) -> None:
        super().__init__(message)
        self.sentence = sentence
        self.dependent = dependent
        self.head = head


class InvalidScoreError(DecodingError):
    """An arc score is NaN or +inf."""


class ScoreRangeError(DecodingError):
    """Arc scores are too far apart for probabilities of trees in double precision.

    Decoding has no such limit.
    """


class NoHeadError(DecodingError):
    """A token has no allowed head: all its arcs are -inf."""


class NoRootError(DecodingError):
    """No token may be the root: all arcs from ROOT are -inf."""


class NoTreeError(DecodingError):
    """Every token has an allowed head, but the allowed arcs form no tree, or no single-rooted one."""


class NoValidTreeError(DecodingError):
    """There are trees with one root, but each of them breaks a hard rule."""


class SearchLimitError(DecodingError):
    """The search for a valid tree reached its limit before it found one."""


class NotEnoughMemoryError(DecodingError, MemoryError):
    """There is not enough memory to decode a sentence or to hold its trees."""


class ConstraintsError(MindRootError):
    """Required or forbidden arcs are not pairs of ints, or name arcs that do not exist."""


class ConflictError(DecodingError):
    """There are trees, but none has all required and no forbidden arcs.

    Attributes
    ----------
    required, forbidden : list of tuples (dependent, head)
        A minimal set of constraints that leaves no tree: dropping any one of them would leave one. Arcs are numbered
        as in CoNLL-U.
    """

    def __init__(
        self, message: str, *, required: list[tuple[int, int]], forbidden: list[tuple[int, int]], sentence: int = 0
    ) -> None:
        dependent, head = (required + forbidden)[0]
        super().__init__(message, sentence=sentence, dependent=dependent, head=head)
        self.required = required
        self.forbidden = forbidden

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the error again in another process: by default, keyword arguments would be missing."""
        again = partial(type(self), required=self.required, forbidden=self.forbidden)
        return again, self.args, self.__dict__


class CalibrationError(MindRootError):
    """Probabilities can't be calibrated on the given data, or a calibration has settings out of range."""


class CountError(MindRootError):
    """A number of trees or threads is not an int, or is out of range."""


class RulesError(MindRootError):
    """Rules for labelled trees are not as they should be."""


class SeedError(MindRootError):
    """A source of randomness is neither a NumPy Generator nor a seed for one."""


class HeadsError(MindRootError):
    """Heads have the wrong shape, dtype or range, or are not the tree that is needed."""


class MissingScoresError(MindRootError):
    """A Doc has no arc scores where the component looks for them."""


class SentenceMismatchError(MindRootError):
    """The arc scores of a Doc do not match its tokens or sentence boundaries."""


class LabelsError(MindRootError):
    """Arc labels do not match the arc scores, or a label is missing."""


class ScoreFileError(MindRootError):
    """A score file can't be read, lacks an array, or has arrays that do not fit together."""


class MissingSentencesError(MindRootError):
    """A Doc has no sentence boundaries where they are needed."""


class SentenceTooLongError(MindRootError):
    """A sentence has more tokens than `max_length` of the scorer allows; `most` is how many it allows."""

    most = 0


class TrainingError(MindRootError):
    """The scorer can't be trained on the given data or settings."""


class CorpusError(MindRootError):
    """An annotated corpus or a pipeline can't be read, is empty, or lacks what is needed."""


class ConlluError(MindRootError):
    """A CoNLL-U file can't be read, or its trees are not what is needed.

    Each line of the message names the file and the line.
    """


class VoteError(MindRootError):
    """The parses to vote over do not fit together."""


class MissingPackageError(MindRootError):
    """An optional package is not installed."""
