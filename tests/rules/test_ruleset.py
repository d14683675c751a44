"""Rules as data: reading, writing, choosing and refusing them."""

import json
import math
import os
import pickle
import subprocess
import sys

import pytest
from labelled_trees import random_rules

from spacy_mindroot.errors import RulesError
from spacy_mindroot.rules import UD, Direction, Planar, Unique
from spacy_mindroot.rules.ruleset import PRESETS, Rules, to_rules


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
    prices = [soft.violations([0, 1, 1], ["root", label, label])[0].price for label in ("obj", "iobj")]
    assert prices == [1, math.inf]


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
    with pytest.raises(RulesError, match="there are 2 tokens, but labels is for 1"):
        UD.violations([0, 1], ["root"])
    with pytest.raises(RulesError, match="there are 2 tokens, but pos is for 1"):
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
