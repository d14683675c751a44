"""The arc scores by distance: gradients and batches."""

from scorer_helpers import check_alone_and_in_a_batch, check_arc_gradients
from spacy_mindroot.arc_scorer.arc_distance import ArcDistance


def test_gradients(rng):
    check_arc_gradients(ArcDistance, rng)


def test_a_sentence_scores_the_same_alone_and_in_a_batch(rng):
    check_alone_and_in_a_batch(ArcDistance, rng)
