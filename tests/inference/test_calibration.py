"""Calibration: parameters are found again, likelihoods are maximal, and trees stay as they are."""

import numpy as np
import pytest

from generators import KINDS, random_scores, weights_of_all_trees
from spacy_mindroot import decode, errors, is_projective
from spacy_mindroot.inference import Calibration, confidence, fit_calibration, marginals, sample
from spacy_mindroot.inference.calibration import (
    _best_lapse,
    _loss,
    calibration_error_by_chance,
    expected_calibration_error,
    fit_to_trees,
    label_probabilities,
)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("finitely_masked", "huge")])
def test_mixture_against_all_trees(kind, projective, rng):
    for n in (1, 2, 3, 4):
        scores = random_scores(kind, n, rng)
        temperature, lapse = rng.uniform(0.5, 3), rng.choice([0, rng.uniform(0, 1), 1])
        trees, weights = weights_of_all_trees(scores, single_root=True)
        if projective:
            counted = np.array([is_projective(tree) for tree in trees], dtype=bool)
            trees, weights = trees[counted], weights[counted]
        if len(trees) == 0:
            continue
        tempered = np.exp(weights / temperature - np.logaddexp.reduce(weights / temperature))
        p = (1 - lapse) * tempered + lapse / len(trees)
        expected = np.zeros((n, n + 1))
        for tree, own in zip(trees, p, strict=True):
            expected[np.arange(n), tree] += own
        mixture = {"temperature": temperature, "lapse": lapse, "projective": projective}
        found = marginals(scores, **mixture)
        np.testing.assert_allclose(found, expected, atol=1e-9)
        k = rng.integers(len(trees))
        of_tree = confidence(scores, trees[k], **mixture)
        if p[k] > 0:
            assert of_tree.tree_logprob == pytest.approx(np.log(p[k]), abs=1e-6)
        np.testing.assert_allclose(of_tree.head_prob, expected[np.arange(n), trees[k]], atol=1e-9)
        entropies = [-sum(q * np.log(q) for q in row if q > 0) for row in expected]
        np.testing.assert_allclose(of_tree.head_entropy, entropies, atol=1e-7)


@pytest.mark.parametrize("projective", [False, True])
def test_any_number_of_roots(projective, rng):
    scores = rng.normal(0, 3, (4, 5))
    trees, weights = weights_of_all_trees(scores, single_root=False, projective=projective)
    p = 0.75 * np.exp(weights / 2 - np.logaddexp.reduce(weights / 2)) + 0.25 / len(trees)
    expected = np.zeros((4, 5))
    for tree, own in zip(trees, p, strict=True):
        expected[np.arange(4), tree] += own
    found = marginals(scores, temperature=2.0, lapse=0.25, single_root=False, projective=projective)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(("temperature", "lapse"), [(2.0, 0.0), (0.6, 0.0), (1.5, 0.15), (30.0, 0.0)])
def test_parameters_are_found_again(temperature, lapse, rng):
    """Gold trees are drawn from the calibrated distribution of the scores."""
    scores, gold = [], []
    for _ in range(400):
        matrix = rng.normal(0, 3 * max(1, temperature / 3), (8, 9))
        scores.append(matrix)
        drawn_from = np.zeros((8, 9)) if rng.random() < lapse else matrix / temperature
        gold.append(sample(drawn_from, 1, rng)[0])
    found = fit_calibration(scores, gold)
    # In this likelihood, a little more of one makes up for a little less of the other.
    assert found.arc_temperature == pytest.approx(temperature, rel=0.2)
    assert found.arc_lapse == pytest.approx(lapse, abs=0.1)
    right = np.concatenate([decode(own) == theirs for own, theirs in zip(scores, gold, strict=True)])

    def error(temperature, lapse):
        p = [confidence(s, decode(s), temperature=temperature, lapse=lapse).head_prob for s in scores]
        return expected_calibration_error(np.concatenate(p), right)

    assert error(found.arc_temperature, found.arc_lapse) < 0.03 < error(1, 0)
    assert (found.sentences, found.tokens) == (400, 3200)


