"""Arcs that are masked with large finite numbers: the same probabilities as with -inf, however large the mask."""

import numpy as np
import pytest

from generators import exact_distribution, weights_of_all_trees
from spacy_mindroot import decode, errors
from spacy_mindroot.inference import (
    confidence,
    entropy,
    fit_calibration,
    head_set_threshold,
    head_sets,
    kbest,
    labelled_marginals,
    log_partition,
    marginals,
    sample,
)
from spacy_mindroot.inference.arc_confidence import margins_of
from spacy_mindroot.inference.calibration import label_probabilities

LARGE = [1e6, 1e9, 1e12, 1e16, 1e30, float(np.finfo(np.float32).max), float(np.finfo(np.float64).max)]
MIXTURES = [{}, {"temperature": 3.0, "lapse": 0.2}, {"temperature": 0.2, "lapse": 0.3}, {"lapse": 1.0}]


def _punctuation(mask, rng):
    """Some tokens have no dependents and are not the root."""
    for token in np.flatnonzero(rng.random(len(mask)) < 0.3):
        mask[:, token + 1] = mask[token, 0] = True


def _rows(mask, rng):
    """Some tokens have few possible heads."""
    for token in np.flatnonzero(rng.random(len(mask)) < 0.4):
        mask[token, rng.random(len(mask) + 1) < 0.8] = True


def _arcs(mask, rng):
    mask |= rng.random(mask.shape) < 0.4


def _roots(mask, rng):
    mask[:, 0] = rng.random(len(mask)) < 0.8


def _given_root(mask, rng):
    """ROOT is the only head of one token."""
    mask[rng.integers(len(mask)), 1:] = True


WHERE = [_punctuation, _rows, _arcs, _roots, _given_root]


def masked_scores(where, n, rng, **trees):
    """Yield a mask of which there is a tree, scores with -inf there, and the same with each finite number."""
    scores = rng.normal(0, 3, (n, n + 1))
    while True:
        mask = np.zeros((n, n + 1), dtype=bool)
        where(mask, rng)
        forbidden = np.where(mask, -np.inf, scores)
        try:
            decode(forbidden, **trees)
        except errors.DecodingError:
            continue
        added = np.where(mask, scores - 1e7, scores)
        return forbidden, [added, *(np.where(mask, -large, scores) for large in LARGE)]


def all_results(scores, heads, **trees):
    """Return all probabilities that there are of a sentence, as one array."""
    found = [np.array([log_partition(scores, **trees), entropy(scores, **trees)]), marginals(scores, **trees).ravel()]
    for mixture in MIXTURES[1:]:
        found.append(marginals(scores, **mixture, **trees).ravel())
    if trees["single_root"]:
        for mixture in MIXTURES:
            head_prob, head_entropy, logprob = confidence(scores, heads, projective=trees["projective"], **mixture)
            found.append(np.array([*head_prob, *head_entropy, logprob]))
    return np.concatenate(found)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("where", WHERE)
