"""The benchmark of roots at a small size: its figures are what they say, and the plot is drawn."""

import numpy as np
import pytest

from benchmarks.roots import auc, measure, plot
from spacy_mindroot import decode
from spacy_mindroot.score_file import read_score_file
from spacy_mindroot.tools.audit.roots import several_roots


def test_a_score_file(sure_file, tmp_path):
    found = measure(sure_file, 12)
    sentences = read_score_file(sure_file)
    assert found.multi_rooted.tolist() == [(decode(own.scores, single_root=False) == 0).sum() > 1 for own in sentences]
    assert found.plain.tolist() == [several_roots(own.scores) for own in sentences] and found.training == 12
    assert found.calibration.arc_temperature > 1.5 and found.calibrated.mean() > found.plain.mean()
    assert auc(found.plain, found.multi_rooted) > 0.8
    plot([found], tmp_path / "roots.png")
    assert (tmp_path / "roots.png").stat().st_size > 5000


def test_area_under_the_curve():
    right = np.array([True, True, False, False])
    assert auc(np.array([4.0, 3, 2, 1]), right) == 1 and auc(np.array([1.0, 1, 1, 1]), right) == 0.5
    assert auc(np.array([4.0, 1, 2, 3]), right) == pytest.approx(0.5) and np.isnan(auc(right * 1.0, right | True))
