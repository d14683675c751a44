"""Properties that hold for any arc scores, whatever the best tree is."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from generators import KINDS, random_scores, total
from spacy_mindroot import count_roots, decode, decode_batch, greedy_heads, is_tree

# Eighths, so that sums are exact and ties are common.
eighths = st.integers(-40, 40).map(lambda number: number / 8)
sentences = st.integers(1, 9).flatmap(lambda n: arrays(np.float64, (n, n + 1), elements=eighths))


@given(sentences, st.data())
def test_adding_a_constant_to_a_row_changes_nothing(scores, data):
    constants = data.draw(arrays(np.float64, (len(scores), 1), elements=st.integers(-1000, 1000).map(float)))
    assert decode(scores + constants).tolist() == decode(scores).tolist()


@given(sentences, st.randoms(use_true_random=False))
def test_relabelling_tokens_relabels_the_tree(scores, random):
    n = len(scores)
    order = list(range(n))
    random.shuffle(order)
    columns = [0] + [token + 1 for token in order]
    relabelled = scores[order][:, columns]
    assert total(relabelled, decode(relabelled)) == total(scores, decode(scores))


@given(sentences)
def test_at_least_as_good_as_every_tree_forced_to_a_root(scores):
    weight = total(scores, decode(scores))
    for root in range(len(scores)):
        forced = scores.copy()
        forced[np.arange(len(scores)) != root, 0] = -np.inf
        assert total(scores, decode(forced)) <= weight


@given(sentences)
def test_the_constraint_never_gains_and_changes_nothing_that_has_one_root(scores):
    free, constrained = decode(scores, single_root=False), decode(scores)
    assert is_tree(free) and is_tree(constrained) and count_roots(constrained) == 1
    assert total(scores, constrained) <= total(scores, free)
    if count_roots(free) == 1:
        assert total(scores, constrained) == total(scores, free)


@given(sentences)
def test_float32_and_float64_give_the_same_tree(scores):
    assert decode(scores.astype(np.float32)).tolist() == decode(scores).tolist()


@given(sentences)
@settings(max_examples=50)
def test_the_greedy_graph_takes_the_lowest_of_equal_heads(scores):
    masked = scores.copy()
    masked[np.arange(len(scores)), np.arange(len(scores)) + 1] = -np.inf
    assert greedy_heads(scores).tolist() == masked.argmax(axis=1).tolist()


@pytest.mark.parametrize("n", [1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 100])
def test_ties_at_every_vector_position(n, rng):
    """Column ties wherever they fall in a vector register: the lowest column wins, the self arc never."""
    for dtype in (np.float32, np.float64):
        for _ in range(20):
            scores = rng.integers(0, 2, (n, n + 1)).astype(dtype)
            scores[np.arange(n), np.arange(n) + 1] = rng.choice([np.nan, np.inf, 9])
            masked = scores.copy()
            masked[np.arange(n), np.arange(n) + 1] = -np.inf
            assert greedy_heads(scores).tolist() == masked.argmax(axis=1).tolist()
            assert greedy_heads(np.asfortranarray(scores)).tolist() == masked.argmax(axis=1).tolist()


@pytest.mark.parametrize("single_root", [True, False])
def test_same_tree_alone_in_a_batch_and_in_any_thread(rng, single_root):
    kinds = [kind for kind in KINDS if kind != "masked"]
    batch = [random_scores(kinds[k % len(kinds)], rng.integers(1, 60), rng, np.float32) for k in range(300)]
    alone = [decode(scores, single_root=single_root).tolist() for scores in batch]
    lengths = [len(scores) for scores in batch]
    flat = np.concatenate([scores.ravel() for scores in batch])

    assert [heads.tolist() for heads in decode_batch(batch, single_root=single_root)] == alone
    assert decode_batch(flat, lengths, single_root=single_root).tolist() == sum(alone, [])
    with ThreadPoolExecutor(8) as threads:
        threaded = list(threads.map(lambda scores: decode(scores, single_root=single_root).tolist(), batch * 4))
    assert threaded == alone * 4


def test_scores_near_the_largest_double_do_not_overflow(rng):
    for _ in range(200):
        scores = np.clip(rng.integers(-4, 5, (6, 7)) + rng.choice([0, 3]) * np.eye(1, 7), -7, 7)
        assert decode(scores * 2.0**1021).tolist() == decode(scores).tolist()
    largest = np.finfo(np.float64).max
    assert decode([[largest, 0, largest], [largest, -largest, 0]]).tolist() == [2, 0]


@pytest.mark.parametrize("n", [2000, 5000])
def test_long_sentences(n):
    """Nested cycles, the deepest contraction there is, and all tokens on ROOT: no recursion, a tree all the same."""
    nested = np.full((n, n + 1), -50, dtype=np.float32)
    nested[:, 0] = -100
    nested[np.arange(1, n), np.arange(1, n)] = 0
    nested[0, 2:] = -(np.arange(2, n + 1) * (4.0 / n))
    heads = decode(nested)
    assert is_tree(heads) and count_roots(heads) == 1

    crowded = np.zeros((n, n + 1), dtype=np.float32)
    crowded[:, 0] = 10
    heads = decode(crowded)
    assert is_tree(heads) and count_roots(heads) == 1
