"""The kinds of rules, one by one: the tokens of a tree that break them."""

import math

import pytest

from spacy_mindroot.rules import UD, Forbidden, Leaf, Rules, Unique, Violation


def found(rules, heads, labels, pos=None):
    return [(violation.rule, violation.token) for violation in rules.violations(heads, labels, pos)]


def test_unique_counts_each_dependent_after_the_first():
    rules = Rules(unique=[["nsubj", "csubj"]])
    assert rules.violations([0, 1, 1, 1], ["root", "nsubj:pass", "csubj", "nsubj"]) == [
        Violation("unique-nsubj-csubj", 3, 1, math.inf),
        Violation("unique-nsubj-csubj", 4, 1, math.inf),
    ]
    assert found(rules, [0, 1, 2], ["root", "nsubj", "nsubj"]) == []


def test_subtypes_fold_into_their_type_unless_they_are_named():
    labels = ["root", "nsubj", "nsubj:outer", "nsubj:pass"]
    assert found(Rules(unique=["nsubj"]), [0, 1, 1, 1], labels) == [("unique-nsubj", 3), ("unique-nsubj", 4)]
    assert found(Rules(unique=["nsubj:pass"]), [0, 1, 1, 1], labels) == []
    outer = Unique(("nsubj",), excluding=("nsubj:outer",))
    assert found(Rules(unique=[outer]), [0, 1, 1, 1], labels) == [("unique-nsubj", 4)]


def test_leaf_counts_each_dependent_that_is_not_allowed():
    rules = Rules(leaf=[Leaf(("case",), allowed=("conj",))])
    assert found(rules, [0, 1, 2, 2, 1], ["root", "case", "conj:x", "obj", "obj"]) == [("leaf-case", 4)]


def test_direction_says_on_which_side_the_dependent_stands():
    rules = Rules(direction={"conj": "right", "case": "left", "root": "left"})
    assert found(rules, [3, 3, 0, 3, 3], ["conj", "case", "root", "conj", "case"]) == [
        ("direction-conj", 1),
        ("direction-case", 5),
    ]


def test_forbidden_matches_label_dependent_and_head():
    heads, labels, pos = [2, 0, 2, 2], ["det", "root", "det", "obj"], ["DET", "VERB", "NOUN", None]
    assert found(Rules(forbidden=[Forbidden(("det",), "a", pos_not=("DET",))]), heads, labels, pos) == [("a", 3)]
    assert found(Rules(forbidden=[Forbidden(("det",), "a", pos=("DET", "ADV"))]), heads, labels, pos) == [("a", 1)]
    assert found(Rules(forbidden=[Forbidden(("det",), "a", head_pos=("VERB",))]), heads, labels, pos) == [
        ("a", 1),
        ("a", 3),
    ]
    assert found(Rules(forbidden=[Forbidden(name="a", labels_not=("det", "root"))]), heads, labels) == [("a", 4)]


def test_an_unknown_part_of_speech_matches_nothing_except_that_no_token_is_root():
    heads, labels = [2, 0, 2], ["det", "root", "root"]
    for rule in (Forbidden(("det",), "a", pos=("X",)), Forbidden(("det",), "a", pos_not=("X",))):
        for pos in (None, [None] * 3, ["_"] * 3, [""] * 3):
            assert found(Rules(forbidden=[rule]), heads, labels, pos) == []
    assert found(UD.only(["root-is-not-0", "0-is-not-root"]), heads, labels) == [("root-is-not-0", 3)]
    assert found(UD.only(["root-is-not-0", "0-is-not-root"]), heads, ["det", "obj", "obj"]) == [("0-is-not-root", 2)]
    assert found(UD.only(["root-is-not-0", "0-is-not-root"]), heads, ["det", "ROOT", "obj"]) == []


@pytest.mark.parametrize("tag", ["$.", "NN", "Punct", "SPACE", "det", "_", "", None])
def test_tags_of_another_tagset_are_unknown_to_rules_about_universal_parts_of_speech(tag):
    def broken(rule):
        return bool(Rules(forbidden=[rule]).violations([2, 0], ["det", "root"], [tag, tag]))

    assert not broken(Forbidden(("det",), "a", pos_not=("DET",))) and not broken(Forbidden(("det",), "a", pos=("DET",)))
    assert not broken(Forbidden(("det",), "a", head_pos_not=("NOUN", "X")))
    assert broken(Forbidden(("det",), "a", pos_not=("ART",))) == (tag not in ("_", "", None)), "of that tagset"
    assert not UD.violations([2, 0], ["det", "root"], [tag, tag])
    assert UD.violations([2, 0], ["det", "root"], ["VERB", "NOUN"])


def test_punctuation_that_is_attached_across_another_subtree():
    heads, labels = [0, 4, 1, 1], ["root", "punct", "obj", "obj"]  # 3 lies between 2 and 4, and depends on 1
    assert found(Rules(planar=["punct"]), heads, labels) == [("planar-own-punct", 2)]


def test_punctuation_that_makes_another_arc_cross():
    heads, labels = [0, 4, 1, 1], ["root", "obj", "punct", "obj"]  # 3 lies between 2 and its head
    assert found(Rules(planar=["punct"]), heads, labels) == [("planar-other-punct", 3)]
    assert found(Rules(planar=["obj"]), heads, labels) == [("planar-own-obj", 2)]


def test_an_arc_over_the_head_of_punctuation_is_not_its_fault():
    """As in an object with a clause that follows the verb: arcs cross, but not because of the full stop."""
    heads, labels = [2, 0, 1, 2], ["obj", "root", "acl", "punct"]
    assert found(Rules(planar=["punct"]), heads, labels) == []
