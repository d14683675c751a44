"""reduce_labels(): the best label of each arc."""

import numpy as np
import pytest

from spacy_mindroot import decode, errors, reduce_labels


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


@pytest.mark.parametrize("root_label", [-1, 3, "root"])
def test_no_such_root_label(root_label):
    with pytest.raises(errors.LabelsError, match="3 labels"):
        reduce_labels(np.zeros((1, 2, 3)), root_label=root_label)
