"""Turns any heads, of another parser or an annotator, into the nearest single-rooted tree, and relabels it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .constraints import Arc, keep_heads, read_constraints
from .decoding import Heads, decode
from .errors import ConstraintsError, HeadsError, LabelsError, MindRootError, ScoresShapeError
from .labels import NO_LABEL, UD_POS, UD_ROOT, is_root_label
from .scores import FloatArray, Layout, is_number, shown, to_int_array, to_list, to_root_column, to_texts
from .trees import MISSING, find_cycles, is_tree, shown_cycle, to_heads, tree_weight

__all__ = [
    "DEMOTED_LABEL",
    "KEEP",
    "Change",
    "Repair",
    "Why",
    "check_keep",
    "looks_like_punctuation",
    "looks_zero_based",
    "repair_heads",
    "repair_labels",
]

DEMOTED_LABEL = "parataxis"
KEEP = math.inf

# Tags of Universal Dependencies: words that often head a clause or a phrase.
_CONTENT = frozenset({"VERB", "NOUN", "PROPN", "ADJ", "PRON", "NUM", "ADV", "INTJ"})
_KNOWN_POS = UD_POS - {"X"}  # tags of other tagsets say nothing here

Why = Literal[
    "no head", "out of range", "self loop", "cycle", "extra root", "no root", "required", "better under the scores"
]


class Change(NamedTuple):
    """A head that a repair has changed.

    Attributes
    ----------
    dependent, before, head : int
        The token, from 1, and its head before and after the repair; 0 = ROOT, -1 = missing.
    why : str
        What was wrong: "no head" (it was missing), "out of range", "self loop", "cycle", "extra root", "no root" (the
        token has become the root because there was none), "required", or "better under the scores".
    """

    dependent: int
    before: int
    head: int
    why: Why


class Repair(NamedTuple):
    """A repaired sentence.

    Attributes
    ----------
    heads : np.ndarray of int32, (n,)
        The tree; 0 = ROOT, j = token j-1.
    changes : list of Change
        The heads that have changed, in order of the tokens.
    cycles : list of lists of int
        The cycles before the repair, each as its tokens, from 1. Each token depends on the next, the last on the first.
    """

    heads: Heads
    changes: list[Change]
    cycles: list[list[int]]


def repair_heads(
    heads: Sequence[int | None] | npt.NDArray[np.integer],
    *,
    scores: npt.ArrayLike | None = None,
    keep: float = KEEP,
    layout: Layout = "root_column",
    required: Iterable[Arc] = (),
    labels: Sequence[str | None] | None = None,
    pos: Sequence[str | None] | None = None,
    is_punct: Sequence[bool] | None = None,
) -> Repair:
    """Return the single-rooted tree nearest to `heads`: of all such trees, it shares the most arcs with them.

    Heads that form such a tree already are returned unchanged, whatever the scores.

    Parameters
    ----------
    heads : array-like of ints, (n,)
        0 = ROOT, j = token j-1. Anything goes: several roots, none, cycles, self loops, heads out of range. None or -1
        is a missing head.
    scores : array-like, (n, n+1), optional
        Arc scores as for `decode`, such as the log-probabilities of a scorer, or `voting.arc_votes(trees, weights)` for
        the k best trees and their weights. If the heads need repair, the result is the tree with the greatest sum of
        its arc scores and of `keep` for each of its arcs that is given.
    keep : float
        What a given arc is worth, in units of `scores`. By default it is infinite: the result is one of the nearest
        trees, the best of them under the scores, and a given arc changes only if no nearest tree has it. 0: the result
        is a best tree under the scores alone, and given arcs only settle ties. It matters only with scores.
    layout : str
        The layout of `scores`. See `decode`.
    required : pairs of ints
        Arcs (dependent, head) that the result must have, as for `decode`.
    labels, pos : sequences of str, optional
        Labels of the arcs, and parts of speech (UPOS), to choose between trees that are equally near. None, "_" or ""
        where unknown; so is a part of speech that is not one of Universal Dependencies.
    is_punct : sequence of bools, optional
        Which tokens are punctuation. By default, those whose `pos` is PUNCT.

    Returns
    -------
    Repair
        Heads, changes and cycles.

    Raises
    ------
    HeadsError
        If all heads are missing and there are no scores, if lengths differ, or if `keep` is negative or no number.
    ConstraintsError
        If `required` contradicts itself or names arcs that do not exist.
    DecodingError
        If the scores and `required` allow no tree.

    Notes
    -----
    O(n) without scores. A head has to change if it is missing, out of range, or the token itself; so do one arc of each
    cycle, and all roots but one. No other head has to, so this is the smallest number of changes. Ties are broken as
    follows:

    1. The root is one of the present roots. If there are none, it is a token whose head has to change, or one in a
       cycle.
    2. Among these, the one of the highest rank is taken: not punctuation; labelled `root`; a verb; a noun, adjective or
       other content word. Among several roots of that rank, the one with the most tokens under it is taken; then the
       first. In each cycle, the arc of the first token of the highest rank is removed.
    3. Each token whose head has changed attaches to the root.

    With scores, O(n^2): the tree is decoded from the scores and a bonus on given arcs. If `keep` is infinite, the bonus
    is twice the weight that the best tree of all has in advance of a nearest tree. So it is large enough, and takes no
    more digits from the scores than it must. An arc whose score is -inf is not in the result even if it is given.

    Examples
    --------
    >>> repair_heads([2, 0, 2, 0], pos=["PRON", "VERB", "NOUN", "PUNCT"]).heads
    array([2, 0, 2, 2], dtype=int32)

    Two trees have one of the two roots. The scores choose between them:

    >>> repair_heads([0, 0], scores=[[-1, 0, -3], [-1, -2, 0]]).heads
    array([0, 1], dtype=int32)
    """
    check_keep(keep)
    given = _to_given(heads, "heads")
    n = len(given)
    labels = None if labels is None else to_texts(labels, "labels", n, HeadsError)
    pos = None if pos is None else to_texts(pos, "pos", n, HeadsError)
    punct = _punctuation(n, pos, is_punct, HeadsError)
    matrix = None if scores is None else to_root_column(scores, layout)
    if matrix is not None and len(matrix) != n:
        raise ScoresShapeError(f"there are {n} heads, but scores for {len(matrix)} tokens.")
    locked = _to_locked(required, n)
    is_locked = locked != MISSING
    wanted = np.where(is_locked, locked, given)
    if is_tree(wanted, single_root=True):
        return Repair(wanted.astype(np.int32), _changes(given, wanted, {}), [])

    reasons, cycles = _faults(given)
    if matrix is not None:
        best = _best(keep_heads(matrix, locked), given, keep)
        for token in np.flatnonzero((best != given) & ~is_locked).tolist():
            reasons.setdefault(token, "extra root" if given[token] == 0 else "better under the scores")
        return Repair(best, _changes(given, best, reasons), cycles)
    if n and (wanted == MISSING).all():
        raise HeadsError("all heads are missing, and there are no scores to find them. Parse the sentence first.")
    ranks = _ranks(labels, pos, punct)
    broken = cycles if not is_locked.any() else _faults(wanted)[1]
    repaired = _nearest(wanted, is_locked, ranks, broken)
    return Repair(repaired.astype(np.int32), _changes(given, repaired, reasons), cycles)


def looks_zero_based(heads: Sequence[int]) -> bool:
    """Whether heads look 0-based (the root is its own head) rather than CoNLL-U.

    True if no head is 0 and they form a single-rooted tree when read as 0-based, unless they also form one when they
    count from 1 and only the root is its own head. It can be chance in a short sentence, but not in most of a file.
    """
    if min(heads, default=0) < 1:
        return False
    from_zero, from_one = (
        is_tree([0 if head == token else head + 1 - first for token, head in enumerate(heads, first)], single_root=True)
        for first in (0, 1)
    )
    return from_zero and not from_one


def repair_labels(
    labels: Sequence[str],
    before: Sequence[int],
    heads: Sequence[int],
    *,
    pos: Sequence[str | None] | None = None,
    is_punct: Sequence[bool] | None = None,
    root_label: str = UD_ROOT,
    demoted_label: str | None = None,
) -> list[str]:
    """Return the labels of a repaired sentence: the root's label on the root and nowhere else. All others stay.

    Labels are "" or "_" where there is none; `before` and `heads` are those before and after the repair. Tokens with
    `is_punct`, by default those whose `pos` is PUNCT, get `punct` if they need a new label; other tokens that were not
    roots get `dep`. A token that was a root and is no longer one gets `demoted_label` if its label says nothing else:
    by default `parataxis`, or `dep` if its part of speech is unknown (X, or a tag that is not one of Universal
    Dependencies).

    A new root gets `root_label`. A root that is labelled `root` in any spelling keeps its label. If `root_label` itself
    is not `root` in any spelling, the labels are of another scheme: all labels stay but those of new roots, and of
    roots without a label.

    Raise LabelsError if lengths differ.
    """
    heads = to_heads(heads).tolist()
    n = len(heads)
    labels = to_texts(labels, "labels", n, LabelsError)
    before = to_heads(before).tolist()
    if len(before) != n:
        raise LabelsError(f"there are {n} tokens, but before is for {len(before)}.")
    pos = None if pos is None else to_texts(pos, "pos", n, LabelsError)
    punct = _punctuation(n, pos, is_punct, LabelsError)
    is_ud = is_root_label(root_label)
    repaired = []
    for i, (label, head) in enumerate(zip(labels, heads, strict=True)):
        if is_ud:
            stays = label not in NO_LABEL and is_root_label(label) == (head == 0)
        else:
            stays = head != 0 or (label not in NO_LABEL and before[i] == 0)
        if stays:
            repaired.append(label)
        elif head == 0:
            repaired.append(root_label)
        elif punct[i]:
            repaired.append("punct")
        elif before[i] == 0:
            known = pos is not None and pos[i] in _KNOWN_POS
            repaired.append(demoted_label or (DEMOTED_LABEL if known else "dep"))
        else:
            repaired.append("dep")
    return repaired


def looks_like_punctuation(form: str, pos: str | None = None) -> bool:
    """Whether a token is punctuation: by its part of speech if that is one of UD's, otherwise by its characters."""
    if pos in _KNOWN_POS:
        return pos == "PUNCT"
    return bool(form) and all(unicodedata.category(character).startswith("P") for character in form)


