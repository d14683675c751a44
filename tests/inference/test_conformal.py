"""Head sets: what is in them, and that they contain the right head as often as promised."""

import math

import numpy as np
import pytest

from spacy_mindroot import decode, errors
from spacy_mindroot.inference import head_set_threshold, head_sets, marginals
from spacy_mindroot.inference.conformal import SLACK, thresholds_of


def test_heads_at_least_as_probable_as_the_threshold():
    p = np.array([[0.3, 0, 0.5, 0.2], [0.1, 0.6, 0, 0.3], [0.4, 0.3, 0.3, 0]])
    assert [own.tolist() for own in head_sets(p, 0.3)] == [[2, 0], [1, 3], [0, 1, 2]]
    assert [own.tolist() for own in head_sets(p, 0.9)] == [[2], [1], [0]]
    assert [own.tolist() for own in head_sets(p, 0.55, heads=[3, 0, 2])] == [[3], [1, 0], [2]]
    assert [own.tolist() for own in head_sets(p, 0.0)] == [[2, 0, 3], [1, 3, 0], [0, 1, 2]]


def test_the_threshold_is_an_order_statistic(rng):
    """Counted by hand: of n conformities, the k-th largest, k = ceil((n + 1) coverage). Of few, it may be less."""
    for n in (4, 9, 10, 50, 4000, 5000):
        right_head = rng.permutation(np.arange(1, n + 1)) / (2 * n + 2)  # below 0.5: never the most probable
        p = [np.array([[one, 0, 1 - one], [0.5, 0.5, 0]]) for one in right_head]
        gold = [[0, -1]] * n
        for coverage in (0.1, 0.5, 0.8, 0.9, 0.95):
            k = math.ceil((n + 1) * coverage - 1e-9)
            expected = np.sort(right_head)[::-1][k - 1] if k <= n else 0
            found = head_set_threshold(p, gold, coverage)
            assert found == expected if n > 1000 or expected == 0 else 0 < found <= expected


def simulated(rng, sentences, n=8):
    """Scores of a scorer that is not calibrated, and gold trees."""
    scores = rng.normal(0, 2, (sentences, n, n + 1))
    gold = [decode(own + rng.gumbel(0, 1.5, own.shape)) for own in scores]
    scores *= 2.5
    return [marginals(own) for own in scores], gold, [decode(own) for own in scores]


@pytest.mark.parametrize("coverage", [0.7, 0.9])
def test_coverage_on_average_over_draws(coverage, rng):
    """One token from each sentence, so that tokens are exchangeable; and the allowance for few sentences, no more."""
    inside = []
    for _ in range(60):
        p, gold, heads = simulated(rng, 60)
        one = [np.where(np.arange(8) == rng.integers(8), own, -1) for own in gold]
        threshold = head_set_threshold(p[:40], one[:40], coverage, heads=heads[:40])
        sets = [head_sets(own, threshold, heads=h) for own, h in zip(p[40:], heads[40:], strict=True)]
        for own, of_gold in zip(sets, gold[40:], strict=True):
            inside += [head in of for of, head in zip(own, of_gold, strict=True)]
    accuracy = np.mean([own == g for own, g in zip(heads, gold, strict=True)])
    assert accuracy < 0.7 and coverage - 0.01 <= np.mean(inside) <= coverage + 1 / 41 + 0.1


def test_with_few_sentences_the_threshold_allows_for_those_that_happen_to_be_easy(rng):
    """Heads are doubtful together: a quarter of them on average, most of them in a few sentences.

    The right head of a doubtful token has a probability from 0 to 0.9.
    """

    def draws(sentences, slack):
        for _ in range(100):
            doubtful = [rng.random(12) < rng.beta(0.4, 1.2) for _ in range(sentences)]
            found = [np.where(own, 0.9 * rng.random(12), 1.0) for own in doubtful]
            yield 1 - 0.25 * thresholds_of(found, [0.9], slack)[0] / 0.9  # true coverage

    low, plain, enough = (np.less([*draws(*own)], 0.88).mean() for own in ((20, SLACK), (20, None), (1000, SLACK)))
    assert low < 0.12 < 0.2 < plain and enough == 0


def test_what_does_not_fit():
    with pytest.raises(errors.CalibrationError, match="above 0 and below 1"):
        head_set_threshold([[[1, 0]]], [[0]], 1.0)
    with pytest.raises(errors.CalibrationError, match="known head"):
        head_set_threshold([[[1, 0]]], [[-1]], 0.9)
