"""decode_labelled(): results, the certificate, the limit, and the messages."""

import contextlib
import math

import numpy as np
import pytest
from labelled_trees import random_problem

from generators import random_scores
from spacy_mindroot import Rules, decode, decode_labelled, is_tree
from spacy_mindroot.core import _rules
from spacy_mindroot.core.fault import Fault, FaultKind
from spacy_mindroot.errors import (
    ConflictError,
    CountError,
    InvalidScoreError,
    LabelsError,
    NoHeadError,
    NoRootError,
    NotEnoughMemoryError,
    NoTreeError,
    NoValidTreeError,
    RulesError,
    ScoreRangeError,
    ScoresShapeError,
    SearchLimitError,
)
from spacy_mindroot.rules import UD

INF = np.inf
PATH = Rules(unique=["x"])  # with one label: every token has at most one dependent


def test_without_rules_it_is_the_best_tree_with_the_best_labels(rng):
    for n in (1, 2, 5, 30):
        arcs, scores = random_scores("normal", n, rng), rng.normal(0, 1, (n, n + 1, 4))
        tree = decode_labelled(arcs, scores, list("abcd"))
        tokens = np.arange(n)
        assert tree.heads.tolist() == decode(arcs + scores.max(axis=2)).tolist()
        assert tree.labels == [list("abcd")[k] for k in scores[tokens, tree.heads].argmax(axis=1)]
        assert tree.weight == pytest.approx((arcs + scores.max(axis=2))[tokens, tree.heads].sum())
        assert tree[3:] == (True, 1, 0.0)


def test_it_relabels_where_that_costs_less_than_to_reattach():
    arcs = np.array([[0, 0, 5, 0], [5, 0, 0, 0], [0, 0, 5, 0]])
    scores = np.zeros((3, 4, 2))
    scores[:, :, 1] = [[-3], [-3], [-1]]
    tree = decode_labelled(arcs, scores, ["nsubj", "obj"], rules={"unique": ["nsubj"]})
    assert (tree.heads.tolist(), tree.labels, tree.weight) == ([2, 0, 2], ["nsubj", "nsubj", "obj"], 14)
    scores[:, :, 1] = -9
    tree = decode_labelled(arcs, scores, ["nsubj", "obj"], rules={"unique": ["nsubj"]})
    assert (tree.heads.tolist(), tree.labels, tree.weight) == ([3, 0, 2], ["nsubj"] * 3, 10)


def test_every_tree_is_valid_and_certified(rng):
    labels = ["root", "nsubj", "obj", "punct", "case", "conj", "obl"]
    pos = ["NOUN", "VERB", "PUNCT", "ADP"]
    for _ in range(40):
        n = int(rng.integers(1, 12))
        arcs, scores = rng.normal(0, 3, (n, n + 1)), rng.normal(0, 2, (n, n + 1, len(labels)))
        own = rng.choice(pos, n).tolist()
        tree = decode_labelled(arcs, scores, labels, rules="ud", pos=own)
        assert tree.optimal and tree.gap == 0 and tree.nodes < 5000 and is_tree(tree.heads, single_root=True)
        assert UD.violations(tree.heads, tree.labels, own) == []
        assert tree.labels[int((tree.heads == 0).argmax())] == "root"


def test_constraints_and_projective_trees(rng):
    arcs, scores = rng.normal(0, 3, (8, 9)), rng.normal(0, 2, (8, 9, 2))
    free = decode_labelled(arcs, scores, ["a", "x"], rules=PATH)
    head = int(free.heads[3])
    assert decode_labelled(arcs, scores, ["a", "x"], rules=PATH, forbidden=[(4, head)]).heads[3] != head
    assert decode_labelled(arcs, scores, ["a", "x"], rules=PATH, required=[(4, 0)]).heads[3] == 0
    flat = decode_labelled(arcs, scores, ["a", "x"], rules=PATH, projective=True)
    assert flat.weight <= free.weight and flat.heads.tolist() != free.heads.tolist()


