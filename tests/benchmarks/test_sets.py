"""The benchmark of sets at a small size: its figures are what they say."""

import numpy as np
import pytest

from benchmarks.sets import Scored, few, halves, kinds, tree_sets_of


def test_halves_of_a_score_file(sure_file):
    tokens, trees, size, one, _ = halves(Scored(sure_file), 2, 0.9)
    assert 80 < tokens <= 100 and 75 < trees <= 100 and size > 0 and 0 <= one < 100
    assert halves(Scored(sure_file), 2, 0.5)[2] < size


def test_sets_of_trees():
    p = [np.array([[0.6, 0, 0.4], [0.4, 0.6, 0]])] * 2
    heads, gold = [np.array([0, 1])] * 2, [np.array([0, 1]), np.array([2, 0])]
    assert tree_sets_of(p, heads, gold, 1.2) == (50, 0, 100, 50)
    *figures, right = tree_sets_of(p, heads, gold, 0.6)
    assert figures == [100, pytest.approx(np.log10(2), abs=0.01), 0] and np.isnan(right)


def test_few_sentences(sure_file):
    scored = Scored(sure_file)
    found = few([scored], 20, 6)
    assert found.sentences == 20 and 80 < found.plain <= found.heads <= 100 and found.heads_low <= found.plain_low
    assert found.deviation > 0 and 60 < found.trees <= 100
    assert few([scored], 41, 1) is None
    assert few([scored, Scored(sure_file)], 20, 6) == found  # the best of two that are the same


def test_other_kinds_of_sentences(sure_file):
    found = dict(kinds(Scored(sure_file)))
    assert list(found) == ["short to long", "long to short", "first to last", "last to first"]
    assert found["short to long"].trees < found["long to short"].trees
