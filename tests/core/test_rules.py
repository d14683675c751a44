"""The search for the best labelled tree: exhaustive search, the Python twin and the compiled core."""

import numpy as np
import pytest
from labelled_trees import (
    best_by_exhaustion,
    penalty,
    random_problem,
    random_rules,
    weights_of_all_labelled_trees,
)

from spacy_mindroot import decode
from spacy_mindroot.core import _rules
from spacy_mindroot.core.fault import FaultKind
from spacy_mindroot.core.rules import Found
from spacy_mindroot.rules import Planar, Rules
from spacy_mindroot.rules.compiled import compile_rules
from twins import rules_reference


def arguments(arcs, scores, labels, rules, pos, max_nodes=10_000, projective=False):
    compiled, n = compile_rules(rules, tuple(labels)), len(arcs)
    kinds = compiled.kinds_of(pos, n)
    return np.ascontiguousarray(arcs), np.ascontiguousarray(scores), *kinds, compiled, max_nodes, projective


def assert_best(found, arcs, scores, labels, rules, pos, projective=False):
    if projective:
        best = best_by_exhaustion(arcs, scores, labels, rules, pos, projective=True)
    else:
        best = weights_of_all_labelled_trees(arcs, scores, labels, rules, pos).max()
    assert found.value == pytest.approx(best, abs=1e-9) and found.bound == found.value
    assert (found.heads is None) == (best == -np.inf)
    if found.heads is not None:
        tokens = np.arange(len(arcs))
        weight = arcs[tokens, found.heads].sum() + scores[tokens, found.heads, found.labels].sum()
        assert weight - penalty(rules, found.heads, [labels[k] for k in found.labels], pos) == pytest.approx(best)


def test_the_tables_of_all_labelled_trees_have_the_weights_of_the_rules(rng):
    for _ in range(60):
        problem = random_problem(rng)
        best = weights_of_all_labelled_trees(*problem).max()
        assert best == pytest.approx(best_by_exhaustion(*problem), abs=1e-9)


def test_the_twin_equals_exhaustive_search(rng):
    for number in range(250):
        problem = random_problem(rng)
        found = rules_reference.search(*arguments(*problem, projective=number % 5 == 0))
        assert_best(found, *problem, projective=number % 5 == 0)


def test_the_compiled_search_equals_exhaustive_search(rng):
    none = 0
    for number in range(600):
        problem = random_problem(rng)
        found = _rules.search(*arguments(*problem, projective=number % 5 == 0))
        assert_best(found, *problem, projective=number % 5 == 0)
        none += found.heads is None
    assert 50 < none < 300


def test_rules_about_crossing_arcs_equal_exhaustive_search(rng):
    """Only from five tokens on do arcs cross in more than a few ways."""
    nodes = []
    for number in range(60):
        labels = ["punct", "obj"][: 1 + number % 2]
        price = [np.inf, 1.0][number % 2]
        rules = Rules(planar=[Planar(("punct",), which=which, price=price) for which in ("own", "other")])
        arcs = rng.integers(0, 3, (5, 6)).astype(float)
        scores = rng.integers(0, 2, (5, 6, len(labels))).astype(float)
        found = _rules.search(*arguments(arcs, scores, labels, rules, None))
        assert_best(found, arcs, scores, labels, rules, None)
        nodes.append(found.nodes)
    assert max(nodes) > 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_compiled_search_takes_the_steps_of_the_twin(dtype, rng):
    searched = 0
    for number in range(250):
        arcs, scores, labels, rules, pos = random_problem(rng, most_tokens=12, most_labels=6)
        if number % 2:
            rules = random_rules(rng)
        elif number % 4:  # both hard, so that single arcs clash
            rules = Rules(planar=["obj", "punct"], unique=["nsubj"])
        limit = int(rng.choice([1, 3, 200]))
        given = arguments(arcs, scores.astype(dtype), labels, rules, pos, limit, bool(number % 3 == 0))
        twin, core = rules_reference.search(*given), _rules.search(*given)
        assert (twin.value, twin.bound, twin.nodes) == (core.value, core.bound, core.nodes)
        assert (twin.heads is None) == (core.heads is None)
        if twin.heads is not None:
            assert (twin.heads == core.heads).all() and (twin.labels == core.labels).all()
        searched += twin.nodes > 1
    assert searched > 100


