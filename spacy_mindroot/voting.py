"""Combine several parses of the same tokens into one tree (Sagae and Lavie 2006).

Every parse votes for its arcs, and the single-rooted tree with the most votes wins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .decoding import Heads, decode
from .errors import MindRootError, NotEnoughMemoryError, VoteError
from .labels import NO_LABEL, UD_ROOT, is_root_label
from .scores import to_list, to_texts
from .trees import is_tree, to_heads

__all__ = ["arc_votes", "to_labels", "to_votes", "vote_heads", "vote_labels"]

_TIE = 1e-9  # the share of the total weight that all arcs of the first parse together get in addition to their votes
_MOST_TOKENS = 16384  # 2 GiB of votes

AnyHeads = Sequence[int] | npt.NDArray[np.integer[Any]]


def arc_votes(parses: Sequence[AnyHeads], weights: Sequence[float] | None = None) -> npt.NDArray[np.float64]:
    """Return the votes for each arc, as arc scores.

    Parameters
    ----------
    parses : sequence of array-likes of ints, (n,)
        Heads of the same tokens by each parser, or the k best trees of one parser; 0 = ROOT, j = token j-1. A head that
        is missing, out of range or the token itself is no vote.
    weights : sequence of floats, optional
        Weight of each parse: positive and finite. Only their ratios matter. By default all weigh the same.

    Returns
    -------
    np.ndarray of float64, (n, n+1)
        `[dependent, head]`: the share of the weight that is for the arc, between 0 and 1.

    Raises
    ------
    MindRootError
        If there are no parses, if they differ in length, or if the weights do not fit them.
    HeadsError
        If a parse is not a 1-D array of ints.
    NotEnoughMemoryError
        If the sentence has more than 16,384 tokens.
    """
    heads, shares = to_votes(parses, weights)
    n = len(heads[0])
    if n > _MOST_TOKENS:
        raise NotEnoughMemoryError(
            f"the parses disagree on a sentence of {n:,} tokens, whose votes take {8 * n * (n + 1):,} bytes. "
            f"The limit is {_MOST_TOKENS:,} tokens: split it into sentences first."
        )
    votes = np.zeros((n, n + 1))
    for parse, share in zip(heads, shares, strict=True):
        votes[np.flatnonzero(parse >= 0), parse[parse >= 0]] += share
    return votes


def vote_heads(parses: Sequence[AnyHeads], weights: Sequence[float] | None = None) -> Heads:
    """Return the single-rooted tree whose arcs have the most votes.

    Parameters
    ----------
    parses, weights
        As for `arc_votes`.

    Returns
    -------
    np.ndarray of int32, (n,)
        0 = ROOT. Among trees with equally many votes, one that shares the most arcs with the first parse: put the
        parser that you trust most first.

    Raises
    ------
    HeadsError, NotEnoughMemoryError, MindRootError
        As `arc_votes`.

    Examples
    --------
    >>> vote_heads([[2, 0, 2], [0, 1, 2], [2, 0, 1]])
    array([2, 0, 2], dtype=int32)
    """
    heads, shares = to_votes(parses, weights)
    first = heads[0]
    n = len(first)
    if all(np.array_equal(parse, first) for parse in heads[1:]) and is_tree(first, single_root=True):
        return first.astype(np.int32)
    majority = np.zeros(n, dtype=bool)
    for parse in heads:
        for_it = sum(share * (other == parse) for other, share in zip(heads, shares, strict=True))
        wins = (for_it > 0.5 + _TIE) & (parse >= 0) & ~majority
        first = np.where(wins, parse, first)
        majority |= wins
    if majority.all() and is_tree(first, single_root=True):  # the best head of every token, without any tie
        return first.astype(np.int32)
    votes = arc_votes(heads, shares)
    own = heads[0] >= 0
    votes[np.flatnonzero(own), heads[0][own]] += _TIE / n
    return decode(votes)


def vote_labels(
    heads: AnyHeads,
    parses: Sequence[AnyHeads],
    labels: Sequence[Sequence[str]],
    weights: Sequence[float] | None = None,
    *,
    root_label: str = UD_ROOT,
) -> list[str | None]:
    """Return the label of each arc of a tree, by vote among the parses that have the arc; None where none has a label.

    Parses and weights are as for `arc_votes`, with one label per token of each parse; "_" or "" where there is none.
    Among labels with equal votes, the one of the earliest parse is taken. The root's label counts on arcs from ROOT
    alone, and no other label counts there. If `root_label` is not `root` in any spelling, the labels are of another
    scheme, and all count on all arcs.

    Raise VoteError as `arc_votes`, and if labels or `heads` are not one per token.
    """
    own, shares = to_votes(parses, weights)
    tree = to_heads(heads).tolist()
    if len(tree) != len(own[0]):
        raise VoteError(f"the parses have {len(own[0])} tokens, but the tree is for {len(tree)}.")
    labels = to_labels(labels, own, VoteError)
    is_ud = is_root_label(root_label)
    chosen: list[str | None] = []
    for i, head in enumerate(tree):
        votes: dict[str, float] = {}
        for parse, names, share in zip(own, labels, shares, strict=True):
            name = names[i]
            if parse[i] == head and name not in NO_LABEL and (not is_ud or is_root_label(name) == (head == 0)):
                votes[name] = votes.get(name, 0.0) + share
        most = max(votes.values(), default=0.0)
        chosen.append(next((name for name, count in votes.items() if count > most - _TIE), None))
    return chosen


def to_labels(labels: object, parses: Sequence[AnyHeads], error: type[MindRootError]) -> list[list[str]]:
    """Return the labels of each parse, "" for None. Raise `error` if they are not one per token of each parse."""
    lists = to_list(labels, "labels", error)
    if len(lists) != len(parses):
        raise error(f"{len(parses)} parses need as many lists of labels; found {len(lists)}.")
    return [to_texts(names, f"labels {k}", len(parses[0]), error) for k, names in enumerate(lists, 1)]


def to_votes(
    parses: Sequence[AnyHeads], weights: Sequence[float] | None
) -> tuple[list[npt.NDArray[np.int64]], list[float]]:
    """Return the parses as arrays, with -1 where there is no vote, and each one's share of the total weight."""
    heads = [to_heads(parse) for parse in to_list(parses, "parses", VoteError)]
    if not heads:
        raise VoteError("there are no parses to vote on.")
    n = len(heads[0])
    for number, parse in enumerate(heads, 1):
        if len(parse) != n:
            raise VoteError(f"parse 1 has {n} tokens, but parse {number} has {len(parse)}. All must have the same.")
    tokens = np.arange(1, n + 1)
    valid = [np.where((parse < 0) | (parse > n) | (parse == tokens), -1, parse) for parse in heads]
    return valid, _to_shares(weights, len(heads))


def _to_shares(weights: Sequence[float] | None, parses: int) -> list[float]:
    """Return the share of the total weight that each parse has. Raise VoteError if weights don't fit the parses."""
    if weights is None:
        return [1 / parses] * parses
    try:
        numbers = [float(weight) for weight in weights]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != parses or not all(0 < number < math.inf for number in numbers):
        raise VoteError(f"{parses} parses need as many weights, positive and finite; found {str(weights)[:100]}.")
    largest = max(numbers)  # the sum of very large weights would overflow
    scaled = [number / largest for number in numbers]
    total = math.fsum(scaled)
    return [number / total for number in scaled]