def test_any_mask_is_as_good_as_minus_infinity(where, single_root, projective, rng):
    trees = {"single_root": single_root, "projective": projective}
    for n in [*range(2, 13), 30]:
        forbidden, finite = masked_scores(where, n, rng, **trees)
        heads = decode(forbidden, **trees)
        expected = all_results(forbidden, heads, **trees)
        for scores in finite:
            np.testing.assert_allclose(all_results(scores, heads, **trees), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("where", WHERE)
def test_probabilities_under_masks_against_all_trees(where, single_root, projective, rng):
    trees = {"single_root": single_root, "projective": projective}
    for n in (2, 3, 4, 5):
        forbidden, finite = masked_scores(where, n, rng, **trees)
        heads, weights = weights_of_all_trees(forbidden, **trees)
        p = np.exp(weights - np.logaddexp.reduce(weights))
        expected = np.zeros((n, n + 1))
        for tree, own in zip(heads, p, strict=True):
            expected[np.arange(n), tree] += own
        alike = np.zeros((n, n + 1))
        for tree in heads:
            alike[np.arange(n), tree] += 1 / len(heads)
        for scores in finite:
            np.testing.assert_allclose(marginals(scores, **trees), expected, atol=1e-9)
            assert log_partition(scores, **trees) == pytest.approx(np.logaddexp.reduce(weights), abs=1e-9)
            assert entropy(scores, **trees) == pytest.approx(-(p * np.log(p)).sum(), abs=1e-9)
            np.testing.assert_allclose(marginals(scores, lapse=0.3, **trees), 0.7 * expected + 0.3 * alike, atol=1e-9)


def test_punctuation_that_is_no_head_and_no_root():
    """They left . : the exact probabilities, from the two trees of weights that matter."""
    mask = float(np.finfo(np.float32).min)
    scores = [[-2, 0, -0.1, mask], [-0.1, -2, 0, mask], [mask, -2.5, -0.1, 0]]
    of_left = 1 / (1 + np.exp(-2.4))
    np.testing.assert_allclose(marginals(scores)[2], [0, 1 - of_left, of_left, 0], atol=1e-12)
    np.testing.assert_allclose(marginals(np.float32(scores))[2], [0, 1 - of_left, of_left, 0], atol=1e-6)


@pytest.mark.parametrize("where", WHERE)
def test_samples_best_trees_and_margins(where, rng):
    for n in (2, 3, 4, 9):
        forbidden, finite = masked_scores(where, n, rng)
        trees = kbest(forbidden, 6)
        for scores in finite:
            for settings in ({}, {"replace": False}, {"single_root": False}):
                assert np.array_equal(sample(scores, 6, rng=n, **settings), sample(forbidden, 6, rng=n, **settings))
            found = kbest(scores, 6)[: len(trees)]
            assert [heads.tolist() for heads, _ in found] == [heads.tolist() for heads, _ in trees]
            np.testing.assert_allclose([weight for _, weight in found], [weight for _, weight in trees])
            if len(trees) > 1:
                assert margins_of([scores], [trees[0][0]]) == margins_of([forbidden], [trees[0][0]])


@pytest.mark.parametrize("projective", [False, True])
def test_calibration_and_sets_of_heads(projective, rng):
    pairs = [masked_scores(WHERE[k % 5], 2 + k % 8, rng, projective=projective) for k in range(20)]
    gold = [sample(forbidden, 1, rng=k)[0] for k, (forbidden, _) in enumerate(pairs)]
    fit = fit_calibration([forbidden for forbidden, _ in pairs], gold, projective=projective)
    mixture = {"temperature": fit.arc_temperature, "lapse": fit.arc_lapse, "projective": projective}
    expected = [marginals(forbidden, **mixture) for forbidden, _ in pairs]
    threshold = head_set_threshold(expected, gold, 0.8)
    for k in range(len(LARGE) + 1):
        scores = [finite[k] for _, finite in pairs]
        assert fit_calibration(scores, gold, projective=projective) == fit
        for own, p in zip(scores, expected, strict=True):
            found = head_sets(marginals(own, **mixture), threshold)
            assert all(map(np.array_equal, found, head_sets(p, threshold)))


@pytest.mark.parametrize("single_root", [True, False])
def test_labels(single_root, rng):
    """Both whole arcs and single labels of an arc are masked."""
    for n in (2, 3, 5, 30):
        forbidden, finite = masked_scores(WHERE[n % 5], n, rng, single_root=single_root)
        labels = rng.normal(0, 2, (n, n + 1, 4))
        some = rng.random(labels.shape) < 0.4
        some[:, :, 0] = False
        expected = labelled_marginals(
            np.where(some, -np.inf, labels) + forbidden[:, :, np.newaxis], single_root=single_root
        )
        for large, scores in zip([1e7, *LARGE], finite, strict=True):
            own = np.where(some | (scores == -large)[:, :, np.newaxis], -large, labels + scores[:, :, np.newaxis])
            found = labelled_marginals(own, single_root=single_root)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    scores = np.where(rng.random((50, 6)) < 0.5, -np.inf, rng.normal(0, 2, (50, 6)))
    scores[:, 0] = 0
    for temperature in (1 / 64, 1.0, 64.0):
        expected = label_probabilities(scores, temperature, 0.2)
        for large in LARGE:
            found = label_probabilities(np.where(scores == -np.inf, -large, scores), temperature, 0.2)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("large", LARGE[:-1])
@pytest.mark.parametrize("single_root", [True, False])
def test_masked_arcs_that_every_tree_needs(single_root, large, rng):
    """They stay: as good as the size of the mask allows, against all trees in exact arithmetic."""
    for _ in range(20):
        scores = rng.integers(-3, 4, (4, 5)).astype(float)
        scores[:2, [0, 3, 4]] -= large  # two tokens have no other head than each other
        scores[rng.integers(2, 4)] -= large  # every arc of one token
        found = marginals(scores, single_root=single_root)
        assert (found >= 0).all() and (found <= 1 + 1e-12).all()
        np.testing.assert_allclose(found.sum(axis=1), 1)
        if large > 1e9:
            continue
        trees, p, _, _ = exact_distribution(scores, single_root=single_root)
        expected = np.zeros((4, 5))
        for tree, own in zip(trees, p, strict=True):
            expected[np.arange(4), tree] += own
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("single_root", [True, False])
def test_masks_next_to_a_penalty_on_all_arcs_from_root(single_root, rng):
    """The usual way to get one root. Every tree has an arc from ROOT, so the penalty is no mask."""
    for n in (2, 5, 12):
        forbidden, finite = masked_scores(_punctuation, n, rng)
        scores = finite[1]
        scores[:, 0] -= 1e6
        np.testing.assert_allclose(marginals(scores, single_root=single_root), marginals(forbidden), atol=1e-8)
        np.testing.assert_allclose(marginals(scores, lapse=1.0), marginals(forbidden, lapse=1.0), atol=1e-12)


def test_masked_arcs_that_only_trees_with_crossing_arcs_can_avoid():
    scores = np.full((4, 5), -1e6)
    scores[np.arange(4), [3, 4, 0, 3]] = 0  # 1 <- 3 and 2 <- 4 cross
    assert marginals(scores, lapse=0.5)[1, 4] == 1
    found = marginals(scores, lapse=0.5, projective=True)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert 0 < found[1, 4] < 1


def test_the_log_probability_of_a_tree_with_a_masked_arc():
    scores = [[0, 0, -1e6], [0, 0, 0]]
    assert confidence(scores, [2, 0]).tree_logprob == pytest.approx(-1e6)
    lapsed = confidence(scores, [2, 0], lapse=0.5)
    assert lapsed.head_prob.tolist() == [0, 0] and lapsed.tree_logprob == pytest.approx(-1e6)
    assert confidence(scores, [0, 1], lapse=0.5).tree_logprob == pytest.approx(0)


def test_scores_that_are_far_apart_but_no_masks(rng):
    """An arc is masked only if no tree with it matters, and if it is out of the range of plausible scores."""
    scores = rng.normal(0, 1, (4, 5))
    scores[:, 0] -= [0, 4000, 4000, 4000]
    found = marginals(scores, lapse=0.5)
    np.testing.assert_allclose(found[1:, 0], 0.5 / 4)
    with_temperature = marginals([[0, 0, -1e4], [0, 0, 0]], temperature=1e4)
    np.testing.assert_allclose(with_temperature[0], [1 / (1 + np.exp(-1)), 0, 1 / (1 + np.exp(1))])
