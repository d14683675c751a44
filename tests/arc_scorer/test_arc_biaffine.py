"""The biaffine arc scores: gradients, batches, and how they start."""

from thinc.api import fix_random_seed

from scorer_helpers import LENGTHS, OPS, WIDTH, check_alone_and_in_a_batch, check_arc_gradients, vectors
from spacy_mindroot.arc_scorer.arc_biaffine import ArcBiaffine
from spacy_mindroot.arc_scorer.batching import batch_sentences


def test_gradients(rng):
    check_arc_gradients(ArcBiaffine, rng)


def test_a_sentence_scores_the_same_alone_and_in_a_batch(rng):
    check_alone_and_in_a_batch(ArcBiaffine, rng)


def test_initial_scores_do_not_depend_on_the_vectors(rng):
    """Weights start at zero, since training would have to undo random ones."""
    fix_random_seed(0)
    batch = batch_sentences(OPS, LENGTHS)
    model = ArcBiaffine(WIDTH)
    model.initialize(X=(vectors(rng), vectors(rng), batch))
    assert all((block == 0).all() for block in model.predict((vectors(rng), vectors(rng), batch)))