def check_keep(keep: float) -> None:
    """Raise HeadsError unless `keep` is a number that is not negative."""
    if not is_number(keep) or isinstance(keep, bool) or not keep >= 0:
        raise HeadsError(f"keep is {shown(keep)}; it is what a given arc is worth: a number from 0 to infinity.")


def _best(scores: FloatArray, given: npt.NDArray[np.int64], keep: float) -> Heads:
    """Return the best tree of `scores`, (n, n+1), and `keep` for each given arc; see `repair_heads`."""
    n = len(given)
    matrix = scores.astype(np.float64)
    np.fill_diagonal(matrix[:, 1:], -np.inf)  # self arcs are never read, so they may be anything
    finite = np.isfinite(matrix)
    largest = float(np.abs(matrix[finite]).max(initial=0)) or 1.0
    if max(largest, keep if keep < math.inf else 0) > 2.0**900:  # sums would overflow
        matrix, largest, keep = matrix * 2.0**-100, largest * 2.0**-100, keep * 2.0**-100
    own = np.flatnonzero((given >= 0) & (given <= n))
    arcs = (own, given[own])

    def with_bonus(bonus: float) -> Heads:
        favoured = matrix.copy()
        favoured[arcs] += bonus
        return decode(favoured)

    if 0 < keep < math.inf:
        return with_bonus(keep)
    best = decode(matrix)
    weight = tree_weight(matrix, best)
    least = np.where(finite, matrix, np.inf).min(axis=1)
    spread = largest + float((matrix.max(axis=1) - least).sum())  # no two trees are farther apart
    if keep == 0:
        bonus = 1e-9 * spread / n
        while bonus:
            tied = with_bonus(bonus)
            behind = weight - tree_weight(matrix, tied)
            if not behind > 0:
                return tied
            bonus = min(bonus, behind) / (2 * n)
        return best
    nearest, kept, bonus = best, -1, 2 * spread
    while True:
        found = with_bonus(bonus)
        own_arcs = int(np.count_nonzero(found == given))
        if own_arcs < kept:  # the bonus is lost in rounding
            return nearest
        nearest, kept = found, own_arcs
        ahead = 2 * (weight - tree_weight(matrix, nearest))
        if not 0 < ahead < bonus / 2:
            return nearest
        bonus = ahead  # finite masks make the first one far too large


