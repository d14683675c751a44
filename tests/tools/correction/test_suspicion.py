"""Suspects: their probabilities, their order, and that no parser has seen the sentences that it judges."""

from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import load_config_from_str

from spacy_mindroot import is_tree
from spacy_mindroot.conllu import sentence_to_doc
from spacy_mindroot.errors import CorpusError
from spacy_mindroot.inference import marginals
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.correction import suspicion
from spacy_mindroot.tools.correction.suspicion import Suspect, assess, cross_validated, expected_errors, order_suspects
from spacy_mindroot.tools.folds import new_parser, train, with_steps
from spacy_mindroot.tools.gold import GoldSentence, read_corpus
from spacy_mindroot.trees import MISSING

STEPS = 30


@pytest.fixture(scope="module")
def config():
    return with_steps(load_config_from_str(make_config("xx", "efficiency", [], None)), STEPS)


@pytest.fixture(scope="module")
def sentences(checkout):
    return list(read_corpus(checkout / "assets/treebank/dev.conllu", spacy.blank("xx").vocab))[:12]


@pytest.fixture(scope="module")
def nlp(config, sentences):
    nlp = new_parser(config, seed=1)
    train(nlp, [sentence_to_doc(nlp.vocab, sentence.conllu) for sentence in sentences], STEPS, 1)
    return nlp


def test_probabilities_of_annotated_arcs(nlp, sentences):
    scorer = nlp.get_pipe("arc_scorer")
    for sentence, suspects in zip(sentences, assess([nlp], sentences), strict=True):
        starts = [i == 0 for i in range(len(sentence.words))]
        doc = Doc(nlp.vocab, words=sentence.words, spaces=sentence.spaces, sent_starts=starts)
        doc = nlp.get_pipe("tok2vec")(doc)
        doc = scorer(doc)
        expected = marginals(doc._.arc_scores[0])
        labels = np.exp(doc._.arc_labels[0].scores_of_tree(np.asarray(sentence.heads)).astype(float))
        labels /= labels.sum(axis=1, keepdims=True)
        assert [each.word for each in suspects] == list(range(1, len(sentence.words) + 1))
        for i, each in enumerate(suspects):
            assert (each.head, each.label) == (sentence.heads[i], sentence.labels[i])
            assert each.head_prob == pytest.approx(expected[i, each.head], rel=1e-4, abs=1e-6)
            name = "ROOT" if each.head == 0 else each.label
            assert each.label_prob == pytest.approx(labels[i, doc._.arc_label_names.index(name)], rel=1e-3, abs=1e-5)
            assert each.other_prob == pytest.approx(expected[i, each.other_head], rel=1e-4, abs=1e-6)
            allowed = heads_that_keep_the_tree(sentence.heads, i)
            if each.head == 0:
                assert (each.given_prob, each.other_given_prob) == (each.head_prob, each.other_prob)
            else:
                weights = np.exp(doc._.arc_scores[0][i, allowed].astype(float))
                given = dict(zip(allowed, weights / weights.sum(), strict=True))
                assert each.given_prob == pytest.approx(given[each.head], rel=1e-3, abs=1e-6)
                best = max(prob for head, prob in given.items() if each.kind == "label" or head != each.head)
                assert each.other_given_prob == pytest.approx(best, rel=1e-3, abs=1e-6)
            assert (each.other_head, each.other_label) != (each.head, each.label)
            assert (each.other_label == "root") == (each.other_head == 0)


def heads_that_keep_the_tree(heads, i):
    found = []
    for head in range(1, len(heads) + 1):
        changed = np.array(heads)
        changed[i] = head
        if is_tree(changed, single_root=True):
            found.append(head)
    return found


def test_words_without_a_head_are_no_suspects(nlp, sentences):
    heads = sentences[0].heads.copy()
    heads[1] = MISSING
    (suspects,) = assess([nlp], [replace(sentences[0], heads=heads)])
    assert 2 not in [each.word for each in suspects] and len(suspects) == len(heads) - 1


def test_scores_of_several_parsers_are_averaged(nlp, config, sentences):
    other = new_parser(config, seed=2)
    train(other, [sentence_to_doc(other.vocab, sentence.conllu) for sentence in sentences], 5, 2)
    chosen = sentences[:3]
    of_one, of_other, of_both = (list(assess(parsers, chosen)) for parsers in ([nlp], [other], [nlp, other]))
    for sentence, one, two, both in zip(chosen, of_one, of_other, of_both, strict=True):
        mean = [(a.label_prob + b.label_prob) / 2 for a, b in zip(one, two, strict=True)]
        np.testing.assert_allclose([each.label_prob for each in both], mean, rtol=1e-5)
        scores = []
        for parser in (nlp, other):
            starts = [i == 0 for i in range(len(sentence.words))]
            doc = Doc(parser.vocab, words=sentence.words, spaces=sentence.spaces, sent_starts=starts)
            scores.append(parser.get_pipe("arc_scorer")(parser.get_pipe("tok2vec")(doc))._.arc_scores[0])
        expected = marginals(np.mean(scores, axis=0))
        np.testing.assert_allclose(
            [each.head_prob for each in both], expected[np.arange(len(both)), sentence.heads], rtol=1e-4
        )
    assert [list(own) for own in assess([nlp, nlp], chosen)] == of_one


