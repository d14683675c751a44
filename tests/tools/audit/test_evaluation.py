"""Counting what is right in a tree, against counting by hand."""

import numpy as np
import pytest

from spacy_mindroot.tools.audit.evaluation import count_right


@pytest.mark.parametrize(
    ("heads", "labels", "expected"),
    [
        ([2, 0, 2], ["nsubj", "root", "obj:x"], (3, 3, 3, 3, 1, 1, 1, 1)),
        ([2, 0, 2], ["nsubj", "root", "obj"], (3, 3, 2, 3, 1, 0, 1, 1)),  # right but for the subtype
        ([2, 0, 2], ["obj", "root", "obj:x"], (3, 3, 2, 2, 1, 0, 1, 1)),
        ([3, 0, 2], ["nsubj", "root", "obj:x"], (3, 2, 2, 2, 0, 0, 1, 1)),
        ([0, 0, 2], ["root", "root", "obj:x"], (3, 2, 2, 2, 0, 0, 1, 0)),  # a second root
        ([0, 1, 2], ["root", "x", "obj:x"], (3, 1, 1, 1, 0, 0, 1, 0)),  # another root
    ],
)
def test_what_is_right(heads, labels, expected):
    gold = np.array([2, 0, 2]), ["nsubj", "root", "obj:x"]
    assert tuple(count_right(np.array(heads), gold[0], labels, gold[1])) == expected


def test_unknown_heads_do_not_count():
    right = count_right(np.array([2, 0, 2]), np.array([-1, 0, 1]), ["a", "root", "b"], ["a", "root", "b"])
    assert (right.tokens, right.heads, right.labelled, right.tree, right.root) == (2, 1, 1, 0, 1)
    assert count_right(np.array([2, 0]), np.array([2, -1]), ["a", "root"], ["a", ""]).has_root == 0


def test_without_labels_heads_count_alone():
    right = count_right(np.array([2, 0, 2]), np.array([2, 0, 1]))
    assert (right.tokens, right.heads, right.labelled, right.universal, right.root) == (3, 2, 0, 0, 1)
    assert count_right(np.array([0]), np.array([0]), ["root"], None).labelled == 0
