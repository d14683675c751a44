"""The probability of every arc, from the scores on a Doc."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot import constrain_scores
from spacy_mindroot.inference import Calibration, marginals
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


def test_the_scores_that_mind_root_keeps(doc):
    nlp = spacy.blank("xx")
    parser = nlp.add_pipe("mind_root", config={"confidence": True, "keep_scores": True})
    doc = parser(doc)
    for own, scores in zip(head_marginals(doc), doc._.arc_scores, strict=True):
        np.testing.assert_allclose(own, marginals(scores), atol=1e-12)


@pytest.mark.parametrize("projective", [False, True])
def test_calibrated_probabilities_of_all_heads(doc, projective):
    """They are those of the mixture."""
    doc._.arc_scores = [*doc._.arc_scores[:1], np.zeros((2, 3))]
    nlp = spacy.blank("xx")
    config = {"confidence": True, "keep_scores": True, "projective": projective}
    parser = nlp.add_pipe("mind_root", config=config)
    parser.calibration = Calibration(arc_temperature=2.0, arc_lapse=0.2)
    doc = parser(doc)
    for parsed in (doc, Doc(doc.vocab).from_bytes(doc.to_bytes())):
        for own, scores in zip(head_marginals(parsed), doc._.arc_scores, strict=True):
            expected = marginals(scores, temperature=2.0, lapse=0.2, projective=projective)
            np.testing.assert_allclose(own, expected, atol=1e-12)
            assert not np.allclose(own, marginals(scores, projective=projective), atol=1e-3) or len(own) == 2
    parser.confidence = False
    assert parser(doc)._.arc_distribution is None
    np.testing.assert_allclose(head_marginals(doc)[0], marginals(doc._.arc_scores[0]))