def test_arcs_that_share_rows_of_labels(rng):
    for _ in range(60):
        arcs, scores, labels, rules, pos = random_problem(rng, most_tokens=8)
        rows = rng.integers(0, len(arcs), arcs.shape).astype(np.int32)
        scores = np.ascontiguousarray(scores[:, :1])
        given = arguments(arcs, scores, labels, rules, pos)
        apart = arguments(arcs, scores[rows, 0], labels, rules, pos)
        found, expected = _rules.search(*given, rows), _rules.search(*apart)
        if isinstance(expected, Found):
            assert found[2:] == expected[2:]
            assert str(found) == str(expected)
        else:
            assert found == expected


def test_with_labels_on_demand_the_result_is_the_same_and_few_arcs_are_scored(rng):
    scored, all_arcs, searched, repeated = 0, 0, 0, 0
    for number in range(200):
        arcs, _, labels, rules, pos = random_problem(rng, most_tokens=12, most_labels=6)
        n = len(arcs)
        arcs = rng.normal(0, 4, arcs.shape)
        scores = rng.normal(0, 2, (n, n + 1, len(labels)))
        scores = (scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))).astype(np.float32)
        if number % 4 == 0:
            scores[rng.random(scores.shape) < 0.2] = -np.inf
        asked = []

        def score(dependents, heads, asked=asked, scores=scores):
            asked.extend(zip(dependents.tolist(), heads.tolist(), strict=True))
            return scores[dependents, heads]

        arguments_ = arguments(arcs, scores, labels, rules, pos, projective=number % 5 == 0)
        found, expected = _rules.search_on_demand(arcs, score, *arguments_[2:]), _rules.search(*arguments_)
        assert len(set(asked)) == len(asked)
        if found is None:
            assert expected.heads is None or len(asked) < n * n
            repeated += 1
            continue
        assert found.value == pytest.approx(expected.value, abs=1e-9) and found.bound == found.value
        assert found.heads.tolist() == expected.heads.tolist() and found.labels.tolist() == expected.labels.tolist()
        scored, all_arcs, searched = scored + len(asked), all_arcs + n * n, searched + (found.nodes > 1)
    assert scored < 0.7 * all_arcs and searched > 40 and repeated < 100


def test_labels_on_demand_give_up_where_they_cannot_be_exact(rng):
    arcs, labels = rng.normal(0, 1, (4, 5)), ["a", "b"]

    def search(score, arcs=arcs, rules=None, max_nodes=100):
        given = arguments(arcs, np.zeros((4, 5, 2)), labels, rules or Rules(), None, max_nodes)
        return _rules.search_on_demand(arcs, score, *given[2:])

    def zeros(dependents, heads):
        return np.zeros((len(heads), 2), dtype=np.float32)

    assert search(zeros).heads.tolist() == decode(arcs).tolist()
    assert search(lambda *arc: None) is None
    for wrong in (1, np.nan, np.inf):
        assert search(lambda *arc, wrong=wrong: zeros(*arc) + np.float32(wrong)) is None
    assert search(zeros, arcs=np.full((4, 5), -np.inf)) is None
    assert search(zeros, rules=Rules(unique=["a", "b"], leaf=["a", "b"])) is None
    assert search(zeros, arcs=np.full((4, 5), np.nan)) is None
    path = Rules(unique=[["a", "b"]])
    assert search(zeros, arcs=np.zeros((4, 5)), rules=path, max_nodes=1) is None
    assert search(zeros, arcs=np.zeros((4, 5)), rules=path).value == 0


@pytest.mark.parametrize("module", [rules_reference, _rules])
def test_a_sum_that_is_not_finite_is_a_fault(module):
    fault = module.search(*arguments(np.array([[1e308, 0.0]]), np.full((1, 2, 1), 1e308), ["a"], Rules(), None))
    assert fault.kind == FaultKind.NOT_FINITE and fault.dependent == 1


def test_ties_go_to_the_first_label_and_the_lowest_head():
    for module in (rules_reference, _rules):
        found = module.search(*arguments(np.zeros((3, 4)), np.zeros((3, 4, 2)), ["a", "b"], Rules(leaf=["b"]), None))
        assert isinstance(found, Found)
        assert found.heads.tolist() == decode(np.zeros((3, 4))).tolist() and found.labels.tolist() == [0, 0, 0]
