"""vote_heads() and vote_labels() combine several parses into one tree."""

from itertools import product

import numpy as np
import pytest

from generators import all_trees, random_tree, uas
from spacy_mindroot import decode_batch, errors, is_tree, vote_heads
from spacy_mindroot.score_file import read_score_file
from spacy_mindroot.voting import arc_votes, vote_labels


@pytest.mark.parametrize("weights", [None, [1, 1, 1], [0.3, 2, 1.1]])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_most_votes_and_then_most_of_the_first(n, weights, rng):
    trees, single = all_trees(n)
    trees = trees[single]
    for _ in range(60):
        parses = [rng.integers(0, n + 1, n) if rng.random() < 0.3 else random_tree(n, rng) for _ in range(3)]
        votes = sum(w * (trees == parse).sum(axis=1) for parse, w in zip(parses, weights or [1, 1, 1], strict=True))
        best = np.isclose(votes, votes.max())
        like_first = (trees == parses[0]).sum(axis=1)
        heads = vote_heads(parses, weights)
        won = (trees == heads).all(axis=1)
        assert best[won].all() and won.sum() == 1
        assert like_first[won] == like_first[best].max()


def test_shortcuts_agree_with_the_matrix(rng):
    """A majority for each token that makes a tree with one root is the answer, however long the sentence."""
    tree = random_tree(40_000, rng)
    other = tree.copy()
    other[5:20] = 0
    assert vote_heads([other, tree, tree]).tolist() == tree.tolist()
    assert vote_heads([tree, tree]).tolist() == tree.tolist()
    with pytest.raises(errors.NotEnoughMemoryError, match="40,000 tokens"):
        vote_heads([other, tree])


def test_no_votes_for_what_is_no_arc():
    assert arc_votes([[-1, 2, 9], [0, 1, 1]]).tolist() == [[0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0.5, 0, 0]]
    assert is_tree(vote_heads([[-1, 2, 9], [9, -1, 3]]))
    assert vote_heads([[], []]).tolist() == []


@pytest.mark.parametrize(
    ("labels", "weights", "voted"),
    [
        ([["root", "obj"], ["root", "iobj"], ["root", "iobj"]], None, ["root", "iobj"]),
        ([["root", "obj"], ["root", "iobj"], ["root", "iobj"]], [3, 1, 1], ["root", "obj"]),
        ([["root", "obj"], ["root", "iobj"], ["root", "_"]], None, ["root", "obj"]),
        ([["conj", "root"], ["_", ""], ["obj", "_"]], None, [None, None]),
    ],
)
def test_labels_by_vote(labels, weights, voted):
    assert vote_labels([0, 1], [[0, 1]] * 3, labels, weights) == voted


def test_equal_votes_go_to_the_earliest_however_they_are_rounded():
    """0.1 + 0.2 is not 0.3."""
    for a, b in product([k / 10 for k in range(1, 10)], repeat=2):
        own = [["root", "x"], ["root", "x"], ["root", "y"]]
        assert vote_labels([0, 1], [[0, 1]] * 3, own, [a, b, round(a + b, 1)]) == ["root", "x"]
        assert vote_labels([0, 1], [[0, 1]] * 3, own[::-1], [round(a + b, 1), a, b]) == ["root", "y"]


def test_only_those_who_have_the_arc_vote_for_its_label():
    assert vote_labels([0, 1], [[0, 1], [2, 0], [2, 0]], [["root", "a"], ["b", "root"], ["b", "root"]]) == ["root", "a"]


@pytest.mark.parametrize(
    ("parses", "weights", "says"),
    [
        ([], None, "no parses"),
        ([[0], [0, 1]], None, "parse 1 has 1 tokens, but parse 2 has 2"),
        ([[0], [0]], [1], "2 parses need as many weights"),
        ([[0], [0]], [1, 0], "positive and finite"),
        ([[0], [0]], [1, float("nan")], "positive and finite"),
        ([[0], [0]], [1, None], "positive and finite"),
        ([[0], [0]], ["a", 1], "positive and finite"),
        ([[0], [0]], 3, "positive and finite"),
    ],
)
def test_input_that_makes_no_sense(parses, weights, says):
    with pytest.raises(errors.MindRootError, match=says):
        vote_heads(parses, weights)


@pytest.mark.parametrize("scale", [1e308, 1e-300, 5e-324])
def test_only_the_ratios_of_weights_matter(scale):
    parses = [[2, 0, 2], [0, 1, 2], [0, 1, 1]]
    assert vote_heads(parses, [scale, scale, scale]).tolist() == vote_heads(parses).tolist()
    assert np.allclose(arc_votes(parses, [scale] * 3), arc_votes(parses))
    assert vote_labels([0], [[0], [0]], [["root"], ["root:x"]], [1e308, 1.5e308]) == ["root:x"]


@pytest.mark.parametrize(
    ("heads", "labels", "says"),
    [
        ([0, 1], [["root", "x"]], "2 parses need as many lists of labels; found 1"),
        ([0, 1], [["root", "x"], ["root"]], "labels 2 is for 1"),
        ([0], [["root", "x"], ["root", "x"]], "the tree is for 1"),
    ],
)
def test_labels_that_do_not_fit(heads, labels, says):
    with pytest.raises(errors.VoteError, match=says):
        vote_labels(heads, [[0, 1], [0, 1]], labels)


def test_three_parsers_are_better_than_one_on_average(data):
    files = [data / "scores" / "Kurmanji-MG.npz", *sorted((data / "scores" / "seeds").glob("Kurmanji-MG.*.npz"))]
    files = [read_score_file(file) for file in files]
    assert len(files) == 3
    gold = [sentence.gold_heads for sentence in files[0]]
    parses = [decode_batch([sentence.scores for sentence in file]) for file in files]
    voted = [vote_heads(sentence) for sentence in zip(*parses, strict=True)]
    mean = np.mean([uas(heads, gold) for heads in parses])
    assert uas(voted, gold) > mean + 0.01
