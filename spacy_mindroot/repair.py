"""Heads of another parser, or of an annotator, to the nearest tree with one root; and what its labels are."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .constraints import Arc, read_constraints
from .decoding import Heads, decode
from .errors import ConstraintsError, HeadsError, ScoresShapeError
from .labels import is_root_label
from .scores import Layout, to_int_array, to_root_column
from .trees import MISSING, find_cycles, is_tree, shown_cycle

DEMOTED_LABEL = "parataxis"

# Tags of Universal Dependencies: words that head a clause or a phrase more often than they hang on another word in one.
_CONTENT = frozenset({"VERB", "NOUN", "PROPN", "ADJ", "PRON", "NUM", "ADV", "INTJ"})
_UNKNOWN_TAGS = frozenset({None, "", "_", "X"})

Why = Literal[
    "no head", "out of range", "self loop", "cycle", "extra root", "no root", "required", "better under the scores"
]


class Change(NamedTuple):
    """A head that a repair has changed.

    dependent (int): From 1.
    before, head (int): The head that it had, and the one it has. 0 = ROOT.
    why (str): What was wrong: "no head" (it was missing), "out of range", "self loop", "cycle", "extra root", "no root" (it has become
        the root, since there was none), "required", or "better under the scores".
    """

    dependent: int
    before: int
    head: int
    why: Why


class Repair(NamedTuple):
    """A repaired sentence: its heads, (n,) int32, 0 = ROOT; what has changed, in order; and the cycles that there were."""

    heads: Heads
    changes: list[Change]
    cycles: list[list[int]]


def repair_heads(
    heads: Sequence[int | None] | npt.NDArray[np.integer],
    *,
    scores: npt.ArrayLike | None = None,
    layout: Layout = "root_column",
    required: Iterable[Arc] = (),
    labels: Sequence[str | None] | None = None,
    pos: Sequence[str | None] | None = None,
    is_punct: Sequence[bool] | None = None,
) -> Repair:
    """The tree with exactly one root that is nearest to `heads`: of all such trees it shares the most arcs with them.

    Heads that are such a tree already come back as they are.

    Parameters
    ----------
    heads : array-like of ints, (n,)
        0 = ROOT, j = token j-1. Anything goes: several roots, none, cycles, self loops, heads out of range; None or -1 is a
        missing head.
    scores : array-like, (n, n+1), optional
        Arc scores as for `decode`, such as the log-probabilities of a scorer, or of a list of n best trees with weights
        `voting.arc_votes(trees, weights)`. If the heads need repair, the result is the best tree under them, however many arcs change.
    layout : str
        How `scores` are laid out; see `decode`.
    required : pairs of ints
        Arcs (dependent, head) that the result must have, as for `decode`.
    labels, pos : sequences of str, optional
        Labels of the arcs, and parts of speech (UPOS), to choose between trees that are equally near. None, "_" or "" where unknown.
    is_punct : sequence of bools, optional
        Which tokens are punctuation. Without it, those whose `pos` is PUNCT.

    Returns
    -------
    Repair : heads, changes, cycles

    Raises
    ------
    HeadsError
        If all heads are missing and there are no scores, or if lengths differ.
    ConstraintsError
        If `required` contradicts itself, or names arcs that there are not.
    DecodingError
        If the scores and `required` allow no tree.

    Notes
    -----
    O(n) without scores. Each head that is missing, out of range or the token itself has to change, one arc of each cycle, and all roots
    but one; nothing else has to, so these are the fewest. What this leaves open is decided so:

    1. The root is one of the roots there are. If there are none, it is a token whose head has to change, or one in a cycle.
    2. Among these, the one of the highest rank: not punctuation; labelled `root`; a verb; a noun, adjective or other content word. Of
       several roots of that rank, the one with the most tokens under it; and then the first. Of each cycle, the arc of the
       first token of the highest rank goes.
    3. Each token whose head has changed hangs on the root.
    """
    given = _to_given(heads, "heads")
    n = len(given)
    for name, values in (("labels", labels), ("pos", pos), ("is_punct", is_punct)):
        if values is not None and len(values) != n:
            raise HeadsError(f"{n} heads, but {name} is for {len(values)} tokens.")
    matrix = None if scores is None else to_root_column(scores, layout)
    if matrix is not None and len(matrix) != n:
        raise ScoresShapeError(f"{n} heads, but scores for {len(matrix)} tokens.")
    locked = _to_locked(required, n)
    is_locked = locked != MISSING
    wanted = np.where(is_locked, locked, given)
    if is_tree(wanted, single_root=True):
        return Repair(wanted.astype(np.int32), _changes(given, wanted, {}), [])

    reasons, cycles = _faults(given)
    if matrix is not None:
        constrained = np.where(is_locked[:, np.newaxis] & (np.arange(n + 1) != locked[:, np.newaxis]), -np.inf, matrix)
        best = decode(constrained)
        for token in np.flatnonzero((best != given) & ~is_locked).tolist():
            reasons.setdefault(token, "extra root" if given[token] == 0 else "better under the scores")
        return Repair(best, _changes(given, best, reasons), cycles)
    if n and (wanted == MISSING).all():
        raise HeadsError("all heads are missing, and there are no scores to find any. Parse the sentence first.")
    ranks = _ranks(n, labels, pos, is_punct)
    repaired = _nearest(wanted, is_locked, ranks)
    return Repair(repaired.astype(np.int32), _changes(given, repaired, reasons), cycles)


def looks_zero_based(heads: Sequence[int]) -> bool:
    """Are these no CoNLL-U heads, but heads counted from 0, with the root as its own head?

    True if no head is 0 and, read in that other way, the heads are a tree with one root; but not if they count from 1 and only
    the root is its own head. In a short sentence that may be chance, in a file of them it is not.
    """
    n = len(heads)
    if not n or 0 in heads or not all(0 <= head < n for head in heads):
        return False
    roots = [token for token, head in enumerate(heads) if head == token]
    if len(roots) != 1 or not is_tree([0 if head == token else head + 1 for token, head in enumerate(heads)]):
        return False
    own = [token for token, head in enumerate(heads, 1) if head == token]
    return len(own) != 1 or not is_tree([0 if head == token else head for token, head in enumerate(heads, 1)])


def repair_labels(
    labels: Sequence[str],
    before: Sequence[int],
    heads: Sequence[int],
    *,
    pos: Sequence[str | None] | None = None,
    is_punct: Sequence[bool] | None = None,
    root_label: str = "root",
    demoted_label: str | None = None,
) -> list[str]:
    """The labels of a repaired sentence: ROOT's on the root, and nowhere else; all others stay.

    labels (Sequence[str]): As they were; "" or "_" where there is none.
    before, heads (Sequence[int]): The heads as they were, and as they are.
    pos (Optional[Sequence[str]]): Parts of speech (UPOS).
    is_punct (Optional[Sequence[bool]]): Which tokens are punctuation. Without it, those whose `pos` is PUNCT.
    root_label (str): What a new root gets. One that has "root" already, in upper or lower case, keeps it.
    demoted_label (Optional[str]): What a token gets that was a root and is none any more, if its label says nothing else.
        Without it: `parataxis`, or `dep` if its part of speech is not known.
    RETURNS (list[str]): Punctuation that needs a new label gets `punct`, and other tokens that were no roots get `dep`.
    """
    punct = _punctuation(len(heads), pos, is_punct)
    repaired = []
    for i, (label, head) in enumerate(zip(labels, heads, strict=True)):
        if head == 0:
            repaired.append(label if is_root_label(label) else root_label)
        elif label not in ("", "_") and not is_root_label(label):
            repaired.append(label)
        elif punct[i]:
            repaired.append("punct")
        elif before[i] == 0:
            known = pos is not None and pos[i] not in _UNKNOWN_TAGS
            repaired.append(demoted_label or (DEMOTED_LABEL if known else "dep"))
        else:
            repaired.append("dep")
    return repaired


def looks_like_punctuation(form: str, pos: str | None = None) -> bool:
    """By its part of speech (UPOS) if that is known, else by its characters."""
    if pos not in _UNKNOWN_TAGS:
        return pos == "PUNCT"
    return bool(form) and all(unicodedata.category(character).startswith("P") for character in form)


def _nearest(
    heads: npt.NDArray[np.int64], is_locked: npt.NDArray[np.bool_], ranks: Sequence[int]
) -> npt.NDArray[np.int64]:
    """See `repair_heads`. None of the locked heads is out of range, and they make no cycle and have one root at most."""
    n = len(heads)
    free = {
        token for token, head in enumerate(heads.tolist(), 1) if head < 0 or head > n or head == token
    }  # whose head has to change
    cycles = [
        [token for token in cycle if not is_locked[token - 1]]
        for cycle in find_cycles(heads.tolist())
        if len(cycle) > 1
    ]
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
    """How many tokens hang on each token, directly or through others, itself included. Those of tokens in cycles mean nothing."""
    n = len(heads)
    sizes, waiting = [1] * n, [0] * (n + 1)
    inside = [head if 1 <= head <= n else 0 for head in heads.tolist()]
    for head in inside:
        waiting[head] += 1
    leaves = [token for token in range(1, n + 1) if not waiting[token]]
    for token in leaves:  # grows on the way
        head = inside[token - 1]
        if head:
            sizes[head - 1] += sizes[token - 1]
            waiting[head] -= 1
            if not waiting[head]:
                leaves.append(head)
    return sizes


def _faults(heads: npt.NDArray[np.int64]) -> tuple[dict[int, Why], list[list[int]]]:
    """What is wrong with each head that is wrong, by index, and the cycles. Which root is one too many is not to be seen here."""
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


def _ranks(
    n: int,
    labels: Sequence[str | None] | None,
    pos: Sequence[str | None] | None,
    is_punct: Sequence[bool] | None,
) -> list[int]:
    """How well each token would do as the root."""
    punct = _punctuation(n, pos, is_punct)
    ranks = []
    for i in range(n):
        rank = 0 if punct[i] else 8
        if labels is not None and is_root_label(labels[i]):
            rank += 4
        if pos is not None:
            rank += 2 * (pos[i] == "VERB") + (pos[i] in _CONTENT)
        ranks.append(rank)
    return ranks


def _punctuation(n: int, pos: Sequence[str | None] | None, is_punct: Sequence[bool] | None) -> Sequence[bool]:
    if is_punct is not None:
        return is_punct
    return [False] * n if pos is None else [tag == "PUNCT" for tag in pos]


def _to_locked(required: Iterable[Arc], n: int) -> npt.NDArray[np.int64]:
    """The head that each token must have, MISSING where there is no demand."""
    locked = np.full(n, MISSING, dtype=np.int64)
    for dependent, head in read_constraints(required, (), n).required:
        before = int(locked[dependent - 1])
        if before not in (MISSING, head):
            raise ConstraintsError(f"dependent {dependent} is required to have two heads, {before} and {head}.")
        locked[dependent - 1] = head
    roots = (np.flatnonzero(locked == 0) + 1).tolist()
    if len(roots) > 1:
        raise ConstraintsError(
            f"the required arcs have {len(roots)} roots: {', '.join(map(str, roots))}. A tree has one."
        )
    for cycle in find_cycles(locked.tolist()):
        raise ConstraintsError(f"the required arcs have a cycle: {shown_cycle(cycle)}.")
    return locked


def _to_given(heads: Sequence[int | None] | npt.NDArray[np.integer], name: str) -> npt.NDArray[np.int64]:
    if isinstance(heads, np.ndarray):
        array = to_int_array(heads)
    else:
        array = to_int_array([MISSING if head is None else head for head in heads])
    if array is None:
        raise HeadsError(f"{name} are a 1-D array of ints, None where one is missing; found {str(heads)[:100]}.")
    return array
