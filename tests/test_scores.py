"""The contract for arc scores: layouts, dtypes, counts; reduce_labels()."""

import numpy as np
import pytest

from generators import DATE, NO_NUMBERS
from spacy_mindroot import decode, errors, reduce_labels
from spacy_mindroot.scores import (
    LAYOUTS,
    check_layout,
    rearrange,
    shown,
    to_count,
    to_floats,
    to_int_array,
    to_root_column,
)


def test_best_label_of_each_arc(rng):
    scores = rng.normal(size=(4, 5, 7))
    best, labels = reduce_labels(scores)
    assert np.array_equal(best, scores.max(axis=2))
    assert np.array_equal(labels, scores.argmax(axis=2))
    assert labels.dtype == np.uint8
    assert [reduce_labels(rng.normal(size=(1, 2, n)))[1].dtype for n in (256, 257)] == [np.uint8, np.uint16]


def test_the_reduced_scores_give_the_best_labelled_tree(rng):
    """Against all trees and all labels of two tokens."""
    for _ in range(100):
        scores = rng.normal(size=(2, 3, 3))
        best, labels = reduce_labels(scores)
        heads = decode(best)
        trees = [(0, 1), (2, 0)]
        weights = [scores[0, a].max() + scores[1, b].max() for a, b in trees]
        assert tuple(heads) == trees[int(np.argmax(weights))]


@pytest.mark.parametrize("layout", ["root_column", "square", "square_transposed", "root_diagonal"])
def test_the_label_of_root_is_on_its_arcs_and_no_others(rng, layout):
    shape = (3, 4, 5) if layout == "root_column" else (4, 4, 5) if layout.startswith("square") else (3, 3, 5)
    labels = reduce_labels(rng.normal(size=shape), root_label=2, layout=layout)[1]
    from_root = np.zeros(shape[:2], dtype=bool)
    if layout == "root_diagonal":
        np.fill_diagonal(from_root, True)
    elif layout == "square_transposed":
        from_root[0] = True
    else:
        from_root[:, 0] = True
    assert np.array_equal(labels == 2, from_root)


def test_ties_go_to_the_lowest_label_and_nan_is_not_lost():
    scores = np.zeros((1, 2, 3))
    assert reduce_labels(scores)[1].tolist() == [[0, 0]]
    scores[0, 0, 1] = np.nan
    with pytest.raises(errors.InvalidScoreError):
        decode(reduce_labels(scores)[0])


def test_no_tokens():
    best, labels = reduce_labels(np.empty((0, 1, 4)), root_label=1)
    assert best.shape == labels.shape == (0, 1)


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 0), (3,)])
def test_wrong_dimensions(shape):
    with pytest.raises(errors.ScoresShapeError, match="3 dimensions"):
        reduce_labels(np.zeros(shape))


@pytest.mark.parametrize(
    "root_label", [-1, 3, "root", True, 1.0, DATE, [1], pytest.param(10**5000, id="of 5000 digits")]
)
def test_no_such_root_label(root_label):
    with pytest.raises(errors.LabelsError, match="3 labels"):
        reduce_labels(np.zeros((1, 2, 3)), root_label=root_label)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_array_of_labelled_scores(value):
    with pytest.raises((errors.ScoresTypeError, errors.ScoresShapeError)):
        reduce_labels(value)
    with pytest.raises(errors.ScoresShapeError, match="no layout"):
        reduce_labels(np.zeros((1, 2, 3)), layout=value)


# ---------------------------------------------------------------------------------------------------------------------
# Layouts and dtypes


def test_arrays_are_read_in_place_where_they_can_be(rng):
    for dtype in (np.float32, np.float64):
        scores = rng.normal(size=(4, 5)).astype(dtype)
        assert to_root_column(scores) is scores and to_floats(scores) is scores
        assert rearrange(scores, "root_column") is scores
    square = rng.normal(size=(5, 5))
    for layout in ("square", "square_transposed"):
        assert np.shares_memory(to_root_column(square, layout), square)


def test_label_indexes_are_rearranged_like_scores():
    indexes = np.arange(16, dtype=np.uint8).reshape(4, 4)
    assert np.array_equal(rearrange(indexes, "square"), indexes[1:])
    assert np.array_equal(rearrange(indexes, "square_transposed"), indexes.T[1:])
    assert np.array_equal(rearrange(indexes, "root_diagonal")[:, 0], indexes.diagonal())
    assert rearrange(indexes, "square").dtype == np.uint8


def test_the_name_of_a_sentence_is_made_only_for_an_error():
    def where():
        raise AssertionError

    to_root_column(np.zeros((2, 3), np.float16), where=where)
    with pytest.raises(errors.ScoresShapeError, match="^here: "):
        to_root_column(np.zeros((2, 4)), where=lambda: "here")


def test_every_layout_is_one():
    for layout in LAYOUTS:
        check_layout(layout)
    with pytest.raises(errors.ScoresShapeError, match="no layout 'row'"):
        check_layout("row")


@pytest.mark.parametrize("numbers", [[1, 2], (1, 2), range(1, 3), np.array([1, 2], np.uint8), np.array([1, 0, 2])[::2]])
def test_int_arrays(numbers):
    array = to_int_array(numbers)
    assert array.tolist() == [1, 2] and array.dtype == np.int64 and array.flags.c_contiguous
    assert to_int_array([]).tolist() == []


@pytest.mark.parametrize("numbers", [[1.0], ["1"], [[1]], 1, None, [None], [2**63], [2**70], [True], {1: 2}, [DATE]])
def test_no_int_arrays(numbers):
    assert to_int_array(numbers) is None


@pytest.mark.parametrize("number", [1, np.int8(1), np.uint64(1), np.array(1)])
def test_counts(number):
    count = to_count(number, "k")
    assert count == 1 and type(count) is int
    assert to_count(0, "size", least=0) == 0 and to_count(1 << 30, "k") == 1 << 30


@pytest.mark.parametrize(
    "number",
    [
        0,
        -1,
        2.0,
        "3",
        None,
        True,
        False,
        np.True_,
        DATE,
        int,
        [1],
        (1 << 30) + 1,
        pytest.param(10**5000, id="of 5000 digits"),
    ],
)
def test_no_counts(number):
    with pytest.raises(errors.CountError, match="^k is .*; it is a number of trees"):
        to_count(number, "k")


def test_anything_can_be_shown():
    class Silent:
        def __repr__(self):
            raise RuntimeError

    assert shown("a") == "'a'" and len(shown("a" * 1000)) == 100
    assert shown(Silent()) == "an object of type Silent" and shown(10**5000) == "an object of type int"
