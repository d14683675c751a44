"""Several parses of the same tokens to one tree (Sagae and Lavie 2006): every parse votes for its arcs, and the best tree wins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .decoding import Heads, decode
from .errors import NotEnoughMemoryError, VoteError
from .labels import is_root_label
from .trees import is_tree, to_heads

_TIE = 1e-9  # of the total weight: what all arcs of the first parse together count beyond their votes
_MOST_TOKENS = 16384  # 2 GiB of votes

AnyHeads = Sequence[int] | npt.NDArray[np.integer[Any]]


def arc_votes(parses: Sequence[AnyHeads], weights: Sequence[float] | None = None) -> npt.NDArray[np.float64]:
    """The votes for each arc, as arc scores.

    parses (Sequence[ArrayLike]): Heads of the same tokens by each parser, or the n best trees of one; (n,) each, 0 = ROOT. A head that is
        missing, out of range or the token itself is no vote.
    weights (Optional[Sequence[float]]): What the vote of each parse counts: positive and finite. Without it, all count the same.
    RETURNS (np.ndarray): (n, n+1), `[dependent, head]`: the share of the weight that is for the arc, 0 if nobody is.
    RAISES (VoteError): If the parses differ in length, or the weights are not one for each.
    """
    heads, shares = _to_votes(parses, weights)
    n = len(heads[0])
    if n > _MOST_TOKENS:
        raise NotEnoughMemoryError(
            f"the parses disagree on a sentence of {n:,} tokens, whose votes take {8 * n * (n + 1):,} bytes; up to {_MOST_TOKENS:,} tokens "
            "are voted on. Split it into sentences first."
        )
    votes = np.zeros((n, n + 1))
    for parse, share in zip(heads, shares, strict=True):
        votes[np.flatnonzero(parse >= 0), parse[parse >= 0]] += share
    return votes


def vote_heads(parses: Sequence[AnyHeads], weights: Sequence[float] | None = None) -> Heads:
    """The tree with one root whose arcs have the most votes.

    parses, weights: See `arc_votes`.
    RETURNS (np.ndarray): (n,) int32, 0 = ROOT. Of trees with equally many votes, the one that shares the most arcs with the first
        parse, so put the parser that you trust most first.
    RAISES (VoteError): As `arc_votes`.
    """
    heads, shares = _to_votes(parses, weights)
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
    if majority.all() and is_tree(
        first, single_root=True
    ):  # no matrix is needed: every token's best head, beyond any tie
        return first.astype(np.int32)
    votes = arc_votes(parses, weights)
    own = heads[0] >= 0
    votes[np.flatnonzero(own), heads[0][own]] += _TIE / n
    return decode(votes)


def vote_labels(
    heads: AnyHeads,
    parses: Sequence[AnyHeads],
    labels: Sequence[Sequence[str]],
    weights: Sequence[float] | None = None,
) -> list[str | None]:
    """The label of each arc of a tree, by vote among the parses that have the arc.

    heads (ArrayLike): The tree, (n,).
    parses, weights: See `arc_votes`.
    labels (Sequence[Sequence[str]]): The labels of each parse; "_" or "" is none. ROOT's label counts on arcs from ROOT, and no other does.
    RETURNS (list[Optional[str]]): None where nobody has a label for the arc. Of labels with equal votes, that of the earliest parse.
    """
    own, shares = _to_votes(parses, weights)
    chosen: list[str | None] = []
    for i, head in enumerate(to_heads(heads).tolist()):
        votes: dict[str, float] = {}
        for parse, names, share in zip(own, labels, shares, strict=True):
            name = names[i]
            if parse[i] == head and name not in ("", "_") and is_root_label(name) == (head == 0):
                votes[name] = votes.get(name, 0.0) + share
        most = max(votes.values(), default=0.0)
        chosen.append(next((name for name, count in votes.items() if count > most - _TIE), None))
    return chosen


def _to_votes(
    parses: Sequence[AnyHeads], weights: Sequence[float] | None
) -> tuple[list[npt.NDArray[np.int64]], list[float]]:
    """The parses as arrays, with -1 where there is no vote, and the shares of their weights."""
    if not len(parses):
        raise VoteError("there are no parses to vote.")
    heads = [to_heads(parse) for parse in parses]
    n = len(heads[0])
    for number, parse in enumerate(heads, 1):
        if len(parse) != n:
            raise VoteError(f"parse 1 is of {n} tokens, parse {number} of {len(parse)}. All must be of the same.")
    weights = [1.0] * len(heads) if weights is None else [float(weight) for weight in weights]
    if len(weights) != len(heads) or not all(0 < weight < math.inf for weight in weights):
        raise VoteError(f"{len(heads)} parses need as many weights, positive and finite; found {weights}.")
    total = math.fsum(weights)
    tokens = np.arange(1, n + 1)
    valid = [np.where((parse < 0) | (parse > n) | (parse == tokens), -1, parse) for parse in heads]
    return valid, [weight / total for weight in weights]