def test_the_lapse_is_of_greatest_likelihood(rng):
    for _ in range(20):
        p, uniform, right = rng.uniform(0.3, 1, 50), np.full(50, 0.1), rng.random(50) < rng.uniform(0.2, 0.9)
        found = _best_lapse(p, uniform, right)
        losses = [_loss(p + lapse * (uniform - p), right) - np.log1p(-lapse) for lapse in np.linspace(0, 0.9, 181)]
        own = _loss(p + found * (uniform - p), right) - np.log1p(-found)
        assert own <= min(losses) + 1e-4


def test_labels(rng):
    """Labels are drawn from their scores at another temperature."""
    scores, gold, label_scores, gold_labels = [], [], [], []
    for _ in range(300):
        matrix = rng.normal(0, 3, (6, 7))
        heads = decode(matrix)
        labels = rng.normal(0, 4, (6, 5))
        p = label_probabilities(labels, 2.5)
        scores.append(matrix)
        gold.append(heads)
        label_scores.append(labels)
        gold_labels.append([rng.choice(5, p=row) for row in p])
    found = fit_calibration(scores, gold, label_scores=label_scores, gold_labels=gold_labels)
    assert found.label_temperature == pytest.approx(2.5, rel=0.2) and found.label_lapse < 0.1
    # Without them, and where no head is right, there is nothing to fit.
    for missing in ({}, {"label_scores": [None] * 300, "gold_labels": gold_labels}):
        assert fit_calibration(scores, gold, **missing).label_temperature == 1
    others = [np.array([(heads + 1) % 7, (heads + 2) % 7]) for heads in gold]
    wrong = [np.where(one == np.arange(1, 7), other, one) for one, other in others]  # no token is its own head
    assert fit_calibration(scores, wrong, label_scores=label_scores, gold_labels=gold_labels).label_temperature == 1


def test_label_probabilities_with_labels_that_are_impossible():
    found = label_probabilities([[0, -np.inf, 0], [1, -np.inf, -np.inf]], 2.0, 0.5)
    np.testing.assert_allclose(found, [[0.5, 0, 0.5], [1, 0, 0]])


def test_a_handful_of_tokens_gives_no_extremes(rng):
    scores = rng.normal(0, 3, (4, 5))
    for gold in (decode(scores), [0, 1, -1, -1], [-1, -1, -1, 1]):
        found = fit_calibration([scores], [gold])
        assert 0.2 < found.arc_temperature < 8 and found.arc_lapse < 0.75


def test_what_does_not_fit():
    scores = np.zeros((2, 3))
    with pytest.raises(errors.CalibrationError, match="no token has a known head"):
        fit_calibration([scores], [[-1, -1]])
    with pytest.raises(errors.CalibrationError, match="other lengths"):
        fit_calibration([scores], [[0]])
    with pytest.raises(errors.NoTreeError):
        fit_calibration([[[1, 0, -np.inf], [1, -np.inf, 0]]], [[0, 0]])
    for wrong in ({"temperature": 0}, {"temperature": np.nan}, {"temperature": None}, {"lapse": 1.1}, {"lapse": "a"}):
        with pytest.raises(errors.CalibrationError, match="temperature"):
            marginals(scores, **wrong)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gold_heads": [[2, 3]]}, "is 3. Heads are from 0 .ROOT. to 2, or -1"),
        ({"gold_heads": [[1, 0]]}, "not the dependent itself"),
        ({"gold_heads": None}, "gold_heads must be a list"),
        ({"gold_labels": None}, "go together"),
        ({"label_scores": None}, "go together"),
        ({"label_scores": []}, "label_scores for 0"),
        ({"gold_labels": [[0, 1], [0, 1]]}, "gold_labels for 2"),
        ({"label_scores": [[[0, 1]]]}, r"n = 2; the shape found is \(1, 2\)"),
        ({"label_scores": [[[0, 1], [1]]]}, "sentence 1 of the batch"),
        ({"gold_labels": [[0]]}, "one per token"),
        ({"gold_labels": [["a", "b"]]}, "one per token"),
    ],
)
def test_arguments_that_do_not_fit_together(change, says):
    right = {"scores": [np.zeros((2, 3))], "gold_heads": [[2, 0]]}
    labels = {"label_scores": [np.zeros((2, 4))], "gold_labels": [[1, -1]]}
    fit_calibration(**right, **labels)
    with pytest.raises(errors.MindRootError, match=says):
        fit_calibration(**{**right, **labels, **change})


