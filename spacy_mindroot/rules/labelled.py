"""The best labelled tree with one root that is valid under rules: arcs and labels are chosen together, and exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..constraints import Arc, Constraints, read_constraints
from ..core import _core, _rules
from ..core.fault import Fault
from ..core.rules import Found
from ..decoding import Heads
from ..errors import (
    DecodingError,
    InvalidScoreError,
    LabelsError,
    NotEnoughMemoryError,
    NoValidTreeError,
    RulesError,
    ScoreRangeError,
    ScoresShapeError,
    SearchLimitError,
)
from ..faults import decoding_error
from ..scores import FloatArray, Layout, rearrange, to_count, to_floats, to_list, to_root_column, to_texts
from .compiled import compile_rules
from .ruleset import Rules, to_rules

__all__ = ["MAX_NODES", "LabelledTree", "Problem", "decode_labelled", "find_tree_on_demand"]

MAX_NODES = 10_000
_NO_RULES = Rules()
_LARGEST = 1e300  # sums of larger scores can overflow


class LabelledTree(NamedTuple):
    """A labelled tree, and whether it is the best one.

    Attributes
    ----------
    heads : ndarray of int32, (n,)
        0 = ROOT, j = token j-1.
    labels : list of str, (n,)
        The label of the arc to each token.
    weight : float
        The sum of all arc and label scores minus the prices of all violations.
    optimal : bool
        Whether this is certainly the best valid tree. False only if the search reached its limit.
    nodes : int
        The number of trees that were decoded on the way. 1 if the best tree without rules is valid.
    gap : float
        No valid tree weighs more than `weight + gap`. 0 if the tree is optimal.
    """

    heads: Heads
    labels: list[str]
    weight: float
    optimal: bool
    nodes: int
    gap: float


def decode_labelled(
    arc_scores: npt.ArrayLike,
    label_scores: npt.ArrayLike,
    labels: Sequence[str],
    *,
    rules: Rules | str | Mapping[str, Any] | None = None,
    pos: Sequence[str | None] | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    projective: bool = False,
    layout: Layout = "root_column",
    max_nodes: int = MAX_NODES,
) -> LabelledTree:
    """Return the best labelled tree with one root that is valid under rules.

    Its arcs and labels are chosen together: to give an arc another label competes with attaching the token elsewhere.

    Parameters
    ----------
    arc_scores : array-like, (n, n+1)
        As for `decode`.
    label_scores : array-like, (n, n+1, labels)
        The score of each label of each arc, laid out like the arc scores; -inf forbids it. The weight of a tree is the
        sum of both over its arcs. So with log-probabilities of heads, and of labels given the arc, it is the
        log-probability of the labelled tree.
    labels : sequence of str
        The name of each label, for the rules.
    rules : Rules, str, mapping, optional
        The rules: `Rules`, or what `Rules.from_dict` takes, or "ud". None: all labelled trees are valid.
    pos : sequence of str, (n,), optional
        Parts of speech (UPOS). Rules about them do not apply where they are unknown: None, "" or "_".
    required, forbidden, layout
        As for `decode`.
    projective : bool
        Whether to consider only trees without crossing arcs.
    max_nodes : int
        The search ends after decoding about as many trees, with the best valid tree that it has found. See Notes.

    Returns
    -------
    LabelledTree
        `optimal` and `gap` say how good it is.

    Raises
    ------
    NoValidTreeError
        If there are trees, but none is valid. The message names a minimal set of rules that leave none.
    SearchLimitError
        If the search has reached its limit without finding a valid tree.
    LabelsError, RulesError
        If there is not one distinct name per label, or the rules are not as they should be.
    InvalidScoreError, ScoreRangeError
        If a score is NaN or +inf, or sums of scores overflow.
    MindRootError
        As `decode`.

    Notes
    -----
    Best-first branch and bound. The relaxation is the best single-rooted tree when each arc has its best label, which
    takes O(n^2) [1]_ after O(n^2 labels) for the best labels. A tree that breaks a rule is excluded by forbidding a
    label on an arc, or an arc, in such a way that the branches together keep every valid tree. Rules about single arcs
    (`direction`, `forbidden`) are part of the scores and cost nothing.

    The problem is NP-hard: with a single label, `unique` asks for the best path through all tokens. Real sentences
    take one to three nodes on average. After `max_nodes` of them the search ends with the best valid tree that it has
    found. If it has found none, it goes depth-first until it has, for at most as many nodes again, and if there are
    `planar` rules, among projective trees.

    A label is preferred to another of equal score if it comes first; the tree is the same for the same scores on every
    machine.

    References
    ----------
    .. [1] Zmigrod, Vieira and Cotterell (2020), "Please Mind the Root: Decoding Arborescences for Dependency Parsing".
       https://doi.org/10.18653/v1/2020.emnlp-main.390

    Examples
    --------
    Tokens 1 and 3 both look like the subject of token 2. It is better to make one of them the object than to attach it
    elsewhere:

    >>> import numpy as np
    >>> from spacy_mindroot import decode_labelled
    >>> arcs = np.array([[0, 0, 5, 0], [5, 0, 0, 0], [0, 0, 5, 0]])
    >>> labels = ["root", "nsubj", "obj"]
    >>> scores = np.zeros((3, 4, 3))
    >>> scores[:, 0] = [0, -9, -9]
    >>> scores[0, 1:], scores[1, 1:], scores[2, 1:] = [-9, 0, -3], [-9, 0, -3], [-9, 0, -1]
    >>> decode_labelled(arcs, scores, labels).labels
    ['nsubj', 'root', 'nsubj']
    >>> tree = decode_labelled(arcs, scores, labels, rules={"unique": ["nsubj"]})
    >>> tree.heads, tree.labels, tree.weight, tree.optimal
    (array([2, 0, 2], dtype=int32), ['nsubj', 'root', 'obj'], 14.0, True)
    """
    matrix = to_root_column(arc_scores, layout)
    n = len(matrix)
    names = to_list(labels, "labels", LabelsError)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise LabelsError(f"labels are distinct strings, at least one; found {str(names)[:100]}.")
    scores = _label_scores(label_scores, layout, n, len(names))
    known = _NO_RULES if rules is None else to_rules(rules)
    pos = None if pos is None else to_texts(pos, "pos", n, RulesError)
    limit = to_count(max_nodes, "max_nodes", what="nodes")
    constraints = read_constraints(required, forbidden, n)
    return Problem(matrix, scores, names, known, pos, constraints, projective, limit).decode()


@dataclass(frozen=True)
class Problem:
    """A sentence whose best labelled tree is to be found. Arguments are checked; most are as for `decode_labelled`."""

    matrix: FloatArray  # arc scores, (n, n+1), without the mask of the constraints
    scores: FloatArray  # label scores, (n, n+1, labels); with `rows_of_arcs`, (rows, 1, labels)
    labels: Sequence[str]
    rules: Rules
    pos: Sequence[str | None] | None = None
    constraints: Constraints | None = None
    projective: bool = False
    max_nodes: int = MAX_NODES
    # The row of `scores` that belongs to each arc, (n, n+1). With shared rows, n labels take memory in O(n^2).
    rows_of_arcs: npt.NDArray[np.int32] | None = None

    def search(self, rules: Rules | None = None) -> Found | Fault:
        """Return what the search finds, under other rules if there are any."""
        n = len(self.matrix)
        compiled = compile_rules(self.rules if rules is None else rules, tuple(self.labels))
        return _rules.search(
            np.ascontiguousarray(self._masked(self.matrix), dtype=np.float64),
            np.ascontiguousarray(self.scores),
            *compiled.kinds_of(self.pos, n),
            compiled,
            self.max_nodes,
            self.projective,
            self.rows_of_arcs,
        )

    def decode(self) -> LabelledTree:
        """Return the best tree, also of no tokens. Raises errors as `decode_labelled`."""
        if not len(self.matrix):
            return LabelledTree(np.empty(0, dtype=np.int32), [], 0.0, True, 0, 0.0)
        found = self.solve()
        heads, labels = found.tree
        optimal = found.bound <= found.value
        gap = 0.0 if optimal else found.bound - found.value
        return LabelledTree(heads, [self.labels[k] for k in labels], found.value, optimal, found.nodes, gap)

    def solve(self, *, where: str = "", words: Sequence[str] | None = None, sentence: int = 0) -> Found:
        """Return what the search finds, with a tree. Raise DecodingError, which says why, if there is none.

        `where`, `words` and `sentence`, its index in a Doc or batch, are as for `faults.decoding_error`.
        """
        found = self.search()
        if isinstance(found, Fault) or found.heads is None:
            raise self._error(found, where, words, sentence)
        return found

    def _masked(self, matrix: FloatArray) -> FloatArray:
        return self.constraints.mask(matrix) if self.constraints else matrix

    def _error(self, found: Found | Fault, where: str, words: Sequence[str] | None, sentence: int) -> DecodingError:
        n = len(self.matrix)
        place = where or f"sentence of {n} tokens"
        best = self.scores.max(axis=2) if self.rows_of_arcs is None else self.scores.max(axis=2)[self.rows_of_arcs, 0]
        best[np.arange(n), np.arange(1, n + 1)] = -np.inf
        for dependent, head in np.argwhere(~(best < np.inf)).tolist():
            row = (dependent, head) if self.rows_of_arcs is None else (self.rows_of_arcs[dependent, head], 0)
            label = self.labels[int((~(self.scores[row] < np.inf)).argmax())]
            return InvalidScoreError(
                f"{place}: the score of label {label!r} for head {head} of dependent {dependent + 1} is NaN or +inf. "
                "Label scores are finite numbers, or -inf to forbid a label.",
                sentence=sentence,
                dependent=dependent + 1,
                head=head,
            )
        with np.errstate(invalid="ignore", over="ignore"):
            labelled = best.astype(np.float64) + self.matrix
        for matrix in (self.matrix, labelled):  # is there any tree?
            fault = _core.decode(self._masked(matrix), np.empty(n, dtype=np.int32), True, self.projective)
            if fault is not None:
                fault = fault._replace(sentence=sentence)
                more: Any = {"where": where, "words": words, "projective": self.projective}
                return decoding_error(fault, matrix, self.constraints, **more)
            if np.abs(labelled[np.isfinite(labelled)]).max(initial=0) > _LARGEST or np.isposinf(labelled).any():
                return ScoreRangeError(
                    f"{place}: the scores are too large to be added up. Scale them.", sentence=sentence
                )
        if isinstance(found, Fault):
            return NotEnoughMemoryError(f"{place}: not enough memory for the search.", sentence=sentence)
        if found.bound > -np.inf:
            return SearchLimitError(
                f"{place}: no valid tree was found among {found.nodes:,} trees, the limit. Allow more nodes, or give "
                "some rules a price.",
                sentence=sentence,
            )
        hard = self.rules.hard
        names = hard.names
        for name in hard.names:  # drop every rule without which there is still no tree
            rest = [other for other in names if other != name]
            without = self.search(hard.only(rest))
            if isinstance(without, Found) and without.heads is None and without.bound == -np.inf:
                names = rest
        and_constraints = " together with the constraints on arcs" if self.constraints else ""
        return NoValidTreeError(
            f"{place}: no tree meets the rules. These leave none{and_constraints}: {', '.join(names)}. Drop one of "
            f"them, give it a price, or allow more labels; those known are: {_shown(self.labels)}.",
            sentence=sentence,
        )


def find_tree_on_demand(
    matrix: FloatArray,
    score_arcs: Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.NDArray[np.float32] | None],
    labels: tuple[str, ...],
    rules: Rules,
    pos: Sequence[str | None] | None = None,
    *,
    projective: bool = False,
) -> Found | None:
    """Return what `Problem.search` finds, with the label scores of a few arcs; None if those of all arcs are needed.

    score_arcs(dependents, heads) takes the tokens of some arcs: dependents from 0, and heads, 0 = ROOT. It returns the
    log-probability of each label of each arc, (arcs, labels), C-contiguous; or None if only all arcs can be scored.
    """
    n = len(matrix)
    compiled = compile_rules(rules, labels)
    return _rules.search_on_demand(
        np.ascontiguousarray(matrix, dtype=np.float64),
        score_arcs,
        *compiled.kinds_of(pos, n),
        compiled,
        MAX_NODES,
        projective,
    )


def _label_scores(label_scores: npt.ArrayLike, layout: Layout, n: int, n_labels: int) -> FloatArray:
    """Return label scores as (n, n+1, labels)."""
    array = to_floats(label_scores)
    if n == 0:
        return np.empty((0, 1, n_labels))
    if array.ndim == 3:
        columns = [rearrange(array[:, :, k], layout) for k in range(array.shape[2])] if layout != "root_column" else []
        array = np.stack(columns, axis=2) if columns else array
    if array.shape != (n, n + 1, n_labels):
        raise ScoresShapeError(
            f"label scores have a third dimension, of {n_labels} labels, and are otherwise laid out like the arc "
            f"scores: in layout root_column, (n, n+1, labels) = {(n, n + 1, n_labels)}; found {array.shape}."
        )
    return array


def _shown(labels: Sequence[str]) -> str:
    return ", ".join(labels[:20]) + (f", ... ({len(labels)} in all)" if len(labels) > 20 else "")
