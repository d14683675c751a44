"""The level of root scores in the audit of a parser that was trained with the root constraint."""

import numpy as np
import pytest

from spacy_mindroot import decode
from spacy_mindroot.inference import kbest
from spacy_mindroot.tools.audit.levels import with_one_root_expected


def expected_roots(scores):
    own = scores.astype(float)
    own[np.arange(len(own)), np.arange(len(own)) + 1] = -np.inf
    return (np.exp(own[:, 0]) / np.exp(own).sum(axis=1)).sum()


@pytest.mark.parametrize("n", [2, 3, 7, 40])
@pytest.mark.parametrize("level", [-30.0, 0.0, 5.0, 100.0])
def test_one_root_is_expected_and_single_rooted_trees_keep_their_order(n, level):
    scores = np.random.default_rng(n).normal(scale=3, size=(n, n + 1)).astype(np.float32)
    scores[-1, 1] = -np.inf if n > 2 else 0.0
    before = scores.copy()
    before[:, 0] += np.float32(level)
    found = with_one_root_expected(before)
    assert found.dtype == np.float32 and before is not found
    assert expected_roots(found) == pytest.approx(1, abs=1e-4)
    assert (found[:, 1:] == before[:, 1:]).all()
    assert np.ptp(found[:, 0] - scores[:, 0]) < 1e-4
    assert decode(found).tolist() == decode(scores).tolist()
    if n < 10:
        pairs = zip(kbest(found, 4), kbest(scores, 4), strict=True)
        assert all(ours.tolist() == theirs.tolist() for (ours, _), (theirs, _) in pairs)


def test_masked_roots_stay_masked_and_without_a_choice_nothing_changes():
    scores = np.zeros((3, 4), dtype=np.float32)
    scores[0, 0] = -np.inf
    found = with_one_root_expected(scores)
    assert found[0, 0] == -np.inf and expected_roots(found) == pytest.approx(1, abs=1e-4)
    alone = np.zeros((1, 2), dtype=np.float32)
    assert with_one_root_expected(alone) is alone  # its only head
    scores[:, 0] = -np.inf
    assert with_one_root_expected(scores) is scores