@pytest.mark.parametrize("layout", ["square", "square_transposed", "root_diagonal"])
def test_other_layouts(layout, rng):
    arcs, scores = rng.normal(0, 3, (4, 5)), rng.normal(0, 2, (4, 5, 3))
    labels = list("abc")
    if layout == "root_diagonal":
        given = [array[:, 1:].copy() for array in (arcs, scores)]
        for array, own in zip(given, (arcs, scores), strict=True):
            array[np.arange(4), np.arange(4)] = own[:, 0]
    else:
        given = [np.concatenate([np.zeros((1, *array.shape[1:])), array]) for array in (arcs, scores)]
        if layout == "square_transposed":
            given = [np.swapaxes(array, 0, 1) for array in given]
    tree = decode_labelled(*given, labels, rules={"unique": ["a"]}, layout=layout)
    same = decode_labelled(arcs, scores, labels, rules={"unique": ["a"]})
    assert (tree.heads.tolist(), *tree[1:]) == (same.heads.tolist(), *same[1:])


def test_no_tokens():
    tree = decode_labelled(np.empty((0, 1)), np.empty((0, 1, 2)), ["a", "b"], rules="ud")
    assert (len(tree.heads), tree.labels, tree.weight, tree.optimal) == (0, [], 0.0, True)


def hard_problem(rng, n=30):
    """Scores under which the best path through all tokens takes many nodes."""
    return rng.normal(0, 1, (n, n + 1)), np.zeros((n, n + 1, 1))


def test_at_the_limit_the_best_valid_tree_comes_with_its_gap(rng):
    arcs, scores = hard_problem(rng)
    tree = decode_labelled(arcs, scores, ["x"], rules=PATH, max_nodes=300)
    assert not tree.optimal and tree.gap > 0 and 300 <= tree.nodes <= 601
    assert PATH.violations(tree.heads, tree.labels) == [] and is_tree(tree.heads, single_root=True)
    assert decode_labelled(arcs, scores, ["x"]).weight >= tree.weight + tree.gap - 1e-9
    small, same = hard_problem(rng, 7)
    best = decode_labelled(small, same, ["x"], rules=PATH)
    assert best.optimal
    for limit in range(1, best.nodes + 2):
        tree = decode_labelled(small, same, ["x"], rules=PATH, max_nodes=limit)
        assert tree.weight <= best.weight + 1e-9 <= tree.weight + tree.gap + 2e-9
        assert tree.optimal or limit < best.nodes


def test_a_limit_that_leaves_no_tree_is_an_error(rng):
    arcs, scores = hard_problem(rng)
    with pytest.raises(SearchLimitError, match="no valid tree was found among 3 trees, the limit. Allow more nodes"):
        decode_labelled(arcs, scores, ["x"], rules=PATH, max_nodes=1)


def test_no_valid_tree_names_the_rules():
    arcs, scores = np.zeros((3, 4)), np.zeros((3, 4, 1))
    rules = Rules(unique=["x"], leaf=["x"], direction={"x": "left"}, forbidden=[{"labels": ["y"], "name": "other"}])
    with pytest.raises(NoValidTreeError) as caught:
        decode_labelled(arcs, scores, ["x"], rules=rules)
    assert "sentence of 3 tokens: no tree meets the rules. These leave none: leaf-x. Drop" in str(caught.value)
    with pytest.raises(NoValidTreeError, match="none together with the constraints on arcs: direction-x. Drop"):
        decode_labelled(arcs, scores, ["x"], rules=rules.without(["leaf-x"]), required=[(2, 1)])
    prices = {"leaf": [{"labels": ["x"], "price": 2}]}
    assert decode_labelled(arcs, scores, ["x"], rules=prices).weight == -4


