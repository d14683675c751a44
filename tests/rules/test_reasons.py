"""Why an arc breaks a rule, in words."""

import pytest

from spacy_mindroot import Rules
from spacy_mindroot.rules import UD
from spacy_mindroot.rules.reasons import reason_of

WORDS = ["Ann", "sees", "Bob", ",", "now"]


def reasons(rules, heads, labels, pos=("PROPN", "VERB", "PROPN", "PUNCT", "ADV")):
    return {
        rule.name: reason_of(rule, token, WORDS, heads, labels, pos)
        for rule in rules
        for token in rule.faults(heads, labels, pos)
    }


@pytest.mark.parametrize(
    ("heads", "labels", "rule", "says"),
    [
        ([2, 0, 2, 2, 2], ["obj", "root", "obj", "punct", "advmod"], "too-many-objects",
         "“sees” has more than one obj: “Bob” is one too many."),
        ([2, 0, 2, 3, 4], ["nsubj", "root", "obj", "punct", "advmod"], "leaf-punct",
         "“,” is punct, and a punct has no dependent that is advmod: “now”."),
        ([2, 0, 2, 2, 2], ["conj", "root", "obj", "punct", "advmod"], "right-to-left-conj",
         "conj stands to the right of its head: “Ann” is on the other side of “sees”."),
        ([2, 0, 2, 2, 2], ["nsubj", "root", "det", "punct", "advmod"], "rel-upos-det",
         "“Bob” can't be det, since “Bob” is PROPN."),
        ([2, 0, 2, 1, 2], ["nsubj", "root", "obj", "punct", "advmod"], "punct-is-nonproj",
         "“,” is punct, and the arc to it makes arcs cross."),
        ([3, 0, 2, 2, 3], ["fixed", "root", "obj", "punct", "fixed"], "rel-upos-fixed",
         "“now” can't be fixed, since its head “Bob” is PROPN."),
        ([2, 0, 2, 2, 2], ["nsubj", "dep", "obj", "punct", "advmod"], "0-is-not-root",
         "“sees” can't be dep, since its head is ROOT."),
    ],
)  # fmt: skip
def test_each_kind_says_why(heads, labels, rule, says):
    assert reasons(UD, heads, labels)[rule] == says


def test_a_rule_about_labels_alone_gives_no_parts_of_speech():
    rules = Rules(forbidden=[{"labels": ["dep"]}])
    found = reasons(rules, [2, 0, 2, 2, 2], ["dep", "root", "obj", "punct", "advmod"])
    assert list(found.values()) == ["“Ann” can't be dep."]
