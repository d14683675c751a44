"""One tree of what a model has said, and the names of all changes."""

import numpy as np
import pytest

from generators import all_trees, reaches_root
from spacy_mindroot import decode, is_tree
from spacy_mindroot.answers import decode_answer, read_answer
from spacy_mindroot.trees import tree_weight

WORDS = ["They", "left", "early", "."]


def decoded(given, labels=(), **options):
    return decode_answer(read_answer(given, WORDS, labels), WORDS, **options)


@pytest.mark.parametrize(
    ("heads", "tree", "kinds"),
    [
        ([2, 0, 2, 2], [2, 0, 2, 2], []),
        ([0, 0, 2, 2], [2, 0, 2, 2], ["extra root"]),
        ([2, 3, 2, 2], [2, 0, 2, 2], ["no root"]),
        ([2, 2, 2, 2], [2, 0, 2, 2], ["no root"]),
        ([1, 0, 2, 2], [2, 0, 2, 2], ["self loop"]),
        ([3, 0, 1, 2], [2, 0, 1, 2], ["cycle"]),
        ([2, 0, 2, 9], [2, 0, 2, 2], ["out of range"]),
        ([2, 0, -3, 2], [2, 0, 2, 2], ["out of range"]),
        ([2, 0, None, 2], [2, 0, 2, 2], ["no head"]),
        ([2, 0, "x", 2], [2, 0, 2, 2], ["no head"]),
    ],
)
def test_each_kind_of_fault_becomes_a_tree_and_is_named(heads, tree, kinds):
    found = decoded({"heads": heads})
    assert found.heads == tree and [fault.kind for fault in found.faults] == kinds
    assert found.labels.index("root") == tree.index(0) and found.labels.count("root") == 1


def test_labels_of_a_repaired_tree():
    found = decoded({"heads": [2, 0, 0, 0], "deprels": ["nsubj", "root", "root", "made up"]}, ["nsubj", "root"])
    assert found.heads == [2, 0, 2, 2] and found.labels == ["nsubj", "root", "dep", "punct"]
    assert [(fault.kind, fault.word) for fault in found.faults] == [
        *(("unknown label", 4), ("extra root", 3), ("extra root", 4), ("label", 3), ("label", 4))
    ]


def test_no_answer_is_no_tree():
    found = decoded("I can't.")
    assert found.heads is None and found.labels == ["_"] * 4 and found.faults[0].kind == "no answer"


def test_samples_vote():
    given = {"heads": [[2, 0, 2, 2], [2, 0, 2, 3], [3, 0, 2, 3]], "deprels": [["a", "root", "b", "punct"]] * 3}
    found = decoded(given)
    assert found.heads == [2, 0, 2, 3] and found.labels == ["a", "root", "b", "punct"] and found.faults == []
    assert found.sentence.scores[3] == pytest.approx([0, 0, 1 / 3, 2 / 3, 0]) and not found.is_probability
    assert found.sentence.labels(np.array(found.heads)) == found.labels
    found = decoded({"heads": [[2, 0, 2, 2], [2, 3, 2, 2], [0, 0, 0, 0]]})
    assert found.heads == [2, 0, 2, 2]
    assert [fault.what.partition(":")[0] for fault in found.faults] == ["sample 2", *["sample 3"] * 3]


def test_log_probabilities_give_the_most_probable_tree(rng):
    trees, single = all_trees(4)
    for _ in range(30):
        given = {"heads": [{str(h): -float(rng.exponential(2)) for h in rng.integers(0, 5, 3)} for _ in WORDS]}
        found = decoded(given)
        best = max(tree_weight(found.sentence.scores, tree) for tree in trees[single])
        assert tree_weight(found.sentence.scores, found.heads) == pytest.approx(best)
        assert is_tree(found.heads, single_root=True) and found.is_probability


def test_labels_by_log_probabilities():
    labels = [{"root": -0.1, "nsubj": -2.0, "obj": -3.0}, {"root": -0.1, "obj": -0.05}, {"root": -0.2}, "punct"]
    found = decoded({"heads": [{"2": -0.1}, {"0": -0.1}, {"2": -0.1}, {"2": -0.1}], "deprels": labels})
    assert found.labels == ["nsubj", "root", "dep", "punct"]


def test_trees_without_crossing_arcs():
    crossing = {"heads": [{"3": -0.1, "2": -1}, {"4": -0.1, "3": -1}, {"0": -0.1}, {"3": -0.1}]}
    assert decoded(crossing).heads == [3, 4, 0, 3]
    assert (
        decoded(crossing, projective=True).heads == decode(decoded(crossing).sentence.scores, projective=True).tolist()
    )
    assert decoded(crossing, projective=True).heads == [3, 3, 0, 3]
    votes = {"heads": [[3, 4, 0, 3]] * 2 + [[3, 3, 0, 3]]}
    assert decoded(votes).heads == [3, 4, 0, 3]
    assert reaches_root(decoded(votes, projective=True).heads) and decoded(votes, projective=True).heads[:2] != [3, 4]


def test_anything_at_all_is_a_tree_or_no_answer(rng):
    """Random JSON."""

    def anything(depth=0):
        kind = int(rng.integers(8 if depth < 3 else 5))
        if kind > 5:
            return [anything(depth + 1) for _ in range(rng.integers(6))]
        if kind == 5:
            names = ["heads", "words", "deprels", "tokens", "answers", "form", "head", "id", "2", "token", "logprob"]
            return {str(rng.choice(names)): anything(depth + 1) for _ in range(rng.integers(5))}
        return [int(rng.integers(-2, 7)), str(rng.integers(7)), None, float(rng.normal()), "They"][kind]

    trees = 0
    for _ in range(3000):
        given = anything()
        found = decoded(given if rng.random() < 0.5 else {"heads": given})
        assert found.heads is None or is_tree(found.heads, single_root=True)
        assert len(found.labels) == 4 and all(found.labels)
        trees += found.heads is not None
    assert trees > 10
