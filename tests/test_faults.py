"""decoding_error(): each fault of the core becomes an error of its own class, which says where and what to do."""

import numpy as np
import pytest

from spacy_mindroot import errors
from spacy_mindroot.constraints import Constraints
from spacy_mindroot.core.fault import Fault
from spacy_mindroot.faults import decoding_error, in_batch

SCORES = np.zeros((3, 4))
NAN, INF, NO_ROOT = SCORES.copy(), SCORES.copy(), SCORES.copy()
NAN[1, 0] = np.nan
INF[1, 0] = np.inf
NO_ROOT[:, 0] = -np.inf


@pytest.mark.parametrize(
    ("kind", "scores", "error", "says"),
    [
        ("not_finite", NAN, errors.InvalidScoreError, "head 0 (ROOT) for dependent 2 is NaN"),
        ("not_finite", INF, errors.InvalidScoreError, "is +inf"),
        ("no_head", SCORES, errors.NoHeadError, "no head is allowed for dependent 2"),
        ("no_head", NO_ROOT, errors.NoRootError, "all arcs from ROOT are -inf"),
        ("no_arborescence", NO_ROOT, errors.NoRootError, "all arcs from ROOT are -inf"),
        ("no_arborescence", SCORES, errors.NoTreeError, "leads from ROOT to dependent 2"),
        ("no_projective", SCORES, errors.NoTreeError, "projective=False"),
        ("no_memory", SCORES, errors.NotEnoughMemoryError, "144 bytes"),
    ],
)
def test_each_fault(kind, scores, error, says):
    found = decoding_error(Fault(kind, 5, 2, 0), scores, where="here")
    assert type(found) is error and str(found).startswith("here: ") and says in str(found)
    assert found.sentence == 5
    assert (found.dependent, found.head) == ((0, 0) if error is errors.NoRootError else (2, 0))


def test_two_tokens_that_no_root_has_both_of():
    found = decoding_error(Fault("no_single_root", 0, 1, 3), SCORES, words=["a", "b", "c"])
    assert type(found) is errors.NoTreeError
    for part in ("sentence of 3 tokens", "dependents 1 ('a') and 3 ('c')", "single root", "single_root=False"):
        assert part in str(found)


def test_words_are_named_alongside_their_numbers():
    assert "dependent 2 ('b')" in str(decoding_error(Fault("no_head", 0, 2, 0), SCORES, words=["a", "b", "c"]))


@pytest.mark.parametrize("projective", [False, True])
def test_constraints_are_to_blame_only_where_there_is_a_tree_without_them(projective):
    constraints = Constraints([(1, 2), (2, 1)], [])
    fault = Fault("no_arborescence", 7, 1, 0)
    found = decoding_error(fault, SCORES, constraints, projective=projective)
    assert type(found) is errors.ConflictError and found.required == [(1, 2), (2, 1)] and found.sentence == 7
    found = decoding_error(fault, NO_ROOT, constraints, projective=projective)
    assert type(found) is errors.NoRootError and found.sentence == 7
    assert type(decoding_error(Fault("not_finite", 0, 2, 0), NAN, constraints)) is errors.InvalidScoreError


def test_a_conflict_of_many_arcs_is_not_told_whole():
    n = 30
    constraints = Constraints([], [(dependent, 0) for dependent in range(1, n + 1)])
    found = decoding_error(Fault("no_head", 0, 0, 0), np.zeros((n, n + 1)), constraints)
    assert len(found.forbidden) == n and "30 constraints in all" in str(found) and len(str(found)) < 1000


def test_sentences_of_a_batch_are_counted_from_one():
    assert in_batch(4) == "sentence 5 of the batch (index 4)"
