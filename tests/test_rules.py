"""Rules as data, and the violations in a given tree. The preset "ud" is compared with the validator itself."""

import io
import json
import math
import os
import pickle
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from labelled_trees import random_rules
from udtools import Validator

from generators import random_tree
from spacy_mindroot.errors import RulesError
from spacy_mindroot.rules import (
    PRESETS,
    UD,
    Direction,
    Forbidden,
    Leaf,
    Planar,
    Rules,
    Unique,
    Violation,
    compile_rules,
    to_rules,
)


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


UPOS = ["NOUN", "PROPN", "VERB", "ADJ", "ADV", "AUX", "PRON", "DET", "ADP", "PART", "NUM", "SYM", "CCONJ", "PUNCT"]
DEPRELS = [
    *(
        "nsubj",
        "nsubj:pass",
        "csubj",
        "nsubj:outer",
        "obj",
        "obj",
        "obj",
        "obl",
        "det",
        "nummod",
        "advmod",
        "expl",
        "aux",
        "cop",
    ),
    *("case", "mark", "cc", "punct", "fixed", "goeswith", "clf", "conj", "flat", "appos", "root", "compound"),
]
PUNCTUATED = ["punct", "obj", "nsubj", "case"]


@pytest.mark.parametrize(("deprels", "count"), [(DEPRELS, 150), (PUNCTUATED, 100)])
def test_the_preset_finds_what_the_validator_finds(deprels, count, rng):
    validator = Validator(lang="ud", level=3, output=None)
    seen = Counter()
    for _ in range(count):
        n = int(rng.integers(2, 9))
        heads = random_tree(n, rng)
        labels, pos = rng.choice(deprels, n).tolist(), rng.choice(UPOS, n).tolist()
        if rng.random() < 0.8:
            labels[int((heads == 0).argmax())] = "root"
        rows = [
            f"{i}\tw{i}\tw\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n"
            for i, (tag, head, label) in enumerate(zip(pos, heads, labels, strict=True), 1)
        ]
        text = " ".join(f"w{i}" for i in range(1, n + 1))
        state = validator.validate_file_handle(io.StringIO(f"# sent_id = 1\n# text = {text}\n{''.join(rows)}\n"))
        theirs = Counter(
            incident.testid for incident in state.error_tracker if incident.testid in UD.names and incident.level == 3
        )
        ours = Counter()
        for name in UD.names:
            own = UD.only([name]).violations(heads, labels, pos)
            # The validator reports a head with too many dependents once.
            ours[name] = len({violation.head for violation in own}) if name.startswith("too-many") else len(own)
        if "goeswith" in labels:  # permits adverbial modifiers and punctuation that no rule can express
            for name in ("rel-upos-advmod", "leaf-goeswith"):
                assert ours.pop(name) >= theirs.pop(name, 0)
        assert +ours == theirs, (heads, labels, pos)
        seen += theirs
    if deprels is DEPRELS:
        assert set(seen) >= set(UD.names) - {"leaf-goeswith"}, set(UD.names) - set(seen)
    assert seen["punct-is-nonproj"] > 3 and seen["punct-causes-nonproj"] > 3


def test_round_trip_through_json(rng):
    for rules in [UD, Rules(), *(random_rules(rng) for _ in range(30))]:
        read = Rules.from_dict(json.loads(json.dumps(rules.to_dict())))
        assert read == rules and hash(read) == hash(rules)
    assert Rules() != UD and bool(UD) and not Rules()


def test_pickled_rules_have_the_hash_of_their_process():
    code = "import pickle, sys; from spacy_mindroot.rules import UD; sys.stdout.buffer.write(pickle.dumps(UD))"
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    rules = pickle.loads(done.stdout)
    assert rules == UD and hash(rules) == hash(UD)