def _nearest(
    heads: npt.NDArray[np.int64], is_locked: npt.NDArray[np.bool_], ranks: Sequence[int], cycles: list[list[int]]
) -> npt.NDArray[np.int64]:
    """Return the nearest tree, for `repair_heads`. Locked heads are in range, have at most one root, and no cycle.

    cycles (list[list[int]]): The cycles of more than one token.
    """
    n = len(heads)
    # Tokens whose head has to change.
    free = {token for token, head in enumerate(heads.tolist(), 1) if head < 0 or head > n or head == token}
    cycles = [[token for token in cycle if not is_locked[token - 1]] for cycle in cycles]
    roots = (np.flatnonzero(heads == 0) + 1).tolist()

    def first(tokens: list[int]) -> int:
        return min(tokens, key=lambda token: (-ranks[token - 1], token))

    locked_roots = [token for token in roots if is_locked[token - 1]]
    if len(roots) > 1 and not locked_roots:
        sizes = _subtree_sizes(heads)
        root = min(roots, key=lambda token: (-ranks[token - 1], -sizes[token - 1], token))
    else:
        root = first(locked_roots or roots or [*free, *(token for cycle in cycles for token in cycle)])
    changed = free | set(roots) | {first(cycle) for cycle in cycles}
    repaired = heads.copy()
    repaired[[token - 1 for token in changed]] = root
    repaired[root - 1] = 0
    return repaired


