"""Simulated annotators and corrupted heads."""

import numpy as np
import pytest
import spacy

from benchmarks.runs import read_runs
from spacy_mindroot import decode, is_tree
from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.tools.gold import read_corpus


@pytest.fixture(scope="module")
def correction():
    return __import__("benchmarks.correction", fromlist=["correction"])


@pytest.fixture
def sentences(checkout):
    return list(read_corpus(checkout / "assets/treebank/dev.conllu", spacy.blank("xx").vocab))


def test_corrupted_heads_leave_trees_with_the_same_root(correction, sentences, checkout):
    before = [
        each.heads.tolist() for each in read_corpus(checkout / "assets/treebank/dev.conllu", spacy.blank("xx").vocab)
    ]
    changed = correction.corrupt(sentences, 0.1, seed=1)
    tokens = sum(map(len, before))
    assert len(changed) == round(0.1 * tokens)
    for k, (sentence, heads) in enumerate(zip(sentences, before, strict=True)):
        assert is_tree(sentence.heads, single_root=True) and sentence.conllu.heads == sentence.heads.tolist()
        differ = np.flatnonzero(sentence.heads != heads) + 1
        assert {(k, word) for word in differ.tolist()} == {each for each in changed if each[0] == k}
        assert sentence.heads.tolist().index(0) == heads.index(0)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_what_is_annotated(correction, rng, share):
    prob = [rng.random(n) for n in (5, 1, 8, 6)]
    for order in correction.ORDERS:
        known = correction.choose(order, prob, share, seed=3)
        assert [len(each) for each in known] == [5, 1, 8, 6]
        assert sum(each.sum() for each in known) == round(share * 20)
    flat = np.concatenate(prob)
    known = np.concatenate(correction.choose("rank --by token", prob, share, seed=3))
    if 0 < share < 1:
        assert flat[known].max() <= flat[~known].min()
        by_sentence = correction.choose("rank --by sentence", prob, share, seed=3)
        rates = [(1 - each).mean() for each in prob]
        first = int(np.argmax(rates))
        assert by_sentence[first][: round(share * 20)].all()


def test_only_the_chosen_heads_are_left(correction, sentences):
    nlp = spacy.blank("xx")
    masks = [np.arange(len(each.words)) % 3 == 1 for each in sentences[:4]] + [
        np.zeros(len(sentences[4].words), dtype=bool)
    ]
    docs = correction.partly_annotated(nlp, sentences[:5], masks)
    assert len(docs) == 4
    for doc, sentence, mask in zip(docs, sentences, masks, strict=False):
        assert [bool(token.dep) for token in doc] == mask.tolist() and not any(token.pos for token in doc)
        for i in np.flatnonzero(mask).tolist():
            assert (doc[i].head.i + 1 if doc[i].head.i != i else 0) == sentence.heads[i]


def test_the_other_heads_are_those_of_the_best_tree_with_the_chosen_ones(correction, sentences, rng):
    nlp = spacy.blank("xx")
    chosen = sentences[:4]
    masks = [rng.random(len(each.words)) < 0.3 for each in chosen[:3]] + [np.zeros(len(chosen[3].words), dtype=bool)]
    parses = [
        correction.Parse(rng.normal(size=(n, n + 1)), rng.integers(0, 2, (n, n + 1)), ["a", "b"])
        for n in (len(each.words) for each in chosen)
    ]
    docs = correction.partly_annotated(nlp, chosen, masks, parses)
    assert len(docs) == 4
    for doc, sentence, mask, parse in zip(docs, chosen, masks, parses, strict=True):
        heads = [token.head.i + 1 if token.head.i != token.i else 0 for token in doc]
        assert is_tree(heads, single_root=True) and np.array_equal(np.array(heads)[mask], sentence.heads[mask])
        for i in np.flatnonzero(~mask).tolist():
            assert doc[i].dep_ == ("ROOT" if heads[i] == 0 else parse.names[parse.labels[i, heads[i]]])
        assert [doc[i].dep_.lower() for i in np.flatnonzero(mask)] == [
            sentence.labels[i].lower() for i in np.flatnonzero(mask)
        ]
    assert [token.head.i + 1 if token.head.i != token.i else 0 for token in docs[3]] == decode(
        parses[3].scores
    ).tolist()


def test_the_sentences_themselves_stay(correction, sentences, checkout):
    correction.partly_annotated(
        spacy.blank("xx"), sentences[:2], [np.array([True] * len(s.words)) for s in sentences[:2]]
    )
    for mine, file in zip(sentences[:2], read_conllu(checkout / "assets/treebank/dev.conllu"), strict=False):
        assert mine.conllu.to_bytes() == file.to_bytes()


def test_runs_that_are_noted_are_not_repeated(correction, tmp_path, monkeypatch):
    asked = []

    def simulate(folder, *, first, new, steps, seed, orders, shares, done, others):
        for share in shares:
            for order in orders:
                asked.append((order, share, seed))
                if (folder.name[3:], order, share, seed) not in done:
                    yield correction.Correction(
                        folder.name[3:], first, new, steps, order, share, seed, 1, 1.0, 50.0, 1.0, others
                    )

    monkeypatch.setattr(correction, "simulate", simulate)
    settings = {
        "first": 1,
        "new": 2,
        "seeds": 2,
        "orders": ["a", "b"],
        "shares": [0.1],
        "results": tmp_path / "r.jsonl",
    }
    assert len(list(correction.simulate_all(tmp_path, ["T"], steps=3, **settings))) == 4
    assert list(correction.simulate_all(tmp_path, ["T"], steps=3, **settings)) == [] and len(asked) == 8
    assert len(list(correction.simulate_all(tmp_path, ["T"], steps=4, **settings))) == 4
    assert len(list(correction.simulate_all(tmp_path, ["T"], steps=3, others="parsed", **settings))) == 4
    means = correction.simulated_means(read_runs(tmp_path / "r.jsonl"))
    assert means["T, 1 + 2, 3 steps", "a", 0.1] == [50.0, 50.0]