def test_short_forms():
    rules = Rules(unique=["obj", ["nsubj", "csubj"], {"labels": ["iobj"], "price": 2}], planar=["punct"], leaf=["cc"])
    assert rules.unique == (Unique(("obj",)), Unique(("nsubj", "csubj")), Unique(("iobj",), price=2))
    assert rules.planar == (Planar(("punct",)), Planar(("punct",), which="other"))
    assert Rules(direction=[{"labels": ["conj"], "side": "left"}]).direction == (Direction(("conj",), side="left"),)
    assert Unique("obj") == Unique(("obj",))


def test_rules_are_chosen_by_name():
    assert UD.only(["leaf-cc"]).names == ["leaf-cc"]
    assert set(UD.without(["leaf-cc"]).names) == set(UD.names) - {"leaf-cc"}
    with pytest.raises(RulesError, match="no rule called 'leaf-x'. The rules are: too-many-subjects"):
        UD.only(["leaf-x"])
    soft = Rules(unique=[Unique(("obj",), price=1), Unique(("iobj",))])
    assert soft.hard.names == ["unique-iobj"]
    assert soft.penalty([0, 1, 1], ["root", "obj", "obj"]) == 1
    assert soft.penalty([0, 1, 1], ["root", "iobj", "iobj"]) == math.inf


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"uniq": []}, "no rules of kind 'uniq'"),
        ({"unique": "obj"}, "unique must be a list"),
        ({"unique": [3]}, "a label, a list of labels or a dict; found 3"),
        ({"unique": [[3]]}, "labels must be a list of non-empty strings"),
        ({"unique": [[]]}, "names no labels"),
        ({"unique": [{"label": ["obj"]}]}, "no field 'label'"),
        ({"unique": [{"labels": ["obj"], "price": -1}]}, "a positive number"),
        ({"unique": [{"labels": ["obj"], "price": "x"}]}, "a positive number"),
        ({"direction": {"conj": "up"}}, '"left" or "right"; found \'up\''),
        ({"planar": [{"labels": ["punct"], "which": "x"}]}, '"own" or "other"'),
        ({"forbidden": [{}]}, "forbids every arc"),
        ([], "rules are a dict"),
    ],
)
def test_wrong_rules_are_refused(data, message):
    with pytest.raises(RulesError, match=message):
        Rules.from_dict(data)


def test_violations_need_a_tree_and_one_label_per_token():
    with pytest.raises(RulesError, match="there are 2 heads, but labels is for 1"):
        UD.violations([0, 1], ["root"])
    with pytest.raises(RulesError, match="there are 2 heads, but pos is for 1"):
        UD.violations([0, 1], ["root", "obj"], ["X"])
    with pytest.raises(RulesError, match="form no tree"):
        UD.violations([2, 1], ["root", "obj"])


def test_rules_in_any_form(tmp_path):
    assert to_rules("ud") is UD and PRESETS["ud"] is UD
    assert to_rules(UD) is UD and to_rules(UD.to_dict()) == UD
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(UD.to_dict()), "utf8")
    assert to_rules(str(path)) == UD
    path.write_text('{"uniq": []}', "utf8")
    with pytest.raises(RulesError, match=r"rules.json: there are no rules of kind"):
        to_rules(str(path))
    path.write_text("{", "utf8")
    with pytest.raises(RulesError, match="cannot be read"):
        to_rules(str(path))
    with pytest.raises(RulesError, match="cannot be read"):
        to_rules(str(tmp_path / "absent.json"))
    for value in ("UD2", 3):
        with pytest.raises(RulesError, match='rules: "ud", the path of a .json file or a dict'):
            to_rules(value)


def test_labels_that_no_rule_distinguishes_form_a_class():
    rules = Rules(unique=["nsubj"], leaf=[Leaf(("case",), allowed=("nsubj", "conj"))], direction={"conj": "right"})
    compiled = compile_rules(rules, ("nsubj", "obj", "obl", "conj", "nsubj:pass", "case"))
    assert compiled.class_of.tolist() == [0, 1, 1, 2, 0, 3]
    assert np.isposinf(compiled.prices).sum() == np.isposinf(compiled.prices[:, :2, 1, 3]).sum() > 0
    assert compile_rules(rules, ("obj",)).n_classes == 1
