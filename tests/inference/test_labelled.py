"""Marginals of labelled arcs, against all labelled trees."""

from itertools import product

import numpy as np
import pytest

from generators import all_trees, has_crossing_arcs
from spacy_mindroot import errors
from spacy_mindroot.inference import labelled_marginals, marginals


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
def test_against_all_labelled_trees(single_root, projective, rng):
    for n, labels in ((1, 3), (2, 3), (3, 2), (4, 2)):
        scores = rng.normal(0, 2, (n, n + 1, labels))
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        scores[np.arange(n), np.arange(n) + 1] = np.nan
        weights = np.zeros(scores.shape)
        trees, single = all_trees(n)
        for heads in trees[single] if single_root else trees:
            if projective and has_crossing_arcs(heads.tolist()):
                continue
            for chosen in product(range(labels), repeat=n):
                own = np.exp(sum(scores[i, heads[i], chosen[i]] for i in range(n)))
                for i in range(n):
                    weights[i, heads[i], chosen[i]] += own
        if not weights.any():
            with pytest.raises(errors.MindRootError):
                labelled_marginals(scores, single_root=single_root, projective=projective)
            continue
        expected = weights / weights[0].sum()
        found = labelled_marginals(scores, single_root=single_root, projective=projective)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_normalised_labels_change_no_arc(rng):
    arcs, labels = rng.normal(0, 3, (6, 7)), rng.normal(0, 3, (6, 7, 5))
    labels -= np.logaddexp.reduce(labels, axis=2)[:, :, None]
    found = labelled_marginals(arcs[:, :, None] + labels)
    np.testing.assert_allclose(found.sum(axis=2), marginals(arcs), atol=1e-12)
    np.testing.assert_allclose(found, marginals(arcs)[:, :, None] * np.exp(labels), atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 4), (2, 3, 0)])
def test_other_shapes(shape):
    with pytest.raises(errors.ScoresShapeError, match=r"\(n, n\+1, labels\)"):
        labelled_marginals(np.zeros(shape))
