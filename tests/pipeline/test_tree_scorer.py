"""spacy-mindroot.tree_scorer.v1: what `spacy evaluate` reports of trees."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mindroot.pipeline.tree_scorer import SCORES

VOCAB = spacy.blank("xx").vocab


def doc(words, heads=None, deps=None, **kwargs):
    return Doc(VOCAB, words=list(words), heads=heads, deps=deps, **kwargs)


def score(predicted, reference, **settings):
    scorer = spacy.registry.scorers.get("spacy-mindroot.tree_scorer.v1")(**settings)
    return scorer([Example(predicted, reference)])


GOLD = doc("abcde", [1, 1, 1, 4, 4], ["nsubj", "ROOT", "punct", "amod", "ROOT"])


def test_perfect():
    scores = score(GOLD.copy(), GOLD)
    assert all(scores[name] == 1 for name in SCORES if name != "dep_las_per_type")
    assert scores["sents_f"] == 1
    assert scores["dep_las_per_type"]["nsubj"] == {"p": 1, "r": 1, "f": 1}


def test_heads_labels_and_exact_matches():
    own = doc("abcde", [1, 1, 0, 4, 4], ["obj", "ROOT", "punct", "amod", "ROOT"])
    scores = score(own, GOLD)
    assert scores["dep_uas"] == pytest.approx(4 / 5)
    assert scores["dep_las"] == pytest.approx(3 / 5)
    assert (scores["dep_uem"], scores["dep_lem"]) == (1 / 2, 1 / 2)
    assert scores["root_acc"] == scores["single_root"] == 1
    assert scores["dep_las_per_type"]["nsubj"] == {"p": 0, "r": 0, "f": 0}
    assert scores["dep_las_per_type"]["amod"]["f"] == 1


def test_a_second_root_counts_against_the_sentence_of_the_reference():
    """spaCy has split the sentence there, so by its own boundaries each part has one root."""
    own = doc("abcde", [1, 1, 2, 4, 4], ["nsubj", "ROOT", "ROOT", "amod", "ROOT"])
    scores = score(own, GOLD)
    assert scores["single_root"] == scores["root_acc"] == 1 / 2
    assert scores["sents_f"] < 1


def test_punctuation_is_told_by_the_gold_label():
    own = doc("abcde", [1, 1, 0, 4, 4], ["nsubj", "ROOT", "dep", "amod", "ROOT"])
    assert score(own, GOLD)["dep_uas"] == pytest.approx(4 / 5)
    ignoring = score(own, GOLD, ignore_punct=True)
    assert ignoring["dep_uas"] == ignoring["dep_las"] == ignoring["dep_lem"] == 1
    assert "punct" not in ignoring["dep_las_per_type"]
    hidden = doc("abcde", [1, 1, 1, 4, 4], ["punct", "ROOT", "punct", "punct", "ROOT"])
    assert score(hidden, GOLD, ignore_punct=True)["dep_las"] == pytest.approx(2 / 4)


def test_the_label_of_root_is_right_in_any_case():
    own = doc("abcde", [1, 1, 1, 4, 4], ["nsubj", "root", "punct", "amod", "ROOT"])
    assert score(own, GOLD)["dep_las"] == 1


def test_other_tokens_than_the_gold_ones():
    own = doc(["a", "b", "c", "d", "e"][:3] + ["de"], [1, 1, 1, 3], ["nsubj", "ROOT", "punct", "ROOT"])
    scores = score(own, GOLD)
    assert scores["dep_uas"] == pytest.approx(2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))
    assert scores["dep_las"] == scores["dep_las_universal"] == scores["dep_uas"]
    assert scores["dep_uem"] == 1 / 2


def test_tokens_without_gold_heads_are_left_out():
    partial = doc("abcd", [1, 1, 2, 1], ["x", "ROOT", "", "x"], sent_starts=[True, False, False, False])
    own = doc("abcd", [1, 1, 1, 1], ["x", "ROOT", "y", "x"])
    scores = score(own, partial)
    assert scores["dep_uas"] == scores["dep_las"] == scores["dep_uem"] == scores["root_acc"] == 1


def test_white_space_that_the_reference_has_not():
    own = doc(["a", " ", "b", "c"], [2, 0, 2, 2], ["x", "dep", "ROOT", "x"])
    assert score(own, doc("abc", [1, 1, 1], ["x", "ROOT", "x"]))["dep_uas"] == 1


def test_a_root_of_other_tokens_is_a_root():
    gold = doc(["gi", "ve", "it"], [0, 0, 0], ["ROOT", "x", "obj"])
    scores = score(doc(["give", "it"], [0, 0], ["ROOT", "obj"]), gold)
    assert (scores["single_root"], scores["root_acc"]) == (1, 0)


def test_no_trees_to_compare_with():
    scores = score(GOLD.copy(), doc("abcde"))
    assert all(scores[name] is None for name in SCORES)


def test_a_prediction_without_a_tree_scores_nothing():
    scores = score(doc("abcde"), GOLD)
    assert scores["dep_uas"] == scores["dep_las"] == scores["dep_lem"] == 0


def test_a_malformed_tree_hides_behind_uas():
    gold = doc("abcd", [1, 1, 1, 2], ["x", "ROOT", "x", "x"])
    own = doc("abcd", [1, 1, 2, 2], ["x", "ROOT", "ROOT", "x"])
    scores = score(own, gold)
    assert scores["dep_uas"] == 0.75
    assert scores["sents_f"] == scores["dep_uem"] == scores["single_root"] == 0


def test_subtypes_count_in_las_and_not_in_universal_las():
    gold = doc("abc", [1, 1, 1], ["nmod:poss", "ROOT", "obl"])
    own = doc("abc", [1, 1, 1], ["nmod", "ROOT", "obl:arg"])
    scores = score(own, gold)
    assert (scores["dep_las"], scores["dep_las_universal"]) == (pytest.approx(1 / 3), 1)
    wrong_head = doc("abc", [2, 1, 1], ["nmod:poss", "ROOT", "obj"])
    scores = score(wrong_head, gold)
    assert scores["dep_las"] == scores["dep_las_universal"] == pytest.approx(1 / 3)
