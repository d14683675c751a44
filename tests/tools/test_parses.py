"""Parses: heads, probabilities and next best heads, as a Doc has them."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from generators import random_scores
from spacy_mindroot import MindRootError
from spacy_mindroot.inference import marginals
from spacy_mindroot.tools.parses import parses_of


def test_probabilities_and_next_best_heads(rng):
    parser = spacy.blank("xx").add_pipe("mind_root", config={"confidence": True, "keep_scores": True})
    matrices = [random_scores("normal", n, rng) for n in (4, 1, 3)]
    doc = Doc(spacy.blank("xx").vocab, words=["w"] * 8)
    doc._.arc_scores = list(matrices)
    parses = parses_of(parser(doc))
    assert [parse.name for parse in parses] == ["1", "2", "3"]
    for parse, scores in zip(parses, matrices, strict=True):
        expected = marginals(scores)
        for token, (head, prob) in enumerate(zip(parse.heads, parse.head_prob, strict=True), 1):
            assert prob == pytest.approx(expected[token - 1, head])
            others = {other: p for other, p in enumerate(expected[token - 1]) if other not in (head, token) and p > 0}
            best = max(others, key=others.get, default=None)
            found = parse.next_best(token)
            assert found is None if best is None else found == (best, pytest.approx(others[best]))
        assert parse.word(None) == "unknown" and parse.word(0) == "ROOT" and parse.word(1) == "w"


def test_heads_in_other_sentences_are_an_error():
    doc = Doc(spacy.blank("xx").vocab, words=["a", "b"], heads=[0, 0], deps=["ROOT", "dep"])
    doc.from_array(["SENT_START"], np.array([1, 1], dtype=np.uint64))
    with pytest.raises(MindRootError, match=r"token 1 \('b'\) is in another sentence"):
        parses_of(doc)
