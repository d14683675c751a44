"""The errors of this package. Each is a `ValueError`, so that one `except` catches bad input, and says what was found,
where, and what to do."""

from __future__ import annotations


class MindRootError(ValueError):
    """Base of all errors of this package."""


class ScoresShapeError(MindRootError):
    """The array of arc scores has the wrong shape or number of dimensions for its layout or its sentence."""


class ScoresTypeError(MindRootError):
    """The arc scores are not real numbers in host memory."""


class DecodingError(MindRootError):
    """There is no tree to be had from these arc scores.

    sentence (int): Index of the sentence in the batch or the Doc, from 0.
    dependent (int): The dependent, from 1 as in CoNLL-U; 0 if none is to be named.
    head (int): The head, 0 = ROOT.
    """

    def __init__(self, message: str, *, sentence: int = 0, dependent: int = 0, head: int = 0) -> None:
        super().__init__(message)
        self.sentence = sentence
        self.dependent = dependent
        self.head = head


class InvalidScoreError(DecodingError):
    """An arc score is NaN or +inf."""


class NoHeadError(DecodingError):
    """A token has no allowed head: all its arcs are -inf."""


class NoRootError(DecodingError):
    """No token may be the root: all arcs from ROOT are -inf."""


class NoTreeError(DecodingError):
    """Each token has an allowed head, but the allowed arcs form no tree, or none with a single root."""


class NotEnoughMemoryError(DecodingError, MemoryError):
    """There is no room for the working copy of the arc scores, 12 bytes for each."""


class ConstraintsError(MindRootError):
    """Constraints on the tree name arcs that do not exist, or are not arcs."""


class ConflictError(DecodingError):
    """There are trees, but none with all required and without all forbidden arcs.

    required, forbidden (list[tuple[int, int]]): A smallest set of constraints that leaves no tree: if any one of them were
        dropped, the others could hold. Arcs (dependent, head) as in CoNLL-U.
    """

    def __init__(
        self, message: str, *, required: list[tuple[int, int]], forbidden: list[tuple[int, int]], sentence: int = 0
    ) -> None:
        dependent, head = (required + forbidden)[0]
        super().__init__(message, sentence=sentence, dependent=dependent, head=head)
        self.required = required
        self.forbidden = forbidden


class CountError(MindRootError):
    """A number of trees is wanted that is not a positive int."""


class HeadsError(MindRootError):
    """An array of heads is not one: wrong shape, dtype or range."""


class MissingScoresError(MindRootError):
    """A Doc carries no arc scores where the component looks for them."""


class SentenceMismatchError(MindRootError):
    """The arc scores of a Doc and its tokens or sentence boundaries do not agree."""


class LabelsError(MindRootError):
    """The arc labels do not fit the arc scores, or a label is missing."""


class ScoreFileError(MindRootError):
    """A score file lacks an array, or its arrays do not fit together."""


class MissingSentencesError(MindRootError):
    """A Doc has no sentence boundaries where they are needed."""


class SentenceTooLongError(MindRootError):
    """A sentence has more tokens than `max_length` of the scorer allows."""


class TrainingError(MindRootError):
    """The scorer can't be trained on what it is given."""


class CorpusError(MindRootError):
    """An annotated corpus can't be read, or there is nothing in it."""


class ConlluError(MindRootError):
    """A CoNLL-U file is not one, or its trees are not what is needed. Each line of the message names the file and the line."""


class VoteError(MindRootError):
    """The parses to vote over do not fit together."""
