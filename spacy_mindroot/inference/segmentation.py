"""Sentences and trees in one search: the best division of a text into sentences with one single-rooted tree each."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..core import _inference
from ..core.fault import Fault
from ..decoding import Heads
from ..errors import NoTreeError, ScoreRangeError, ScoresShapeError, ScoresTypeError
from ..faults import decoding_error
from ..scores import FloatArray, to_count, to_floats, to_root_column
from .matrix_tree import is_large

__all__ = ["Segments", "decode_segments"]

_LARGEST_EVIDENCE = 2.0**1000


class Segments(NamedTuple):
    """A text that is divided into sentences, with the best tree of each.

    Attributes
    ----------
    lengths : ndarray of int32, (sentences,)
        Number of tokens of each sentence.
    heads : ndarray of int32, (n,)
        Head of each token within its sentence: 0 = ROOT, j = token j of the sentence.
    score : float
        The score of the division.
    gap : float
        An upper bound on how much better the best of all divisions is. 0 unless a `threshold` has excluded places.
    """

    lengths: npt.NDArray[np.int32]
    heads: Heads
    score: float
    gap: float


def decode_segments(
    scores: npt.ArrayLike,
    starts: npt.ArrayLike,
    *,
    max_length: int = 200,
    partition: bool = False,
    threshold: float = -math.inf,
    band: int | None = None,
) -> Segments:
    """Return the best division of a text into sentences, together with the best single-rooted tree of each sentence.

    The score of a division is the sum over its sentences of the weight of the best tree, plus the evidence that a
    sentence starts at each place where one does. This function is experimental: it may change in any version.

    Parameters
    ----------
    scores : array-like, (n, n+1), or (n, 2 * band + 2) if `band` is given
        Arc scores of a text of n tokens: `scores[i, h]` for head h of token i, column 0 is ROOT, column j+1 is token j
        of the text. They must be comparable across divisions, such as log-probabilities over all tokens of the text:
        normalized within a sentence, every sentence looks good. Scores of arcs that no sentence can have, because they
        are too long or cross a certain start, are never read.
    starts : array-like, (n,)
        Evidence that a sentence starts at each token, such as log(p / (1 - p)), on the scale of the scores. A constant
        added to it is the price of a sentence. -inf: certainly not; inf: certainly, which adds nothing to the score. A
        sentence always starts at the first token, whatever its evidence.
    max_length : int
        Number of tokens that a sentence may have, at least 1.
    partition : bool
        Use the logarithm of the partition function of a sentence, the sum over all its trees, instead of the weight of
        its best tree. It takes longer. The heads are those of the best trees either way.
    threshold : float
        No sentence starts at a token with less evidence. This saves time; the result has a bound on what it may have
        cost. If there would be `max_length` tokens or more without a place to start, all places among them count.
    band : int, optional
        If given, `scores` hold only the heads at a distance of at most `band`, which must be `max_length - 1` or more:
        column 1 + band + d of row i is token i + d. Memory then grows with n, not with its square.

    Returns
    -------
    Segments

    Raises
    ------
    InvalidScoreError
        If a score is NaN or +inf.
    NoTreeError
        If there is no division, because of -inf among scores or starts.
    ScoreRangeError
        If there are scores beyond 1e301.
    CountError, ScoresShapeError, ScoresTypeError
        If `max_length`, or the shape or the type of an array, is not as above.

    Notes
    -----
    A dynamic program over the places where a sentence may end. It is exact: sentences are decoded in the order of a
    bound on their scores, which takes constant time, until none that is left can be better. O(n L log L) time for
    sentences of at most L tokens, plus O(m^2) for each sentence of m tokens that is decoded, or O(m^3) with
    `partition`. Of equally good divisions, the one with the longest last sentence is returned, and so on backwards.

    Examples
    --------
    Four tokens with certain arcs, 2 to 1 and 4 to 3. Two of them may be roots, and then there are two sentences:

    >>> import numpy as np
    >>> from spacy_mindroot.inference import decode_segments
    >>> scores = np.log([[0.1, 0, 0.8, 0, 0.1], [0.7, 0.1, 0, 0.1, 0.1], [0.1, 0, 0, 0, 0.9], [0.6, 0, 0.3, 0.1, 0]]
    ...                 + np.float64(1e-9))
    >>> segments = decode_segments(scores, [0, -3, 1, -3])
    >>> segments.lengths, segments.heads
    (array([2, 2], dtype=int32), array([2, 0, 2, 0], dtype=int32))

    Without the evidence for a second sentence, its root attaches to the first:

    >>> decode_segments(scores, [0, -3, -1, -3]).heads
    array([2, 0, 4, 2], dtype=int32)
    """
    length = to_count(max_length, "max_length", what="tokens")
    matrix = np.ascontiguousarray(to_root_column(scores) if band is None else _read_band(scores, band, length))
    n = len(matrix)
    evidence = _read_starts(starts, n)
    limit = float(threshold)
    if math.isnan(limit):
        raise ScoresTypeError("the threshold is NaN. Pass a number, or -inf for none.")
    if n == 0:
        return Segments(np.empty(0, np.int32), np.empty(0, np.int32), 0.0, 0.0)
    if is_large(matrix) or np.max(np.abs(evidence), initial=0, where=np.isfinite(evidence)) > _LARGEST_EVIDENCE:
        raise ScoreRangeError(
            f"text of {n} tokens: there are scores beyond 1e301, whose sums may overflow. Use smaller numbers, or -inf "
            "for arcs and starts that are not allowed."
        )
    found = _inference.segment(matrix, evidence, min(length, n), partition, limit, -1 if band is None else band)
    if isinstance(found, Fault):
        if band is not None and found.head > 0:  # the message names the token, the matrix has it in another column
            matrix = _unfold(matrix, band, found.dependent - 1)
        raise decoding_error(found, matrix, where=f"text of {n} tokens")
    if found is None:
        raise NoTreeError(
            f"text of {n} tokens: it can't be divided into sentences of at most {length} tokens that have a tree with "
            "one root each. Allow more arcs or starts, which are -inf now, or longer sentences."
        )
    return Segments(found.lengths, found.heads, found.value, found.loss)


def _read_band(scores: npt.ArrayLike, band: int, max_length: int) -> FloatArray:
    """Return the scores of a band as an array (n, 2 * band + 2)."""
    to_count(band, "band", what="tokens", least=0)
    array = to_floats(scores)
    if array.ndim != 2 or array.shape[1] != 2 * band + 2:
        raise ScoresShapeError(
            f"arc scores with band = {band} must have shape (n, {2 * band + 2}), ROOT and {2 * band + 1} tokens, but "
            f"their shape is {array.shape}."
        )
    if band < min(max_length, len(array)) - 1:
        raise ScoresShapeError(
            f"with band = {band}, sentences can have at most {band + 1} tokens, but max_length is {max_length}. Pass "
            "more scores for each token, or a smaller max_length."
        )
    return array


def _read_starts(starts: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
    try:
        evidence = np.ascontiguousarray(starts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ScoresTypeError(f"the evidence for starts can't be read as an array of numbers ({error}).") from error
    if evidence.shape != (n,):
        raise ScoresShapeError(
            f"there must be one number per token as evidence that a sentence starts there, so shape ({n},), but it is "
            f"{evidence.shape}."
        )
    if np.isnan(evidence).any():
        raise ScoresTypeError(
            f"the evidence that a sentence starts at token {int(np.isnan(evidence).argmax()) + 1} is NaN. It must be a "
            "number, or -inf for certainly not, or inf for certainly."
        )
    return evidence


def _unfold(matrix: FloatArray, band: int, dependent: int) -> FloatArray:
    """Return a matrix (n, n+1) that has the scores of one dependent, taken from a band."""
    n = len(matrix)
    whole: FloatArray = np.zeros((n, n + 1), dtype=matrix.dtype)
    for head in range(max(0, dependent - band), min(n, dependent + band + 1)):
        whole[dependent, head + 1] = matrix[dependent, 1 + band + head - dependent]
    return whole
