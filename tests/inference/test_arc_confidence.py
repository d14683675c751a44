"""How sure the scores are of a tree: against all trees there are."""

import numpy as np
import pytest

from generators import KINDS, random_scores, weights_of_all_trees
from spacy_mindroot import decode, errors, tree_weight
from spacy_mindroot.inference import confidence, log_partition, marginals


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "huge"])
def test_of_any_tree(kind, rng):
    for n in (1, 2, 3, 4, 5):
        scores = random_scores(kind, n, rng)
        trees, weights = weights_of_all_trees(scores, single_root=True)
        if len(trees) == 0:
            continue
        k = rng.integers(len(trees))
        found = confidence(scores, trees[k])
        assert found.tree_logprob == pytest.approx(weights[k] - np.logaddexp.reduce(weights), rel=1e-6, abs=1e-9)
        np.testing.assert_allclose(found.head_prob, marginals(scores)[np.arange(n), trees[k]], atol=1e-12)
        probabilities = marginals(scores)
        for row, entropy in zip(probabilities, found.head_entropy, strict=True):
            assert entropy == pytest.approx(-sum(p * np.log(p) for p in row if p > 0), abs=1e-9)


def test_of_a_tree_that_is_all_but_certain(rng):
    """Log-probabilities near zero keep their digits, whatever the weights."""
    scores = np.full((4, 5), 1e6)
    heads = [2, 0, 2, 3]
    scores[np.arange(4), heads] += 20
    logprob = confidence(scores, heads).tree_logprob
    trees, weights = weights_of_all_trees(scores - 1e6, single_root=True)
    others = np.exp(weights[1:] - weights[0]).sum()
    assert trees[0].tolist() == heads and logprob == pytest.approx(-np.log1p(others), rel=1e-4) and logprob < 0


def test_of_a_tree_with_a_forbidden_arc():
    scores = [[5, 0, -np.inf], [4, 3, 0]]
    found = confidence(scores, [2, 0])
    assert found.tree_logprob == -np.inf and found.head_prob.tolist() == [0, 0]


def test_long_sentences_and_other_layouts(rng):
    scores = rng.normal(0, 5, (60, 61)).astype(np.float32)
    heads = decode(scores)
    square = np.vstack([np.zeros(61), scores])
    found = confidence(square, heads, layout="square")
    assert found.tree_logprob == pytest.approx(tree_weight(scores, heads) - log_partition(scores), abs=1e-4)
    assert len(confidence([], []).head_prob) == 0 and confidence([], []).tree_logprob == 0


@pytest.mark.parametrize("heads", [[0, 0], [2, 1], [0], [0, 1, 1], [0, 3]])
def test_heads_that_are_no_tree_with_one_root(heads):
    with pytest.raises(errors.HeadsError, match="one root over 2 tokens"):
        confidence(np.zeros((2, 3)), heads)


def test_errors_are_those_of_the_marginals():
    with pytest.raises(errors.NoRootError):
        confidence([[-np.inf, 0]], [0])
    with pytest.raises(errors.InvalidScoreError):
        confidence([[np.nan, 0]], [0])
