"""The order of sentences and tokens, and what it is expected to find."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot.errors import CorpusError
from spacy_mindroot.inference import marginals
from spacy_mindroot.tools.correction.ranking import (
    RankedToken,
    SureSentence,
    SureToken,
    expected_yield,
    order_sentences,
    order_tokens,
    sure_sentence,
)
from spacy_mindroot.tools.gold import GoldSentence
from spacy_mindroot.trees import MISSING

VOCAB = spacy.blank("xx").vocab


def sentence(position, probabilities, given=()):
    words = [f"w{k}" for k in range(len(probabilities))]
    tokens = [
        SureToken(k + 1, word, 0, "dep", 1.0 if k in given else prob, None, None, 0.0, k in given)
        for k, (word, prob) in enumerate(zip(words, probabilities, strict=True))
    ]
    gold = GoldSentence(words, [True] * len(words), np.full(len(words), MISSING), [""] * len(words), f"s{position}")
    return SureSentence(position, tokens, gold)


def names(ordered):
    return [each.position for each in ordered]


def test_sentences_by_rate_or_by_errors():
    long, short, sure = sentence(0, [0.8] * 10), sentence(1, [0.5]), sentence(2, [0.99, 1.0])
    assert names(order_sentences([long, short, sure])) == [1, 0, 2]
    assert names(order_sentences([long, short, sure], "errors")) == [0, 1, 2]
    assert long.expected_errors == pytest.approx(2.0) and long.rate == pytest.approx(0.2)


def test_ties_keep_the_order_of_the_corpus():
    same = [sentence(k, [0.5 - k * 1e-9, 0.7]) for k in range(5)]
    assert names(order_sentences(same[::-1])) == [0, 1, 2, 3, 4]
    tokens = order_tokens(same[::-1])
    assert [(each.sentence.position, each.token.word) for each in tokens] == [(k, w) for w in (1, 2) for k in range(5)]


def test_given_heads_are_not_read():
    partly, wholly = sentence(0, [0.2, 0.6], given=[0]), sentence(1, [0.1], given=[0])
    assert names(order_sentences([partly, wholly])) == [0]
    assert [each.token.word for each in order_tokens([partly, wholly])] == [2]
    assert partly.expected_errors == pytest.approx(0.4) and wholly.rate == 0


def test_no_order_of_sentences_finds_more(rng):
    """All orders of six sentences, at every number of tokens at which a sentence ends in the order by rate."""
    from itertools import permutations

    sentences = [sentence(k, rng.uniform(0.2, 1, rng.integers(1, 7)).tolist()) for k in range(6)]
    ordered = order_sentences(sentences)
    sizes = np.cumsum([len(each.tokens) for each in ordered])
    for size in sizes.tolist():
        share = [size / sizes[-1]]
        ((_, best),) = expected_yield([each.unknown for each in ordered], share)
        for other in permutations(sentences):
            ((_, found),) = expected_yield([each.unknown for each in other], share)
            assert found <= best + 1e-9


def test_expected_yield():
    pieces = [[each.token] for each in order_tokens([sentence(0, [0.5, 1.0, 0.75, 0.75])])]
    assert list(expected_yield(pieces, [0.25, 0.5, 1.0])) == [(1, 0.5), (2, 0.75), (4, 1.0)]
    assert list(expected_yield([[pieces[0][0], pieces[3][0]]], [0.5])) == [(1, 0.5)]  # half a sentence
    assert list(expected_yield([sentence(0, [1.0]).tokens], [1.0])) == [(1, 0.0)]


@pytest.fixture
def parser():
    return spacy.blank("xx").add_pipe("mind_root", config={"confidence": True, "keep_scores": True})


def test_probabilities_of_a_parse(parser, rng):
    scores = rng.normal(size=(3, 4))
    doc = Doc(VOCAB, words=["a", "b", "c"])
    doc._.arc_scores, doc._.arc_label_names = [scores], ["ROOT", "x", "y"]
    doc._.arc_labels = [np.array([[0, 1, 2, 1]] * 3)]
    gold = GoldSentence(["a", "b", "c"], [True] * 3, np.array([MISSING] * 3), [""] * 3, "s")
    found = sure_sentence(parser(doc), gold, 4)
    assert found.position == 4
    expected = marginals(scores)
    for i, token in enumerate(found.tokens):
        others = [head for head in range(4) if head not in (token.head, i + 1)]
        assert token.head_prob == pytest.approx(expected[i, token.head])
        assert token.head_prob == doc[i]._.head_prob
        assert token.next_head == max(others, key=lambda head: expected[i, head])
        assert token.next_prob == pytest.approx(expected[i, token.next_head])
        assert token.next_label == ["root", "x", "y", "x"][token.next_head]
        assert token.record()["next_prob"] == round(token.next_prob, 4)


def test_given_heads_are_certain(parser, rng):
    doc = Doc(VOCAB, words=["a", "b"])
    doc._.arc_scores = [rng.normal(size=(2, 3))]
    doc._.arc_constraints = {"required": [(0, 1)]}
    gold = GoldSentence(["a", "b"], [True] * 2, np.array([2, MISSING]), ["x", ""], "s")
    found = sure_sentence(parser(doc), gold, 0, given=True)
    assert [token.given for token in found.tokens] == [True, False]
    assert found.tokens[0].head_prob == 1.0 and found.tokens[0].next_head is None
    assert "next_head" not in found.tokens[1].record()  # the only tree left
    assert isinstance(order_tokens([found])[0], RankedToken)


def test_heads_that_another_component_has_changed(parser, rng):
    gold = GoldSentence(["a", "b", "c"], [True] * 3, np.array([MISSING] * 3), [""] * 3, "s")
    for keep in (True, False):
        scores = rng.normal(size=(3, 4))
        doc = Doc(VOCAB, words=["a", "b", "c"])
        doc._.arc_scores = [scores]
        doc = parser(doc)
        token = next(token for token in doc if token.head.i != token.i and not list(token.children))
        token.head = next(t for t in doc if t.i not in (token.i, token.head.i))
        if keep:
            found = sure_sentence(doc, gold, 0)
            assert found.tokens[token.i].head_prob == pytest.approx(marginals(scores)[token.i, token.head.i + 1])
        else:
            doc._.arc_scores = None
            with pytest.raises(CorpusError, match="change heads"):
                sure_sentence(doc, gold, 0)
