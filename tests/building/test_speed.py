"""Tokens per second."""

import time

import spacy

from spacy_mindroot.building.speed import words_per_cpu_second
from spacy_mindroot.conllu import read_conllu


@spacy.Language.component("slow_for_test_speed")
def slow_for_test_speed(doc):
    """Takes about 50 microseconds for each token."""
    until = time.process_time() + 5e-5 * len(doc)
    while time.process_time() < until:
        pass
    return doc


def test_tokens_per_second(checkout):
    sentences = list(read_conllu(checkout / "assets" / "treebank" / "test.conllu"))
    nlp = spacy.blank("en")
    nlp.add_pipe("slow_for_test_speed")
    assert 2_000 < words_per_cpu_second(nlp, sentences) < 20_000


def test_a_tokenizer_without_tokens(checkout):
    sentences = list(read_conllu(checkout / "assets" / "treebank" / "test.conllu"))
    nlp = spacy.blank("en")
    nlp.tokenizer = lambda text: spacy.tokens.Doc(nlp.vocab)
    assert words_per_cpu_second(nlp, sentences) == 0
