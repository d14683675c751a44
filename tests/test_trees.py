"""tree_weight(), count_roots(), is_tree(), is_projective(), cycles."""

from itertools import product

import numpy as np
import pytest

from generators import NO_NUMBERS, has_crossing_arcs, random_tree, reaches_root, weights_of_all_trees
from spacy_mindroot import count_roots, decode, errors, is_projective, is_tree, tree_weight
from spacy_mindroot.trees import exact_sum, find_cycles, nonprojective_arcs, shown_cycle, to_heads


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


def test_weight_near_the_largest_double():
    """Infinite only if the sum is, in whatever order the scores come."""
    large = 1.7e308
    assert tree_weight(np.full((3, 4), large), [0, 1, 1]) == np.inf
    assert tree_weight(np.full((3, 4), -large), [0, 1, 1]) == -np.inf
    for column in ([large, large, -large], [large, -large, large], [-large, large, large]):
        assert tree_weight(np.tile(np.array(column)[:, np.newaxis], 4), [0, 1, 1]) == large
    for column in ([-np.inf, large, large], [large, large, -np.inf], [large, -np.inf, large]):
        assert exact_sum(column) == -np.inf


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


@pytest.mark.parametrize("heads", [[0.0, 1.0], [[0, 1]], ["0"], 3, *NO_NUMBERS])
def test_heads_are_a_list_of_ints(heads):
    for call in (is_tree, count_roots, is_projective, nonprojective_arcs, to_heads, lambda h: tree_weight([[0, 0]], h)):
        with pytest.raises(errors.HeadsError, match="1-D array of ints"):
            call(heads)


@pytest.mark.parametrize("scores", NO_NUMBERS)
def test_weight_under_what_are_no_scores(scores):
    with pytest.raises((errors.ScoresTypeError, errors.ScoresShapeError)):
        tree_weight(scores, [0, 1])


def test_one_root_or_any():
    assert is_tree([0, 1, 0]) and not is_tree([0, 1, 0], single_root=True) and is_tree([0, 1, 2], single_root=True)
    assert is_tree([], single_root=True) and is_tree([])


def test_cycles_of_all_heads():
    for n in range(5):
        for heads in product(range(-1, n + 2), repeat=n):
            cycles = find_cycles(heads)
            for cycle in cycles:
                assert [heads[token - 1] for token in cycle] == [*cycle[1:], cycle[0]] and cycle[0] == min(cycle)
            in_cycle = set()
            for token in range(1, n + 1):
                at = token
                for _ in range(n):
                    at = heads[at - 1] if 1 <= at <= n else 0
                    if at == token:
                        in_cycle.add(token)
            assert sorted(token for cycle in cycles for token in cycle) == sorted(in_cycle)


def test_a_long_cycle_is_not_shown_whole():
    assert shown_cycle([2]) == "2 -> 2"
    assert shown_cycle(range(1, 100)) == "1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> 10 -> ... -> 1"


def test_crossing_arcs_of_a_long_sentence_take_little_memory():
    n = 20_000
    chain = np.arange(n)
    assert is_projective(chain)
    star = np.ones(n, dtype=int)
    star[0] = 0
    assert is_projective(star)
    star[1] = n  # token 2 below the last token, across all others
    found = nonprojective_arcs(star)
    assert found.nonzero()[0].tolist() == [1]


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
