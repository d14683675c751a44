"""tree_weight(), count_roots(), is_tree(), is_projective()."""

from itertools import product

import numpy as np
import pytest

from generators import has_crossing_arcs, random_tree, reaches_root, weights_of_all_trees
from spacy_mindroot import count_roots, decode, errors, is_projective, is_tree, tree_weight
from spacy_mindroot.trees import nonprojective_arcs


@pytest.mark.parametrize("n", range(6))
def test_is_tree_for_all_heads(n):
    for heads in product(range(-1, n + 2), repeat=n):
        in_range = all(0 <= head <= n for head in heads)
        assert is_tree(heads) == (in_range and reaches_root(heads)), heads


def test_is_tree_of_long_chains_and_cycles():
    chain = np.arange(5000)
    assert is_tree(chain)
    assert is_tree(np.append(np.arange(2, 5001), 0))
    chain[0] = 5000
    assert not is_tree(chain)


def test_heads_far_out_of_range_make_no_tree():
    assert not is_tree([2**32])
    assert not is_tree([0, -(2**40)])


def test_count_roots():
    assert [count_roots(heads) for heads in ([], [0], [2, 0], [0, 0, 1], [2, 1])] == [0, 1, 1, 2, 0]


def test_tree_weight(rng):
    scores = rng.normal(size=(4, 5))
    heads = decode(scores)
    assert tree_weight(scores, heads) == pytest.approx(scores[np.arange(4), heads].sum())
    square = np.vstack([np.zeros(5), scores])
    assert tree_weight(square.T, heads, layout="square_transposed") == tree_weight(scores, heads)
    assert tree_weight([[-np.inf, 0.0]], [0]) == -np.inf
    assert tree_weight([], []) == 0


def test_tree_weight_is_rounded_once():
    assert tree_weight([[1e16, 0, 0, 0], [0, 1, 0, 0], [0, -1e16, 0, 0]], [0, 1, 1]) == 1
    assert tree_weight(np.full((3, 4), 1.7e308), [0, 1, 1]) == np.inf


@pytest.mark.parametrize(
    ("heads", "says"),
    [
        ([0, 4, 1], "dependent 2 is 4"),
        ([0, 2, 1], "dependent 2 is 2"),
        ([0, 1, -1], "dependent 3 is -1"),
        ([0, 1], "2 heads .* 3 tokens"),
    ],
)
def test_weight_of_heads_out_of_range(heads, says):
    with pytest.raises(errors.HeadsError, match=says):
        tree_weight(np.zeros((3, 4)), heads)


@pytest.mark.parametrize("heads", [[0.0, 1.0], [[0, 1]], ["0"], 3])
def test_heads_are_a_list_of_ints(heads):
    for call in (is_tree, count_roots):
        with pytest.raises(errors.HeadsError, match="1-D array of ints"):
            call(heads)


def test_projectivity_is_the_absence_of_crossing_arcs():
    for n in range(1, 6):
        for heads in weights_of_all_trees(np.zeros((n, n + 1)), single_root=False)[0].tolist():
            assert is_projective(heads) == (not has_crossing_arcs(heads))
    assert is_projective([])
    for heads in ([2, 1], [1], [5, 0], [-1]):
        with pytest.raises(errors.HeadsError):
            is_projective(heads)


def test_nonprojective_arcs_against_the_definition(rng):
    for n in (1, 2, 5, 12):
        for _ in range(40):
            heads = random_tree(n, rng)
            if n > 2 and rng.random() < 0.3:  # a second root
                heads[rng.choice(np.flatnonzero(heads))] = 0
            expected = []
            for dependent, head in enumerate(heads.tolist(), 1):
                crossed = False
                for between in range(min(dependent, head) + 1, max(dependent, head)):
                    at = between
                    while at not in (0, head):
                        at = heads[at - 1]
                    crossed |= at != head
                expected.append(crossed and head != 0)
            assert nonprojective_arcs(heads).tolist() == expected


def test_nonprojective_arcs_are_those_of_a_tree():
    with pytest.raises(errors.HeadsError, match="form none"):
        nonprojective_arcs([2, 1])
