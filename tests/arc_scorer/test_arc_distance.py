"""The arc scores by distance: gradients and batches."""

import numpy as np
import pytest

from scorer_helpers import (
    LENGTHS,
    OPS,
    WIDTH,
    DeviceOps,
    check_alone_and_in_a_batch,
    check_arc_gradients,
    randomise,
    vectors,
)
from spacy_mindroot.arc_scorer.arc_distance import ArcDistance
from spacy_mindroot.arc_scorer.batching import batch_sentences


def test_gradients(rng):
    check_arc_gradients(ArcDistance, rng)


def test_a_sentence_scores_the_same_alone_and_in_a_batch(rng):
    check_alone_and_in_a_batch(ArcDistance, rng)


@pytest.mark.parametrize("lengths", [LENGTHS, [1], [60, 57, 55, 2]])
def test_the_compiled_loop_computes_what_the_array_operations_compute(lengths, rng):
    """On all arcs of tokens; padding may differ."""
    model = ArcDistance(WIDTH)
    model.initialize()
    randomise(model, rng)
    inputs = (vectors(rng, sum(lengths)), vectors(rng, sum(lengths)), batch_sentences(OPS, lengths))
    on_host = model.predict(inputs)
    model.ops = DeviceOps()
    for group, one, other in zip(inputs[2].groups, on_host, model.predict(inputs), strict=True):
        for row, n in enumerate(group.lengths):
            np.testing.assert_allclose(one[row, :n, : n + 1], other[row, :n, : n + 1], atol=1e-5)