def test_labels_that_the_parser_does_not_know(nlp, sentences):
    labels = ["unheard-of" if label != "root" else label for label in sentences[0].labels]
    (suspects,) = assess([nlp], [replace(sentences[0], labels=labels)])
    assert {each.label_prob for each in suspects if each.head} == {0.0}


def test_joint_scores_have_the_best_label_alone(nlp, sentences):
    scorer = nlp.get_pipe("arc_scorer")
    scorer.joint = True
    try:
        (suspects,) = assess([nlp], sentences[:1])
    finally:
        scorer.joint = False
    assert {each.other_label_prob for each in suspects} == {1.0}


def suspect(sentence=0, word=1, head=1, head_prob=0.1, label_prob=0.9, other_head=2, other_prob=0.8, other_label=0.9):
    marginal = 0.01  # it does not count
    return Suspect(
        sentence, word, head, "a", marginal, head_prob, label_prob, other_head, "b", 1.0, other_prob, other_label
    )


def test_order():
    head, label, neither = (
        suspect(word=1),
        suspect(word=2, head=2, head_prob=0.8, label_prob=0.1),
        suspect(word=3, head_prob=0.6, other_prob=0.3),
    )
    assert (head.kind, label.kind) == ("head", "label")
    assert head.log_odds("heads") == head.log_odds() == pytest.approx(np.log(8))
    assert label.log_odds("labels") == label.log_odds() == pytest.approx(np.log(9))
    assert label.log_odds("heads") == head.log_odds("labels") == -np.inf
    assert order_suspects([neither, head, label]) == [label, head, neither]
    assert order_suspects([neither, label, head], "heads") == [head, neither, label]
    assert suspect(head_prob=0.0).log_odds() == pytest.approx(np.log(0.8) + 12 * np.log(10))
    ties = [suspect(sentence=s, word=w, head_prob=0.1 + s * 1e-9) for s in range(2) for w in (1, 2)]
    assert order_suspects(ties[::-1]) == ties


def test_no_parser_has_seen_what_it_judges(config, sentences, monkeypatch):
    trained_on = []

    def recorded(nlp, gold, *arguments):
        trained_on.append([[token.text for token in doc] for doc in gold])
        return train(nlp, gold, *arguments)

    monkeypatch.setattr(suspicion, "train", recorded)
    found = list(cross_validated(sentences, [[0, 2, 4], [1, 3, 5]], config, steps=2, seed=1, parsers=2))
    assert [each.sentence for each in found] == [
        k for fold in ([0, 2, 4], [1, 3, 5]) for k in fold for _ in sentences[k].words
    ]
    for number, fold in enumerate(([0, 2, 4], [1, 3, 5])):
        for of_parser in trained_on[2 * number : 2 * number + 2]:
            assert all(sentences[k].words not in of_parser for k in fold)
            assert len(of_parser) == len(sentences) - 3
    assert len(trained_on) == 4
    assert {each.fold for each in found if each.sentence in (1, 3, 5)} == {2}


def test_a_parser_without_scorer_and_a_corpus_that_is_not_conllu(config):
    with pytest.raises(CorpusError, match="no arc_scorer"):
        list(assess([spacy.blank("xx")], []))
    words = GoldSentence(["a"], [True], np.array([0]), ["root"], "s")
    with pytest.raises(CorpusError, match="must be CoNLL-U"):
        list(cross_validated([words] * 2, [[0], [1]], config, steps=1, seed=1))


def test_random_wrong_arcs_have_the_odds_that_they_would_have_if_they_were_annotated(nlp, sentences):
    """Another head for one word, and the parser looks at the sentence again."""
    sentence = sentences[0]
    for seed in range(3):
        (suspects,) = assess([nlp], [sentence], seed)
        for each in suspects:
            if each.head == 0:
                assert each.head_odds_if_wrong is None and each.label_odds_if_wrong is None
                continue
            row = {each.head: each.given_prob}
            for head in heads_that_keep_the_tree(sentence.heads, each.word - 1):
                heads = sentence.heads.copy()
                heads[each.word - 1] = head
                (again,) = assess([nlp], [replace(sentence, heads=heads)])
                (row[head],) = [own.given_prob for own in again if own.word == each.word]
            odds = {
                head: np.log(max(other for k, other in row.items() if k != head) / prob)
                for head, prob in row.items()
                if head != each.head
            }
            assert min(abs(each.head_odds_if_wrong - own) for own in odds.values()) < 1e-3
            assert each.label_odds_if_wrong > -np.inf


def test_the_expected_number_of_errors():
    """Of a thousand arcs, 10 would be wrong. The odds of half of the random ones are above those of all other arcs."""
    every = [
        suspect(word=k, head_prob=0.5, other_prob=0.25)._replace(head_odds_if_wrong=(5.0, -5.0)[k % 2])
        for k in range(1000)
    ]
    assert expected_errors(every, [1, 5]) == pytest.approx([1, 5], abs=0.02)
    assert expected_errors(every, [100, 1005, 5000]) == pytest.approx([5, 5, 10], abs=0.02)
    assert expected_errors(every, [5], "labels") == [0.0]  # none is known
    labels = [each._replace(head_odds_if_wrong=None, label_odds_if_wrong=9.0) for each in every]
    assert expected_errors(labels, [5], "labels") == pytest.approx([5], abs=0.02) and expected_errors(labels, [5]) == [
        0.0
    ]
