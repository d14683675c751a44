"""Equally good trees: which of them is returned is fixed, whatever the layout and the width of the vectors."""

import numpy as np
import pytest

from spacy_mindroot.core import _core

LENGTHS = [3, 4, 9, 16, 17, 40]  # shorter and longer than any vector


def decode(scores, single_root=True, projective=False):
    heads = np.zeros(len(scores), np.int32)
    assert _core.decode(scores, heads, single_root, projective) is None
    return heads.tolist()


def everywhere(scores):
    """The matrix in both types and in two layouts."""
    for dtype in (np.float32, np.float64):
        yield scores.astype(dtype)
        yield np.asfortranarray(scores.astype(dtype))


def with_cycle(n):
    """Tokens 1 and 2 prefer each other, tokens from 3 on are attached to ROOT or the token before."""
    scores = np.full((n, n + 1), -9.0)
    scores[0, 2] = scores[1, 1] = 5
    scores[2, 0] = 5
    scores[np.arange(3, n), np.arange(3, n)] = 5
    return scores


@pytest.mark.parametrize("n", LENGTHS)
def test_root_comes_before_tokens_as_the_head_of_a_contracted_node(n):
    scores = with_cycle(n)
    scores[0, [0, 3]] = 0
    for matrix in everywhere(scores):
        assert decode(matrix, single_root=False)[:3] == [0, 1, 0]


@pytest.mark.parametrize("n", LENGTHS)
def test_an_arc_enters_the_member_of_a_cycle_that_was_reached_last(n):
    scores = with_cycle(n)
    scores[:2, 3] = 0
    for matrix in everywhere(scores):
        assert decode(matrix)[:3] == [2, 3, 0]


@pytest.mark.parametrize("n", LENGTHS)
def test_so_does_a_root_arc(n):
    scores = with_cycle(n)
    scores[:2, 0] = 0
    for matrix in everywhere(scores):
        assert decode(matrix, single_root=False)[:3] == [2, 0, 0]


@pytest.mark.parametrize("n", LENGTHS)
def test_the_first_of_equally_cheap_swaps(n):
    for matrix in everywhere(np.zeros((n, n + 1))):
        assert decode(matrix) == [2, 0, *[1] * (n - 2)]


def test_a_root_arc_that_was_swapped_does_not_come_back():
    """Tokens 3 and 4 give up their root arc first. Later, an equally good swap forms a cycle of them and token 2."""
    scores = np.full((5, 6), -50.0)
    scores[:, 0] = [10, 10, 10, 5, 10]
    scores[2, 4] = scores[3, 3] = 20
    scores[0, 2] = 9.5  # gives up its root arc before the others do: then the node of 3 and 4 comes first
    scores[1, 3] = scores[2, 2] = 9
    scores[4, 1] = 7
    for matrix in everywhere(scores):
        assert decode(matrix, single_root=False) == [0, 0, 0, 3, 0]
        assert decode(matrix) == [2, 0, 2, 3, 1]


def trees(scores, k, single_root=True):
    found = np.frombuffer(_core.k_best(scores, k, single_root), dtype=np.int32)
    return found.reshape(-1, len(scores)).tolist()


def test_order_of_equally_good_trees():
    for matrix in everywhere(np.zeros((3, 4))):
        assert trees(matrix, 99) == [
            *([2, 0, 1], [2, 0, 2], [3, 0, 2], [0, 1, 1], [3, 1, 0], [2, 3, 0], [0, 3, 1], [3, 3, 0], [0, 1, 2]),
        ]
    for matrix in everywhere(np.zeros((2, 3))):
        assert trees(matrix, 99, single_root=False) == [[0, 0], [0, 1], [2, 0]]


@pytest.mark.parametrize("n", LENGTHS)
def test_the_lowest_head_of_a_token(n):
    """ROOT for all, or token 1 for all but itself, which depends on the last one. Such a projective tree is kept."""
    scores = np.zeros((n, n + 1))
    for matrix in everywhere(scores):
        assert decode(matrix, single_root=False) == decode(matrix, single_root=False, projective=True) == [0] * n
    scores[:, 0] = scores[[0, -1]] = -1
    scores[0, n] = scores[-1, 0] = 0
    for matrix in everywhere(scores):
        assert decode(matrix) == decode(matrix, projective=True) == [n, *[1] * (n - 2), 0]


@pytest.mark.parametrize("n", LENGTHS)
def test_the_lowest_root_and_the_lowest_splits_of_projective_trees(n):
    for matrix in everywhere(np.zeros((n, n + 1))):
        assert decode(matrix, projective=True) == list(range(n))
