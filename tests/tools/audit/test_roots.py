"""The probability of several roots is that of all trees with several, and predicts how many trees have them."""

import numpy as np
import pytest

from generators import weights_of_all_trees
from spacy_mindroot.inference import Calibration
from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.audit.measures import Tally, audit_sentences
from spacy_mindroot.tools.audit.report import count_rows
from spacy_mindroot.tools.audit.roots import calibration_of, several_roots


def by_enumeration(scores, temperature=1.0):
    trees, weights = weights_of_all_trees(scores, single_root=False)
    p = np.exp((weights - weights.max()) / temperature)
    return p[(trees == 0).sum(axis=1) > 1].sum() / p.sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_trees_with_several_roots_have_this_share(dtype, rng):
    for _ in range(60):
        n = int(rng.integers(1, 6))
        scores = rng.normal(0, 2, (n, n + 1)).astype(dtype)
        if n > 1:
            scores[0, 2] = -np.inf
        assert several_roots(scores) == pytest.approx(by_enumeration(scores), rel=1e-5, abs=1e-12)
        uniform = by_enumeration(np.where(scores == -np.inf, -np.inf, 0))
        expected = 0.7 * by_enumeration(scores, 2.0) + 0.3 * uniform
        assert several_roots(scores, Calibration(2.0, 0.3)) == pytest.approx(expected, rel=1e-5, abs=1e-12)
    assert several_roots(np.zeros((1, 2))) == 0


def scored(scores, gold=None):
    return ScoredSentence(scores, [*"abcdef"][: len(scores)], None, [], gold_heads=gold)


def sentences(rng, count=80, n=6, sure=1.0, rooted=0.0):
    for _ in range(count):
        scores = rng.normal(0, 1, (n, n + 1))
        gold = np.array([0, 1, 1, 1, 1, 1])
        scores[np.arange(n), gold] += 2
        scores[:, 0] += rooted
        yield scored(sure * scores, gold)


def summary(found, calibration=None):
    tally = Tally(calibration)
    for audited in audit_sentences(found, source="x"):
        tally.add(audited)
    return tally.summarize()


def test_the_report(rng):
    found = list(sentences(rng))
    own = [several_roots(each.scores) for each in found]
    plain = summary(found)
    (by_scores,) = plain.several_roots
    assert by_scores.mean == pytest.approx(np.mean(own)) and by_scores.likely == np.mean(np.array(own) > 0.5)
    assert "calibrated" not in str(count_rows(plain))
    fit = calibration_of(found)
    both = summary(found, fit)
    expected = np.mean([several_roots(each.scores, fit) for each in found])
    assert both.several_roots[0] == by_scores and both.several_roots[1].mean == pytest.approx(expected)
    row = next(row for row in count_rows(both) if "calibrated" in row[0])
    assert f"temperature {fit.arc_temperature:.3g}" in row[0] and row[1].startswith(f"{expected:.2%}, ")


def test_it_predicts_the_share_of_multi_rooted_trees(rng):
    """The trees do not depend on the temperature, and the probability does."""
    few, hot = summary(sentences(rng, 200, sure=3.0)), summary(sentences(rng, 200, sure=0.3))
    many = summary(sentences(rng, 200, sure=3.0, rooted=4.0))
    few_roots, many_roots, hot_roots = (found.several_roots[0] for found in (few, many, hot))
    assert few_roots.likely + 0.1 < many_roots.likely and hot_roots.mean > few_roots.mean + 0.1
    for found in (few, many):
        assert abs(found.several_roots[0].likely - found.multi_rooted_rate) < 0.08


def test_nothing_to_calibrate_with_and_scores_out_of_range():
    unknown = scored(np.zeros((2, 3)))
    assert calibration_of([unknown]) is None and calibration_of([]) is None
    huge = np.array([[1e302, 0, -1e307], [-1e307, 1e302, 0]])
    assert several_roots(huge) is None or 0 <= several_roots(huge) <= 1
    assert summary([]).several_roots == []
