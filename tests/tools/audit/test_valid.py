"""Changes that rules make on a corpus, counted sentence by sentence."""

import re

import numpy as np
import pytest

from spacy_mindroot.errors import CorpusError, NoValidTreeError
from spacy_mindroot.rules import UD, Rules
from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.audit.measures import Tally, audit_sentences
from spacy_mindroot.tools.audit.report import to_html
from spacy_mindroot.tools.audit.valid import RuleTally, audit_rules

NAMES = ["root", "nsubj", "obj"]


def make(second=-1.0, gold=("nsubj", "root", "obj"), **keywords):
    """Two words that both look like the subject of the second word."""
    arcs = np.array([[0, 0, 5, 0], [5, 0, 0, 0], [0, 0, 5, 0]], dtype=float)
    scores = np.full((3, 4, 3), -9.0)
    scores[:, 0, 0] = 0
    scores[:, 1:, 1], scores[:, 1:, 2] = -0.5, second
    scores[0, 1:, 2] = -4
    keywords = {"label_scores": scores, "pos": ["NOUN", "VERB", "NOUN"]} | keywords
    sentence = ScoredSentence(
        arcs, ["a", "b", "c"], scores.argmax(axis=2), NAMES, np.array([2, 0, 2]), list(gold), "one", **keywords
    )
    (audited,) = audit_sentences([sentence], source="x")
    return audited


def test_a_sentence_before_and_after():
    valid = audit_rules(make(), UD)
    assert [violation.rule for violation in valid.before] == ["too-many-subjects"]
    assert (valid.gold, valid.after, valid.certified) == ([], [], True)
    assert valid.audited.after.labels == ["nsubj", "root", "obj"] and valid.changed == [3]
    assert valid.weight_lost == pytest.approx(0.5)
    tally, rule_tally = Tally(), RuleTally(UD)
    tally.add(valid.audited)
    rule_tally.add(valid)
    page = to_html(tally.summarize(), {}, [], rule_tally.summarize(), [valid])
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert "too-many-subjects: c nsubj . The weight is lower by 0.500." in text and page.count("<svg") == 1


def test_sums():
    tally = RuleTally(UD)
    for audited in (make(), make(gold=("nsubj", "root", "nsubj")), make(second=0.0)):
        tally.add(audit_rules(audited, UD))
    found = tally.summarize()
    assert (found.sentences, found.changed_sentences, found.changed_tokens, found.certified) == (3, 2, 2, 3)
    assert found.violations["too-many-subjects"] == {"gold": 1, "before": 2, "after": 0}
    assert found.mean_weight_lost == pytest.approx(0.5)
    assert found.scores["las"].after - found.scores["las"].before == pytest.approx(0)
    assert found.scores["las"].better == found.scores["las"].worse == 1
    (_, counts), (_, violations), (_, scores) = found.tables()
    assert violations == [("too-many-subjects", "1", "2", "0"), ("all", "1", "2", "0")]
    assert found.to_json()["violations"]["too-many-subjects"] == {"gold": 1, "before": 2, "after": 0}
    assert scores[0][0] == "UAS" and counts[0][1] == "3 of 3"


def test_violations_are_counted_by_gold_parts_of_speech():
    rules = Rules(forbidden=[{"labels": ["obj"], "pos": ["ADV"], "name": "x"}])
    valid = audit_rules(make(second=0.0), rules, ["NOUN", "VERB", "ADV"])
    assert [violation.rule for violation in valid.after] == ["x"]


def test_errors():
    with pytest.raises(CorpusError, match="one has no scores of all labels"):
        audit_rules(make(label_scores=None), UD)
    with pytest.raises(NoValidTreeError, match="^one: no tree meets the rules"):
        audit_rules(make(), Rules(leaf=[NAMES]))


def test_unknown_gold_heads_have_no_violations():
    audited = make()
    sentence = audited.sentence
    unknown = ScoredSentence(
        sentence.scores,
        sentence.words,
        sentence.best_labels,
        NAMES,
        np.array([-1, 0, 2]),
        ["nsubj", "root", "obj"],
        label_scores=sentence.label_scores,
    )
    (audited,) = audit_sentences([unknown], source="x")
    assert audit_rules(audited, UD).gold is None