def test_calibrations_are_plain_data():
    one = Calibration(1.5, 0.1, 2.0, 0.0, {"90": 0.2}, 3, 30, "5-fold cross-validation")
    assert Calibration.from_dict(one.to_dict() | {"of_a_later_version": 1}) == one
    assert one.threshold(0.9) == one.threshold(0.8901) == 0.2
    with pytest.raises(errors.CalibrationError, match=r"from 0\.5 to 0\.99"):
        one.threshold(0.2)
    with pytest.raises(errors.CalibrationError, match="Fit it anew"):
        Calibration().threshold(0.9)
    with pytest.raises(errors.CalibrationError):
        Calibration.from_dict({"arc_temperature": -1.0})


def test_a_calibration_among_projective_trees(rng):
    """Gold trees are drawn from the projective trees, so that those with crossing arcs must not count."""
    scores, gold = [], []
    while len(gold) < 300:
        matrix = rng.normal(0, 1.5, (7, 8))
        drawn = [tree for tree in sample(matrix, 40, rng) if is_projective(tree)]
        scores += [matrix] * len(drawn[:1])  # matrices whose trees all have crossing arcs are left out
        gold += drawn[:1]
    found = fit_calibration(scores, gold, projective=True)
    assert found.arc_temperature == pytest.approx(1, rel=0.2) and found.arc_lapse < 0.1
    heads = [decode(own, projective=True) for own in scores]
    among_all = fit_to_trees(scores, heads, gold)
    assert among_all.arc_temperature < 0.96 * found.arc_temperature
    assert among_all.threshold(0.9) < 0.85 * found.threshold(0.9)
    right = np.concatenate([own == theirs for own, theirs in zip(heads, gold, strict=True)])

    def error(projective):
        pairs = zip(scores, heads, strict=True)
        p = np.concatenate([confidence(own, tree, projective=projective).head_prob for own, tree in pairs])
        return expected_calibration_error(p, right)

    assert error(projective=True) < 0.04 and error(projective=False) > 0.1


def test_a_tree_with_crossing_arcs_is_no_projective_tree():
    with pytest.raises(errors.HeadsError, match="has crossing arcs"):
        confidence(np.zeros((4, 5)), [0, 4, 1, 1], projective=True)
    assert fit_calibration([[[1e305, 0]]], [[0]], projective=True).tokens == 1


def test_calibration_error_by_chance(rng):
    p = rng.uniform(0, 1, 300)
    found = calibration_error_by_chance(p)
    own = [expected_calibration_error(p, rng.random(300) < p) for _ in range(400)]
    assert found == pytest.approx(np.mean(own), abs=0.003) and found > 0.03
    assert calibration_error_by_chance(p[:30]) > 2 * found > 4 * calibration_error_by_chance(np.repeat(p, 30))
    assert calibration_error_by_chance([]) == 0 == calibration_error_by_chance([1.0, 0.0])
    assert calibration_error_by_chance(p, bins=1) < found


def test_expected_calibration_error():
    assert expected_calibration_error([], []) == 0
    assert expected_calibration_error([1.0, 0.95, 0.15], [True, False, False]) == pytest.approx((0.95 + 0.15) / 3)


def test_partial_annotation_counts_where_it_is(rng):
    scores = [rng.normal(0, 3, (5, 6)) for _ in range(30)]
    heads = [decode(own) for own in scores]
    gold = [np.where(rng.random(5) < 0.5, own, -1) for own in heads]
    found = fit_to_trees(scores, heads, gold)
    assert found.tokens == sum((own != -1).sum() for own in gold)
