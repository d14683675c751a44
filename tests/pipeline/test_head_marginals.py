"""The probability of every arc, from the scores on a Doc."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot import constrain_scores
from spacy_mindroot.inference import marginals
from spacy_mindroot.pipeline.head_marginals import head_marginals


@pytest.fixture
def doc(rng):
    doc = Doc(spacy.blank("xx").vocab, words=["a", "b", "c", "d", "e"], sent_starts=[1, 0, 0, 1, 0])
    doc._.arc_scores = [rng.normal(size=(3, 4)), rng.normal(size=(2, 3))]
    return doc


def test_one_matrix_per_sentence(doc):
    found = head_marginals(doc)
    for own, scores in zip(found, doc._.arc_scores, strict=True):
        np.testing.assert_allclose(own, marginals(scores))


def test_constraints(doc):
    doc._.arc_constraints = {"required": [(0, 2)]}
    first, second = head_marginals(doc)
    np.testing.assert_allclose(first, marginals(constrain_scores(doc._.arc_scores[0], required=[(1, 3)])))
    np.testing.assert_allclose(second, marginals(doc._.arc_scores[1]))


def test_none_without_scores_that_fit(doc):
    doc._.arc_scores = doc._.arc_scores[:1]
    assert head_marginals(doc) is None
    doc._.arc_scores = None
    assert head_marginals(doc) is None
    doc._.arc_scores = [np.full((3, 4), -np.inf), np.zeros((2, 3))]
    assert head_marginals(doc) is None
