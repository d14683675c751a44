"""spacy-mindroot.answers.v1: `mind_root` with the answers of language models."""

import json
import math

import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot.answers import read_answer
from spacy_mindroot.errors import MissingScoresError, SentenceMismatchError
from spacy_mindroot.inference import marginals

WORDS = ["They", "left", "early", "."]
GOOD = {"heads": [2, 0, 2, 2], "deprels": ["nsubj", "root", "advmod", "punct"]}
LIKELY = {"heads": [{"2": -0.1}, {"0": -0.2, "3": -2}, {"2": -0.3, "1": -2}, {"2": -0.1}], "deprels": GOOD["deprels"]}


def parse(answers, sentences=1, labels=None, **settings):
    nlp = spacy.blank("en")
    source = {"@misc": "spacy-mindroot.answers.v1", "labels": labels}
    nlp.add_pipe("mind_root", config={"scores": source, **settings})
    starts = [i % 4 == 0 for i in range(4 * sentences)]
    doc = Doc(nlp.vocab, words=WORDS * sentences, sent_starts=starts)
    if answers is not None:
        doc.user_data["mindroot_answers"] = answers
    return nlp(doc)


def tree(doc):
    return [0 if token.head.i == token.i else token.head.i + 1 for token in doc], [token.dep_ for token in doc]


GOLD = [2, 0, 2, 2], ["nsubj", "ROOT", "advmod", "punct"]


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        json.dumps(GOOD),
        {"answers": [GOOD, "no", GOOD | {"heads": [3, 0, 2, 2]}, json.dumps(GOOD)]},
        LIKELY,
        GOOD | {"heads": [2, 0, 2, 0]},
    ],
)
def test_each_form_becomes_a_tree_on_the_doc(answer):
    doc = parse([answer])
    assert tree(doc) == GOLD and "mindroot_answers" not in doc.user_data


def test_several_sentences_in_different_forms():
    doc = parse([LIKELY, GOOD], 2)
    assert tree(doc[:4].as_doc()) == tree(doc[4:].as_doc()) == GOLD


def test_the_report_names_what_was_wrong():
    doc = parse([GOOD, GOOD | {"heads": [2, 0, 2, 0]}], 2)
    assert doc._.mind_root_report == [{"sentence": 1, "token": 7, "why": "extra root", "what": "head 0 -> 2"}]
    doc = parse([json.dumps(GOOD | {"words": ["They", "left", "early"], "heads": [2, 0, 2]})])
    assert [item["why"] for item in doc._.mind_root_report][:1] == ["missing word"]
    doc = parse([GOOD | {"deprels": ["x", "root", "advmod", "punct"]}], labels=["nsubj", "root", "advmod", "punct"])
    assert doc[0].dep_ == "dep" and doc._.mind_root_report[0]["why"] == "unknown label"


def test_probabilities_of_log_probabilities():
    doc = parse([LIKELY], confidence=True, kbest=2)
    expected = marginals(read_answer(LIKELY, WORDS).scores)[range(4), [2, 0, 2, 2]]
    assert [token._.head_prob for token in doc] == pytest.approx(expected)
    (sent,) = doc.sents
    assert sent._.expected_uas == pytest.approx(expected.mean()) and math.isfinite(sent._.tree_logprob)


def test_constraints_hold():
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.answers.v1"}})
    doc = Doc(nlp.vocab, words=WORDS)
    doc.user_data["mindroot_answers"] = [GOOD]
    doc._.arc_constraints = {"required": [(2, 0)]}
    heads, labels = tree(nlp(doc))
    assert heads[2] == 1 and labels[2] == "advmod"


@pytest.mark.parametrize(
    ("answers", "error", "says"),
    [
        (None, MissingScoresError, "has no doc.user_data"),
        (GOOD, MissingScoresError, "a list with the answer for each sentence"),
        ([GOOD] * 2, SentenceMismatchError, "has 1 sentences, but .* has 2 answers"),
        (["I can't."], MissingScoresError, "sentence 1.*no head that can be used .no answer: there is no JSON"),
        ([GOOD | {"heads": [2, 0, 2]}], MissingScoresError, "3 heads for 4 words"),
    ],
)
def test_what_can_not_be_read_is_refused(answers, error, says):
    with pytest.raises(error, match=says):
        parse(answers)
