"""Accuracy of trees and comparison of parsers, against counting by hand."""

import csv

import numpy as np
import pytest

from spacy_mindroot import errors
from spacy_mindroot.accuracy import attachment_scores, compare_parsers, comparison_table, count_right


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


GOLD = [[2, 0, 2], [0], [2, 0, -1]]
PARSED = [[2, 0, 2], [0], [2, 0, 2]]
LABELS = [["nsubj", "root", "obj:x"], ["root"], ["det", "root", ""]]


def test_scores_of_a_corpus():
    heads = [[2, 0, 1], [0], [0, 0, 2]]
    assert attachment_scores(heads, GOLD) == {"uas": 4 / 6, "uem": 1 / 3, "root_acc": 2 / 3}
    labels = [["obj", "root", "obj:y"], ["root"], ["root", "root", "x"]]
    assert attachment_scores(iter(heads), GOLD, labels=labels, gold_labels=LABELS) == {
        "uas": 4 / 6, "las": 3 / 6, "las_universal": 3 / 6, "uem": 1 / 3, "lem": 1 / 3, "root_acc": 2 / 3,
    }  # fmt: skip
    assert attachment_scores([], []) == {} == compare_parsers([], [], [])


def test_a_comparison_is_that_of_the_two_scores(rng):
    gold = [[2, 0, 2, 3]] * 60
    one, other = ([tree if rng.random() < share else [2, 0, 1, 1] for tree in gold] for share in (0.3, 0.8))
    found = compare_parsers(one, other, gold)
    for trees, of in ((one, "before"), (other, "after")):
        assert {name: getattr(own, of) for name, own in found.items()} == attachment_scores(trees, gold)
    uas = found["uas"]
    assert uas.difference == pytest.approx(uas.after - uas.before)
    assert uas.interval[0] < uas.difference < uas.interval[1] and uas.interval[0] > 0
    changes = [(b[2] == 2) - (a[2] == 2) for a, b in zip(one, other, strict=True)]
    assert (uas.better, uas.worse) == (changes.count(1), changes.count(-1))
    swapped = compare_parsers(other, one, gold)["uas"]
    assert swapped.interval == (-uas.interval[1], -uas.interval[0]) and swapped.better == uas.worse
    assert compare_parsers(one, other, gold, seed=1)["uas"].interval != uas.interval
    same = compare_parsers(one, one, gold)["uas"]
    assert same.interval == (0, 0) and same.better == same.worse == 0


def test_tables():
    found = compare_parsers(PARSED, [[2, 0, 1], [0], [2, 0, 2]], GOLD, labels=(LABELS, LABELS), gold_labels=LABELS)
    rows = list(csv.DictReader(comparison_table(found, "csv", names=("a", "b")).splitlines()))
    assert [row["measure"] for row in rows] == ["uas", "las", "las_universal", "uem", "lem", "root_acc"]
    assert float(rows[0]["b"]) == 5 / 6 and float(rows[0]["low"]) <= float(rows[0]["difference"])
    latex = comparison_table(found, names=("A_1 & co", "100 %"))
    assert r" & A\_1 \& co & 100 \% & difference [95 \% interval]" in latex
    assert r"UAS & 100.00 & 83.33 & $-$16.67 [" in latex
    with pytest.raises(errors.MindRootError, match="form"):
        comparison_table(found, "html")


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"heads": [[2, 0]]}, errors.HeadsError, "sentences"),
        ({"heads": [[2, 0], [0], [2, 0, 2]]}, errors.HeadsError, "sentence 0 has heads of"),
        ({"heads": GOLD}, errors.HeadsError, "dependent 3 is -1"),
        ({"labels": LABELS}, errors.LabelsError, "together"),
        ({"labels": [["a"], ["b"], ["c"]], "gold_labels": LABELS}, errors.LabelsError, "labels is for 1"),
    ],
)
def test_what_does_not_fit(arguments, error, says):
    with pytest.raises(error, match=says):
        attachment_scores(**{"heads": PARSED, "gold_heads": GOLD, **arguments})
    with pytest.raises(errors.LabelsError, match="pair"):
        compare_parsers(PARSED, PARSED, GOLD, labels=[LABELS], gold_labels=LABELS)


def test_a_sentence_without_gold_heads_counts_for_nothing():
    scores = attachment_scores([[2, 0], [2, 0], []], [[2, 1], [-1, -1], []])
    assert scores["uem"] == 0 and scores["uas"] == 0.5
    with pytest.raises(errors.HeadsError, match="sentence 1 has heads of 1 tokens, and gold heads of 2"):
        attachment_scores([[2, 0], [0]], [[2, 0], [2, 0]])


def test_only_numbers_have_the_signs_of_mathematics():
    found = compare_parsers([[2, 0]] * 3, [[2, 0]] * 3, [[2, 0]] * 3)
    latex = comparison_table(found, names=("graph-based", "a<b"))
    assert r" & graph-based & a\textless{}b & " in latex and "$+$0.00 [" in latex
