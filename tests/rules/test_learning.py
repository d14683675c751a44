"""Rules learnt from gold trees: hard where they hold, else with a price."""

import math

import pytest

from spacy_mindroot.errors import CountError, RulesError
from spacy_mindroot.rules import UD, Direction, Forbidden, Leaf, Planar, Rules, Unique
from spacy_mindroot.rules.learning import RuleCount, count_rules, learn_rules

GOOD = ([2, 0, 2], ["nsubj", "root", "obj"], ["NOUN", "VERB", "NOUN"])
BAD = ([2, 0, 2], ["obj", "root", "obj"], ["NOUN", "VERB", "NOUN"])


def counts(rule, *corpus):
    (count,) = count_rules(corpus, Rules(**{rule.kind: [rule]}))
    assert count.rule == rule and isinstance(count, RuleCount)
    return count[1:]


def test_support_and_violations_of_each_kind():
    heads, labels, pos = [2, 0, 2, 3, 3], ["obj", "root", "obj", "punct", "obj"], ["A", "B", "A", "C", ""]
    assert counts(Unique(("obj",)), (heads, labels, pos)) == (2, 1)  # heads with an object
    assert counts(Leaf(("obj",)), (heads, labels, pos)) == (3, 2)
    assert counts(Direction(("obj", "root")), (heads, labels, pos)) == (3, 1)  # the root has no direction
    assert counts(Planar(("punct",)), (heads, labels, pos)) == (1, 0)
    assert counts(Forbidden(("obj",), pos=("A",)), (heads, labels, pos)) == (2, 2)  # one is unknown
    assert counts(Forbidden(("obj",), head_pos=("A",)), (heads, labels, pos)) == (3, 1)
    assert counts(Forbidden(labels_not=("punct",), pos=("C",)), (heads, labels, pos)) == (1, 0)
    assert counts(Forbidden(("obj",), pos=("A",)), (heads, labels, None)) == (0, 0)
    assert counts(UD.only(["root-is-not-0"]).forbidden[0], (heads, labels, None)) == (1, 0)
    assert counts(UD.only(["0-is-not-root"]).forbidden[0], (heads, labels, None)) == (1, 0)


def test_a_rule_that_holds_is_hard_and_others_cost_their_log_odds():
    def price(good, bad, **settings):
        rules = learn_rules([GOOD] * good + [BAD] * bad, candidates={"unique": ["obj"]}, **settings)
        return rules.unique[0].price if rules else None

    assert price(100, 0) == math.inf
    assert price(90, 10) == pytest.approx(math.log(90 / 10))
    assert price(1998, 2) == math.inf and price(1997, 3) == pytest.approx(math.log(1997 / 3))
    assert price(90, 10, max_violation=0.1) == math.inf
    assert price(49, 0) is None and price(49, 0, min_support=49) == math.inf
    assert price(50, 50) is None and price(0, 60) is None  # breaking it is the rule


def test_by_default_the_candidates_are_those_of_universal_dependencies():
    learnt = learn_rules([GOOD] * 100)
    assert set(learnt.names) <= set(UD.names)
    assert set(learnt.names) == {"too-many-subjects", "too-many-objects", "0-is-not-root", "root-is-not-0"}


@pytest.mark.parametrize(
    ("settings", "error"),
    [({"min_support": 0}, CountError), ({"max_violation": 2}, CountError), ({"max_violation": "x"}, CountError)],
)
def test_settings_out_of_range(settings, error):
    with pytest.raises(error):
        learn_rules([GOOD], **settings)


def test_no_sentences():
    with pytest.raises(RulesError, match="has no sentences"):
        learn_rules([])
    with pytest.raises(RulesError, match="form no tree"):
        learn_rules([([2, 1], ["obj", "obj"], None)])
