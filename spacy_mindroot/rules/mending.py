"""Mends labelled trees of any parser so that they meet rules: with the fewest changes, or by vote among several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import LabelsError, RulesError
from ..labels import NO_LABEL, UD_ROOT, is_root_label
from ..repair import check_keep
from ..scored import ScoredSentence
from ..scores import FloatArray, to_count, to_texts
from ..trees import is_tree, to_heads
from ..voting import AnyHeads, arc_votes, to_labels, to_votes
from .labelled import MAX_NODES, LabelledTree, Problem
from .ruleset import Rules, to_rules

__all__ = ["mend_tree", "vote_labelled"]

_PUNCT, _UNSPECIFIED = "punct", "dep"
_MASK = -1e6  # finite scores below it mean that something is impossible


def mend_tree(
    heads: npt.ArrayLike,
    labels: Sequence[str],
    rules: Rules | str | Mapping[str, Any],
    *,
    pos: Sequence[str | None] | None = None,
    prior: ScoredSentence | None = None,
    keep: float = math.inf,
    max_nodes: int = MAX_NODES,
) -> LabelledTree:
    """Return the nearest labelled tree that meets all hard rules: the one with the fewest changes.

    Parameters
    ----------
    heads : array-like of ints, (n,)
        A single-rooted tree; 0 = ROOT, j = token j-1. `repair_heads` makes one of any heads.
    labels : sequence of str, (n,)
        The label of the arc to each token.
    rules : Rules, str, mapping
        As for `decode_labelled`. Rules with a price are left out: they say what is likely, not what is valid.
    pos : sequence of str, (n,), optional
        Parts of speech (UPOS).
    prior : ScoredSentence, optional
        The scores that a parser gives to the sentence, those of all labels included. The result is the valid tree with
        the greatest sum of its scores and of `keep` for each head and each label that stays.
    keep : float
        As for `repair_heads`, of heads and of labels: by default, the fewest of them change. It matters only with a
        prior.
    max_nodes : int
        As for `decode_labelled`.

    Returns
    -------
    LabelledTree
        Without a prior, its weight is 2 n minus the number of changes, minus less than 1 to break ties. If the search
        reached its limit, `gap` says how many changes fewer might do.

    Raises
    ------
    RulesError
        If the heads are not a single-rooted tree, or lengths differ.
    LabelsError
        If the prior lacks the scores of labels.
    NoValidTreeError, SearchLimitError
        As `decode_labelled`.

    Notes
    -----
    A changed head and a changed label count as one change each. Of trees with equally few changes, this is, without a
    prior, the one whose new heads are nearest to the old ones in the tree; a new label is `dep`, or `punct`, before any
    other label of the sentence. To attach a word to the head of its head is preferred to a new label, and a new label
    to anything farther away. Of several words, the last one changes.

    Examples
    --------
    >>> from spacy_mindroot.rules import mend_tree
    >>> tree = mend_tree([2, 0, 2, 3], ["nsubj", "root", "case", "obj"], "ud")
    >>> tree.heads, tree.labels
    (array([2, 0, 2, 2], dtype=int32), ['nsubj', 'root', 'case', 'obj'])
    """
    tree = to_heads(heads)
    known = to_rules(rules).hard
    limit = to_count(max_nodes, "max_nodes", what="nodes")
    check_keep(keep)
    n = len(tree)
    labels = to_texts(labels, "labels", n, RulesError)
    pos = None if pos is None else to_texts(pos, "pos", n, RulesError)
    if not is_tree(tree, single_root=True):
        raise RulesError("the heads are not a single-rooted tree. Repair them first, for example with `repair_heads`.")
    if not known.violations(tree, labels, pos):
        return LabelledTree(tree.astype(np.int32), labels, 2.0 * n, True, 1, 0.0)
    root_label = next((label for label in labels if is_root_label(label)), UD_ROOT)
    if prior is not None:
        arcs, scores, names = _favoured(prior, keep, tree, labels, root_label)
        return Problem(arcs, scores, names, known, pos, max_nodes=limit).decode()
    names = list(dict.fromkeys([_UNSPECIFIED, _PUNCT, root_label, *labels]))
    numbers = {name: k for k, name in enumerate(names)}
    tie = 1 / (8 * n * (n + 2))
    earlier = tie / 5 * np.arange(n, 0, -1) / max(1, n)
    arcs = -tie * _distances(tree) - earlier[:, None]
    arcs[np.arange(n), tree] = 1
    scores = np.full((n, 1, len(names)), -5 * tie)  # the same on all arcs to a token
    scores[:, :, :3] = -3 * tie
    scores -= earlier[:, None, None]
    scores[np.arange(n), 0, [numbers[label] for label in labels]] = 1
    rows = np.repeat(np.arange(n, dtype=np.int32), n + 1).reshape(n, n + 1)
    return Problem(arcs, scores, names, known, pos, max_nodes=limit, rows_of_arcs=rows).decode()


def vote_labelled(
    parses: Sequence[AnyHeads],
    labels: Sequence[Sequence[str]],
    rules: Rules | str | Mapping[str, Any],
    weights: Sequence[float] | None = None,
    *,
    pos: Sequence[str | None] | None = None,
    max_nodes: int = MAX_NODES,
) -> LabelledTree:
    """Return the labelled tree with one root that has the most votes of all that meet the hard rules.

    Parameters
    ----------
    parses, weights
        As for `arc_votes`.
    labels : sequence of sequences of str
        Labels of each parse, one per token; "_" or "" where there is none.
    rules, pos, max_nodes
        As for `mend_tree`.

    Returns
    -------
    LabelledTree
        Each parse votes for its heads, and for the label of each of its arcs. A label also gets a hundredth of a vote
        on all other arcs to the token. Ties go to the first parse.

    Raises
    ------
    MindRootError
        As `arc_votes`.
    LabelsError, RulesError
        If labels are not one per token of each parse, or pos not one per token.
    NoValidTreeError, SearchLimitError
        As `decode_labelled`.
    """
    known = to_rules(rules).hard
    trees, shares = to_votes(parses, weights)
    votes = arc_votes(trees, shares)
    n = len(votes)
    labels = to_labels(labels, trees, LabelsError)
    pos = None if pos is None else to_texts(pos, "pos", n, RulesError)
    limit = to_count(max_nodes, "max_nodes", what="nodes")
    seen = dict.fromkeys(label for own in labels for label in own if label not in NO_LABEL)
    root_label = next((label for label in seen if is_root_label(label)), UD_ROOT)
    names = list(dict.fromkeys([*seen, root_label, _UNSPECIFIED, _PUNCT]))
    numbers = {name: k for k, name in enumerate(names)}
    # Arcs to a token have the same scores of labels, unless they come from ROOT or have votes of their own.
    rows = np.repeat(np.arange(n, dtype=np.int32), n + 1).reshape(n, n + 1)
    rows[:, 0] += n
    voted = {(token, head) for parse in trees for token, head in enumerate(parse.tolist()) if head >= 0}
    for number, arc in enumerate(sorted(voted), 2 * n):
        rows[arc] = number
    of_token = [np.unique(own) for own in rows]
    scores = np.zeros((2 * n + len(voted), 1, len(names)))
    tie = 1e-6 / max(1, n)
    for k, (parse, own) in enumerate(zip(trees, labels, strict=True)):
        share = shares[k] + (tie if k == 0 else 0)
        for token, (head, label) in enumerate(zip(parse.tolist(), own, strict=True)):
            if label in numbers:
                scores[of_token[token], 0, numbers[label]] += share / 100
                if head >= 0 and is_root_label(label) == (head == 0):
                    scores[rows[token, head], 0, numbers[label]] += share
        if k == 0:
            votes[np.flatnonzero(parse >= 0), parse[parse >= 0]] += tie
    root = np.array([is_root_label(name) for name in names])
    from_root = np.zeros(len(scores), dtype=bool)
    from_root[rows[:, 0]] = True
    scores[:, 0] -= root != from_root[:, None]
    return Problem(votes, scores, names, known, pos, max_nodes=limit, rows_of_arcs=rows).decode()


def _favoured(
    prior: ScoredSentence, keep: float, tree: npt.NDArray[np.int64], labels: Sequence[str], root_label: str
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return arc scores, label scores and the names of labels: those of a parser, and a bonus on what is given."""
    if prior.label_scores is None:
        raise LabelsError("the parser gives no scores of labels, which rules need. Use an arc_scorer of this package.")
    n = len(tree)
    own = [root_label if is_root_label(name) else name for name in prior.label_names]
    names = list(dict.fromkeys([*own, root_label, *labels]))
    arcs = _unmasked(prior.scores)
    scores = np.full((n, n + 1, len(names)), -np.inf)
    scores[:, :, : len(own)] = _unmasked(prior.label_scores)
    least = [float(np.where(np.isfinite(each), each, 0).min(initial=0)) for each in (arcs, scores)]
    scores[:, :, len(own) :] = least[1]  # labels that the parser does not know
    is_root = np.array([is_root_label(name) for name in names])
    scores[:, 0, ~is_root] = scores[:, 1:, is_root] = -np.inf
    if keep == math.inf:
        keep = 2.0 * n * (arcs.max(initial=0) - least[0] + scores.max(initial=0) - least[1] + 1)
    arcs[np.arange(n), tree] += keep
    scores[np.arange(n), :, [names.index(label) for label in labels]] += keep
    return arcs, scores, names


def _unmasked(scores: npt.NDArray[Any]) -> FloatArray:
    """Return scores as float64, with `_MASK` for finite ones below it.

    Sums with such as the least float64 would overflow, or have no digits left for the other scores.
    """
    return np.where(scores == -np.inf, -np.inf, np.maximum(scores, _MASK)).astype(np.float64)


def _distances(heads: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return how many arcs lie between the head of each token and each other possible head, (n, n+1)."""
    n = len(heads)
    above = []
    for token in range(n + 1):
        path = [token]
        while path[-1]:
            path.append(int(heads[path[-1] - 1]))
        above.append(path)
    depth = np.array([len(path) for path in above])
    inside = np.zeros((n + 1, n + 1), dtype=np.int64)
    for token, path in enumerate(above):
        inside[token, path] = 1
    shared = inside @ inside.T  # the nodes above both
    between: npt.NDArray[np.int64] = depth[:, None] + depth[None] - 2 * shared
    return between.take(heads, axis=0).astype(np.float64)
