"""Sentences and trees in one search. What the search finds is checked in core/test_segmentation_reference.py."""

import numpy as np
import pytest
from segmentations import band_of, check, random_text

from spacy_mindroot import decode
from spacy_mindroot.core.segmentation_reference import Segmented
from spacy_mindroot.errors import (
    CountError,
    InvalidScoreError,
    NoTreeError,
    ScoreRangeError,
    ScoresShapeError,
    ScoresTypeError,
)
from spacy_mindroot.inference import decode_segments


@pytest.mark.parametrize("partition", [False, True])
def test_the_best_division_is_found(partition):
    divided = 0
    for number in range(120):
        window, starts, max_length, _ = random_text(number, 5)
        try:
            found = decode_segments(window, starts, max_length=max_length, partition=partition)
        except NoTreeError:
            continue
        assert found.gap == 0 and found.lengths.dtype == found.heads.dtype == np.int32
        check(Segmented(*found, 0), window, starts, max_length, partition)
        divided += 1
    assert divided > 60


def test_anything_that_numpy_reads_will_do():
    window = np.random.default_rng(0).normal(0, 3, (6, 7))
    starts = [0, -1, 0, 1, 0, -1]
    expected = decode_segments(window, starts)
    for other in (window.tolist(), np.asfortranarray(window), np.repeat(window, 2, axis=1)[:, ::2]):
        found = decode_segments(other, np.array(starts, dtype=np.float32))
        assert found.heads.tolist() == expected.heads.tolist() and found.score == expected.score
    assert decode_segments(window.astype(np.float32), starts).score == pytest.approx(expected.score, rel=1e-6)


def test_a_band_gives_the_same():
    window = np.random.default_rng(1).normal(0, 3, (12, 13))
    starts = np.full(12, -1.0)
    expected = decode_segments(window, starts, max_length=4)
    for band in (3, 5):
        found = decode_segments(band_of(window, band), starts, max_length=4, band=band)
        assert found.heads.tolist() == expected.heads.tolist() and found.score == expected.score


def test_certain_starts_are_respected():
    scores = np.random.default_rng(2).normal(0, 3, (7, 8))
    starts = np.array([0, -np.inf, np.inf, -np.inf, -np.inf, np.inf, -np.inf])
    found = decode_segments(scores, starts)
    assert found.lengths.tolist() == [2, 3, 2]
    for first, end in ((0, 2), (2, 5), (5, 7)):
        own = scores[first:end, [0, *range(first + 1, end + 1)]]
        assert found.heads[first:end].tolist() == decode(own).tolist()


def test_a_threshold_bounds_what_it_costs():
    scores = np.random.default_rng(3).normal(0, 2, (30, 31))
    starts = np.random.default_rng(4).normal(2, 2, 30)
    best = decode_segments(scores, starts, max_length=10)
    found = decode_segments(scores, starts, max_length=10, threshold=4)
    assert best.gap == 0 < found.gap and found.score < best.score <= found.score + found.gap
    assert all(starts[token] >= 4 for token in np.cumsum(found.lengths)[:-1])
    assert decode_segments(scores, starts, max_length=10, threshold=-9).score == best.score


def test_where_no_place_is_likely_all_count():
    found = decode_segments(np.zeros((9, 10)), np.full(9, -5.0), max_length=4, threshold=0)
    assert found.lengths.max() <= 4 and found.score == -10


def test_an_empty_text_has_no_sentences():
    for scores, band in ((np.zeros((0, 1)), None), (np.zeros((0, 8)), 3)):
        found = decode_segments(scores, [], max_length=3, band=band)
        assert (found.lengths.tolist(), found.heads.tolist(), found.score, found.gap) == ([], [], 0, 0)


def test_a_long_text_takes_memory_for_its_band_only():
    n, length = 3000, 20
    rng = np.random.default_rng(5)
    tokens = np.arange(n)
    heads = tokens[:, np.newaxis] + np.arange(1 - length, length)
    own = heads // 10 == tokens[:, np.newaxis] // 10
    band = np.hstack([np.where(tokens % 10, -9, 0)[:, np.newaxis], rng.normal(-5, 1, own.shape) - 9.0 * ~own])
    starts = np.where(tokens % 10, -2.0, 2.0)
    found = decode_segments(band, starts, max_length=length, band=length - 1)
    assert found.lengths.sum() == n and (found.lengths == 10).mean() > 0.9


SQUARE = np.zeros((3, 4))


@pytest.mark.parametrize(
    ("error", "match", "scores", "starts", "options"),
    [
        (ScoresShapeError, r"shape \(3,\), but it is \(2,\)", SQUARE, [0, 0], {}),
        (ScoresTypeError, "starts at token 2 is NaN", SQUARE, [0, np.nan, 0], {}),
        (ScoresTypeError, "can't be read", SQUARE, ["a", "b", "c"], {}),
        (ScoresTypeError, "threshold is NaN", SQUARE, [0, 0, 0], {"threshold": np.nan}),
        (CountError, "max_length is 0", SQUARE, [0, 0, 0], {"max_length": 0}),
        (CountError, "band is -1", SQUARE, [0, 0, 0], {"band": -1}),
        (ScoresShapeError, r"shape \(n, 8\)", SQUARE, [0, 0, 0], {"band": 3, "max_length": 4}),
        (ScoresShapeError, "at most 2 tokens, but max_length is 3", SQUARE, [0, 0, 0], {"band": 1, "max_length": 3}),
        (ScoreRangeError, "beyond 1e301", np.full((3, 4), 1e305), [0, 0, 0], {}),
        (ScoreRangeError, "beyond 1e301", SQUARE, [0, 1e305, 0], {}),
        (NoTreeError, "can't be divided", np.full((3, 4), -np.inf), [0, 0, 0], {}),
        (NoTreeError, "at most 2 tokens", SQUARE, [0, -np.inf, -np.inf], {"max_length": 2}),
        (
            InvalidScoreError,
            "head 1 for dependent 2 is NaN",
            [[0, 0, 0, 0], [0, np.nan, 0, 0], [0, 0, 0, 0]],
            [0] * 3,
            {},
        ),
    ],
)
def test_errors_say_what_to_do(error, match, scores, starts, options):
    with pytest.raises(error, match=match):
        decode_segments(scores, starts, **options)


def test_a_score_in_a_band_is_named_by_its_token():
    band = np.zeros((4, 6))
    band[3, 2] = np.inf  # the token before
    with pytest.raises(InvalidScoreError, match=r"head 3 for dependent 4 is \+inf"):
        decode_segments(band, np.zeros(4), max_length=3, band=2)
    band[3, 2], band[1, 0] = 0, np.nan
    with pytest.raises(InvalidScoreError, match=r"head 0 \(ROOT\) for dependent 2 is NaN"):
        decode_segments(band, np.zeros(4), max_length=3, band=2)
