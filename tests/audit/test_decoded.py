"""The loop that `decode` and `audit` share."""

import numpy as np
import pytest

from spacy_mindroot import decode
from spacy_mindroot.audit.decoded import decode_sentences
from spacy_mindroot.errors import DecodingError
from spacy_mindroot.scored import ScoredSentence


def sentences(matrices):
    for scores in matrices:
        yield ScoredSentence(scores=scores, words=["w"] * len(scores), best_labels=None, label_names=[])


def test_order_trees_and_time_over_several_batches(rng):
    matrices = [rng.normal(size=(n, n + 1)) for n in rng.integers(0, 5, 2100)]
    found = list(decode_sentences(sentences(matrices), source="here"))
    assert len(found) == 2100
    for scores, each in zip(matrices, found, strict=True):
        assert each.sentence.scores is scores
        assert np.array_equal(each.single_root, decode(scores))
        assert np.array_equal(each.unconstrained, decode(scores, single_root=False))
        assert each.multi_rooted == (np.count_nonzero(each.unconstrained == 0) > 1)
    assert any(each.multi_rooted for each in found) and sum(each.seconds for each in found) > 0


def test_the_next_batch_is_decoded_when_it_is_needed():
    def stream():
        yield from sentences([np.zeros((1, 2))] * 1000)
        raise RuntimeError("read too far")

    decoded = decode_sentences(stream(), source="here")
    for _ in range(1000):
        next(decoded)
    with pytest.raises(RuntimeError, match="too far"):
        next(decoded)


def test_a_sentence_without_a_tree_is_named_past_the_first_batch():
    matrices = [np.zeros((1, 2))] * 1003 + [np.full((1, 2), -np.inf)]
    with pytest.raises(DecodingError, match="sentence 1004 of here"):
        list(decode_sentences(sentences(matrices), source="here"))
