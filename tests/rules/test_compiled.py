"""Rules over numbered labels."""

import numpy as np

from spacy_mindroot.rules import Leaf, Rules
from spacy_mindroot.rules.compiled import compile_rules


def test_labels_that_no_rule_distinguishes_form_a_class():
    rules = Rules(unique=["nsubj"], leaf=[Leaf(("case",), allowed=("nsubj", "conj"))], direction={"conj": "right"})
    compiled = compile_rules(rules, ("nsubj", "obj", "obl", "conj", "nsubj:pass", "case"))
    assert compiled.class_of.tolist() == [0, 1, 1, 2, 0, 3]
    assert np.isposinf(compiled.prices).sum() == np.isposinf(compiled.prices[:, :2, 1, 3]).sum() > 0
    assert compile_rules(rules, ("obj",)).n_classes == 1
