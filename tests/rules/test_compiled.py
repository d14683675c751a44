"""Rules over numbered labels."""

import numpy as np
import pytest

from spacy_mindroot.labels import UD_POS
from spacy_mindroot.rules import Forbidden, Leaf, Rules
from spacy_mindroot.rules.compiled import compile_rules


def test_labels_that_no_rule_distinguishes_form_a_class():
    rules = Rules(unique=["nsubj"], leaf=[Leaf(("case",), allowed=("nsubj", "conj"))], direction={"conj": "right"})
    compiled = compile_rules(rules, ("nsubj", "obj", "obl", "conj", "nsubj:pass", "case"))
    assert compiled.class_of.tolist() == [0, 1, 1, 2, 0, 3]
    assert np.isposinf(compiled.prices).sum() == np.isposinf(compiled.prices[:, :3, 1, 3]).sum() > 0
    assert compile_rules(rules, ("obj",)).masks.shape[1] == 1


@pytest.mark.parametrize("pos", ["DET", "NOUN", "ART", "$.", "X", "SPACE", None, "", "_"])
@pytest.mark.parametrize("named", [("DET",), ("ART",), ("ART", "DET"), tuple(UD_POS)])
@pytest.mark.parametrize("side", ["pos", "pos_not", "head_pos", "head_pos_not"])
def test_prices_are_those_of_the_rule(pos, named, side):
    rules = Rules(forbidden=[Forbidden(("det",), "rule", **{side: named})])
    compiled = compile_rules(rules, ("det",))
    kinds, heads = compiled.kinds_of([pos, "NOUN"], 2)
    for head, tree in ((0, [0, 1]), (2, [2, 0])):
        broken = any(violation.token == 1 for violation in rules.violations(tree, ["det"] * 2, [pos, "NOUN"]))
        assert np.isposinf(compiled.prices[kinds[0], heads[head], int(head > 1), 0]) == broken
    broken = any(violation.token == 2 for violation in rules.violations([0, 1], ["det"] * 2, [pos, "NOUN"]))
    assert np.isposinf(compiled.prices[kinds[1], heads[1], 0, 0]) == broken
