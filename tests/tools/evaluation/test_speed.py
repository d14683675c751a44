"""Tokens per second."""

import time

import pytest
import spacy

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.tools.evaluation.predicting import words_per_cpu_second


def test_tokens_per_second(checkout, monkeypatch):
    sentences = list(read_conllu(checkout / "assets" / "treebank" / "test.conllu"))
    nlp = spacy.blank("en")
    clock = [0.0]  # of which each token takes 50 microseconds

    @nlp.component("clock_for_test_speed")
    def advance(doc):
        clock[0] += 5e-5 * len(doc)
        return doc

    nlp.add_pipe("clock_for_test_speed")
    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    assert words_per_cpu_second(nlp, sentences) == pytest.approx(20_000, rel=1e-3)


def test_a_tokenizer_without_tokens(checkout):
    sentences = list(read_conllu(checkout / "assets" / "treebank" / "test.conllu"))
    nlp = spacy.blank("en")
    nlp.tokenizer = lambda text: spacy.tokens.Doc(nlp.vocab)
    assert words_per_cpu_second(nlp, sentences) == 0