def test_no_tree_at_all_is_the_error_of_decode():
    scores = np.zeros((2, 3, 1))
    for arcs, error in (
        ([[0, 0, 0], [-INF, -INF, 0]], NoHeadError),
        ([[-INF, 0, 0], [-INF, 0, 0]], NoRootError),
        ([[0, 0, -INF], [0, -INF, 0]], NoTreeError),
    ):
        with pytest.raises(error):
            decode_labelled(arcs, scores, ["x"], rules=PATH)
    scores[1] = -INF
    with pytest.raises(NoHeadError, match="no head is allowed for dependent 2"):
        decode_labelled(np.zeros((2, 3)), scores, ["x"], rules=PATH)
    with pytest.raises(ConflictError):
        decode_labelled(np.zeros((2, 3)), np.zeros((2, 3, 1)), ["x"], required=[(1, 0), (2, 0)])


def test_invalid_scores():
    for wrong in (np.nan, INF):
        scores = np.zeros((2, 3, 2))
        scores[1, 1, 1] = wrong
        with pytest.raises(InvalidScoreError, match=r"label 'b' for head 1 of dependent 2 is NaN or \+inf"):
            decode_labelled(np.zeros((2, 3)), scores, ["a", "b"])
        scores[1, 1, 1], scores[1, 2] = 0, wrong  # the self arc is never read
        arcs = np.zeros((2, 3))
        arcs[0, 1] = wrong
        assert decode_labelled(arcs, scores, ["a", "b"]).optimal
        arcs[0, 2] = wrong
        with pytest.raises(InvalidScoreError, match="head 2 for dependent 1"):
            decode_labelled(arcs, scores, ["a", "b"])
    with pytest.raises(ScoreRangeError, match="too large to be added up"):
        decode_labelled(np.full((2, 3), 1.7e308), np.full((2, 3, 1), 1.7e308), ["a"])


@pytest.mark.parametrize(
    ("labels", "keywords", "error", "message"),
    [
        ([], {}, LabelsError, "distinct strings"),
        (["a", "a"], {}, LabelsError, "distinct strings"),
        (["a", 1], {}, LabelsError, "distinct strings"),
        (["a"], {}, ScoresShapeError, r"of 1 labels, .* = \(2, 3, 1\); found \(2, 3, 2\)"),
        (["a", "b"], {"pos": ["X"]}, RulesError, "2 tokens, but pos is for 1"),
        (["a", "b"], {"rules": "x"}, RulesError, "rules: "),
        (["a", "b"], {"max_nodes": 0}, CountError, "max_nodes is 0"),
    ],
)
def test_wrong_arguments(labels, keywords, error, message):
    with pytest.raises(error, match=message):
        decode_labelled(np.zeros((2, 3)), np.zeros((2, 3, 2)), labels, **keywords)


def test_no_memory(monkeypatch):
    monkeypatch.setattr(_rules, "search", lambda *_: Fault(FaultKind.NO_MEMORY, 0, 0, 0))
    with pytest.raises(NotEnoughMemoryError):
        decode_labelled(np.zeros((2, 3)), np.zeros((2, 3, 1)), ["a"])


def test_the_input_is_not_changed(rng):
    arcs, scores, labels, rules, pos = random_problem(rng)
    before = arcs.copy(), scores.copy()
    with contextlib.suppress(NoValidTreeError):
        decode_labelled(arcs, scores, labels, rules=rules, pos=pos)
    assert np.array_equal(arcs, before[0], equal_nan=True) and np.array_equal(scores, before[1])


def test_a_price_is_paid_or_avoided_whichever_is_better():
    arcs = np.array([[0, 0, 5, 0], [5, 0, 0, 0], [0, 0, 5, 0]])
    scores = np.zeros((3, 4, 2))
    scores[:, :, 1] = -3
    for price, labels, weight in (
        (2.0, ["a", "a", "a"], 13),
        (4.0, ["b", "a", "a"], 12),
        (math.inf, ["b", "a", "a"], 12),
    ):
        tree = decode_labelled(arcs, scores, ["a", "b"], rules={"unique": [{"labels": ["a"], "price": price}]})
        assert (tree.labels, tree.weight, tree.optimal) == (labels, weight, True)
