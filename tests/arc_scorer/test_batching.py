"""Groups of sentences: nothing is lost, and there is little padding."""

import numpy as np

from scorer_helpers import OPS
from spacy_mindroot.arc_scorer.batching import BUCKETS, batch_sentences, distance_buckets


def test_every_token_is_in_one_group(rng):
    for _ in range(50):
        lengths = rng.integers(1, rng.choice([5, 40, 300]), size=rng.integers(1, 60))
        batch = batch_sentences(OPS, lengths)
        assert sorted(k for group in batch.groups for k in group.sentences.tolist()) == list(range(len(lengths)))
        assert sorted(np.concatenate([g.tokens[g.real] for g in batch.groups])) == list(range(lengths.sum()))
        padded = rng.normal(size=(lengths.sum(), 3)).astype("f")
        back = np.zeros_like(padded)
        for group in batch.groups:
            group.unpad(group.pad(padded), into=back)
        assert np.array_equal(back, padded)


def test_padding_and_blocks_stay_small(rng):
    lengths = rng.integers(1, 60, size=500)
    batch = batch_sentences(OPS, [*lengths, 900])
    cells = sum(group.allowed.size for group in batch.groups)
    assert cells < 1.6 * sum(n * (n + 1) for n in [*lengths, 900])
    assert max(group.allowed.size for group in batch.groups if len(group.sentences) > 1) <= 1 << 18
    groups = batch_sentences(OPS, [3, 40, 4, 38]).groups
    assert [group.lengths.tolist() for group in groups] == [[40, 38], [4, 3]]


def test_arcs_come_from_root_and_from_other_tokens_of_the_sentence():
    (group,) = batch_sentences(OPS, [3, 2]).groups
    of_three, of_two = group.allowed.astype(int).tolist()
    assert of_three == [[1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    assert of_two[:2] == [[1, 0, 1, 0], [1, 1, 0, 0]]


def test_distances_fall_into_their_buckets():
    buckets = distance_buckets(40)
    assert (np.diag(buckets) == 0).all()
    assert buckets[0, [1, 2, 3, 4, 5, 6, 8, 9, 13, 14, 23, 24, 39]].tolist() == [1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]
    assert buckets[39, [38, 37, 0]].tolist() == [9, 10, 16]
    assert buckets.max() < BUCKETS