def _subtree_sizes(heads: npt.NDArray[np.int64]) -> list[int]:
    """Return the number of tokens under each token, itself included. In a cycle the numbers mean nothing."""
    n = len(heads)
    sizes, waiting = [1] * n, [0] * (n + 1)
    inside = [head if 1 <= head <= n else 0 for head in heads.tolist()]
    for head in inside:
        waiting[head] += 1
    leaves = [token for token in range(1, n + 1) if not waiting[token]]
    for token in leaves:  # the list grows inside the loop
        head = inside[token - 1]
        if head:
            sizes[head - 1] += sizes[token - 1]
            waiting[head] -= 1
            if not waiting[head]:
                leaves.append(head)
    return sizes


def _faults(heads: npt.NDArray[np.int64]) -> tuple[dict[int, Why], list[list[int]]]:
    """Return the fault of each head at fault, by index, and the cycles. Extra roots are not known yet."""
    n = len(heads)
    cycles = find_cycles(heads.tolist())
    reasons: dict[int, Why] = {}
    for i, head in enumerate(heads.tolist()):
        if head == MISSING:
            reasons[i] = "no head"
        elif not 0 <= head <= n:
            reasons[i] = "out of range"
    for cycle in cycles:
        for token in cycle:
            reasons[token - 1] = "cycle" if len(cycle) > 1 else "self loop"
    return reasons, [cycle for cycle in cycles if len(cycle) > 1]


def _changes(given: npt.NDArray[np.int64], repaired: npt.NDArray[np.integer], reasons: dict[int, Why]) -> list[Change]:
    changes = []
    for i in np.flatnonzero(given != repaired).tolist():
        before, head = int(given[i]), int(repaired[i])
        why = reasons.get(i, "extra root" if before == 0 else "required")
        if head == 0 and not (given == 0).any():
            why = "no root"
        changes.append(Change(i + 1, before, head, why))
    return changes


def _ranks(labels: Sequence[str] | None, pos: Sequence[str] | None, punct: Sequence[bool]) -> list[int]:
    """Return the rank of each token as a candidate for the root."""
    ranks = []
    for i, is_punct in enumerate(punct):
        rank = 0 if is_punct else 8
        if labels is not None and is_root_label(labels[i]):
            rank += 4
        if pos is not None:
            rank += 2 * (pos[i] == "VERB") + (pos[i] in _CONTENT)
        ranks.append(rank)
    return ranks


def _punctuation(n: int, pos: Sequence[str] | None, is_punct: object, error: type[MindRootError]) -> list[bool]:
    """Return which tokens are punctuation. Raise `error` if `is_punct` is given, and not one flag per token."""
    if is_punct is None:
        return [False] * n if pos is None else [tag == "PUNCT" for tag in pos]
    flags = to_list(is_punct, "is_punct", error)
    if len(flags) != n:
        raise error(f"there are {n} tokens, but is_punct is for {len(flags)}.")
    return flags


def _to_locked(required: Iterable[Arc], n: int) -> npt.NDArray[np.int64]:
    """Return the head that each token must have; MISSING where it is free."""
    locked = np.full(n, MISSING, dtype=np.int64)
    for dependent, head in read_constraints(required, (), n).required:
        before = int(locked[dependent - 1])
        if before not in (MISSING, head):
            raise ConstraintsError(f"dependent {dependent} is required to have two heads, {before} and {head}.")
        locked[dependent - 1] = head
    roots = (np.flatnonzero(locked == 0) + 1).tolist()
    if len(roots) > 1:
        shown = ", ".join(map(str, roots))
        raise ConstraintsError(f"the required arcs have {len(roots)} roots: {shown}. A tree has one.")
    for cycle in find_cycles(locked.tolist()):
        raise ConstraintsError(f"the required arcs have a cycle: {shown_cycle(cycle)}.")
    return locked


def _to_given(heads: Sequence[int | None] | npt.NDArray[np.integer], name: str) -> npt.NDArray[np.int64]:
    if isinstance(heads, np.ndarray):
        array = to_int_array(heads)
    else:
        array = to_int_array([MISSING if head is None else head for head in to_list(heads, name, HeadsError)])
    if array is None:
        raise HeadsError(f"{name} must be a 1-D array of ints, None where one is missing; found {str(heads)[:100]}.")
    return array
