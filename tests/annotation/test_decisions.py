"""Steps of an annotator, and what follows from them."""

import numpy as np
import pytest

from spacy_mindroot.annotation.decisions import DecisionError, Work, check_step, fold
from spacy_mindroot.trees import find_cycles


def arc(word, head, label="dep"):
    return {"do": "arc", "word": word, "head": head, "label": label}


def test_the_latest_decision_on_a_word_counts():
    assert fold([arc(1, 2), arc(1, 3, "obj")]).fixed == {1: (3, "obj")}


def test_a_second_root_frees_the_first():
    work = Work()
    assert work.fix(1, 0, "root") == []
    assert work.fix(3, 0, "root") == [1]
    assert work.fixed == {3: (0, "root")}


def test_a_cycle_frees_its_oldest_arc():
    work = fold([arc(2, 3), arc(1, 2)])
    assert work.fix(3, 1, "dep") == [2]
    assert set(work.fixed) == {1, 3}


def test_what_is_fixed_is_always_part_of_some_tree():
    """At most one root, and no cycle: random decisions, each of which is kept itself."""
    rng = np.random.default_rng(0)
    for n in range(2, 9):
        work = Work()
        for _ in range(60):
            word, head = (int(x) for x in (rng.integers(1, n + 1), rng.integers(0, n + 1)))
            if word == head:
                continue
            work.fix(word, head, "dep")
            assert work.fixed[word] == (head, "dep")
            heads = [work.fixed.get(k, (0, ""))[0] for k in range(1, n + 1)]
            assert [h for h, _ in work.fixed.values()].count(0) <= 1
            assert not list(find_cycles(heads))


def test_the_root_may_have_the_label_of_the_file():
    for label in ("pred", "root", "_"):
        assert check_step(arc(1, 0, label), 2, root="pred")["label"] == label
    for step in (arc(1, 0, "other"), arc(1, 2, "root")):
        with pytest.raises(DecisionError, match="label root"):
            check_step(step, 2, root="pred")


def test_cells_may_have_joiners():
    step = {"do": "cell", "word": 1, "column": "FORM", "value": "می\u200cروم"}
    assert check_step(step, 1) == step


def test_acceptance_ends_with_the_next_decision():
    accept = {"do": "accept", "heads": [2, 0], "labels": ["dep", "root"], "cells": [[1, "LEMMA", "a"]], "written": ""}
    work = fold([arc(1, 2), accept])
    assert work.accepted and work.tree == ([2, 0], ["dep", "root"]) and work.cells == {(1, 2): "a"}
    assert not fold([accept, arc(1, 2)]).accepted


def test_cells_marks_and_valid_trees():
    work = fold([
        {"do": "cell", "word": 1, "column": "LEMMA", "value": "be"},
        {"do": "intend", "word": 2, "rule": "too-many-objects", "on": True},
        {"do": "intend", "word": 3, "rule": "leaf-cc", "on": True},
        {"do": "intend", "word": 3, "rule": "leaf-cc", "on": False},
        {"do": "valid"},
    ])  # fmt: skip
    assert work.cells == {(1, 2): "be"}
    assert work.intended == {("too-many-objects", 2)}
    assert work.valid


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (None, "is an object"),
        ({"do": "fly"}, "word is a number"),
        ({"do": "fly", "word": 1}, "no decision of the kind"),
        (arc(0, 1), "word is a number from 1 to 3; found 0"),
        (arc(4, 1), "from 1 to 3"),
        (arc(1, 4), "head is a number from 0 to 3"),
        (arc(True, 2), "found True"),
        (arc(1, 1), "own head"),
        (arc(1, 0, "nsubj"), "the label root"),
        (arc(1, 2, "root"), "the label root"),
        (arc(1, 2, "a b"), "without white space"),
        (arc(1, 2, 7), "without white space"),
        ({"do": "cell", "word": 1, "column": "HEAD", "value": "2"}, "columns to edit"),
        ({"do": "cell", "word": 1, "column": "FORM", "value": " "}, "Word boundaries"),
        ({"do": "cell", "word": 1, "column": "UPOS", "value": "NO UN"}, "white space"),
        ({"do": "cell", "word": 1, "column": "LEMMA", "value": "a\x00"}, "control characters"),
        ({"do": "cell", "word": 1, "column": "LEMMA", "value": "a" * 501}, "at most 500"),
        ({"do": "cell", "word": 1, "column": "FEATS", "value": "Case"}, "Case=Nom"),
        ({"do": "intend", "word": 1, "rule": "none"}, "no rule"),
    ],
)
def test_what_is_no_decision_is_refused(step, says):
    with pytest.raises(DecisionError) as caught:
        check_step(step, 3, ["leaf-cc"])
    assert says in str(caught.value)


def test_a_step_keeps_its_own_keys_alone():
    given = {**arc(1, 2), "else": "x" * 10_000}
    assert check_step(given, 3) == arc(1, 2)
    assert check_step({"do": "cell", "word": 1, "column": "FEATS", "value": ""}, 3)["value"] == "_"
    assert check_step({"do": "cell", "word": 1, "column": "LEMMA", "value": " a  b "}, 3)["value"] == "a b"
