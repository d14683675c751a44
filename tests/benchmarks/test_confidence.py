"""Calibration of trained pipelines: which sentences it uses, and what is measured."""

import numpy as np
import pytest

from scorer_helpers import TREEBANK
from spacy_mindroot.inference import Calibration, marginals
from spacy_mindroot.pipeline.held_out import HeldOut


@pytest.fixture(scope="module")
def confidence():
    return __import__("benchmarks.confidence", fromlist=["confidence"])


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("confidence") / "UD_Small"
    folder.mkdir()
    for part, size in (("train", 12), ("dev", 8), ("test", 6)):
        sentences = (TREEBANK / f"{part}.conllu").read_text("utf8").strip().split("\n\n")[:size]
        (folder / f"x-ud-{part}.conllu").write_text("\n\n".join(sentences) + "\n\n", encoding="utf8")
    return folder


def test_a_pipeline_that_is_there_already(confidence, treebank, tmp_path, monkeypatch):
    monkeypatch.setattr(confidence, "FOLDS", 2)
    nlp = confidence.train_pipeline(treebank, 0, 3, tmp_path / "model")
    assert nlp.pipe_names[-2:] == ["arc_scorer", "mind_root"] and nlp.get_pipe("mind_root").calibration is None
    nlp.to_disk(tmp_path / "loaded")
    held_out, both = confidence.measure(treebank, 0, 0, tmp_path / "loaded")
    assert (held_out.treebank, held_out.origin, held_out.steps, held_out.sentences) == ("Small", "loaded", 0, 6)
    assert (held_out.method, held_out.calibration_sentences) == ("held-out", 8)
    assert (both.method, both.calibration_sentences) == ("held-out and 2-fold cross-validation", 20)
    assert both.uas == held_out.uas and both.head_ece[0] == held_out.head_ece[0]
    monkeypatch.setattr(confidence, "SMALL", 8)
    assert [each.method for each in confidence.measure(treebank, 0, 0, tmp_path / "loaded")] == ["held-out"]


def test_measures_of_heads_and_labels(confidence):
    """Two sentences of two tokens; the parser finds one head and label wrong."""
    scores = np.array([[0.0, 0, 2], [3, 0, 0]])
    labels = np.log([[0.75, 0.25], [0.5, 0.5]])
    found = HeldOut(
        [scores, scores],
        [np.array([2, 0], dtype=np.int32)] * 2,
        [np.array([2, 0]), np.array([0, 1])],
        [labels, labels],
        [np.array([0, 0]), np.array([1, 1])],
    )
    measured = confidence._measured(found, Calibration(head_set_thresholds={"90": 0.5}), "T", "loaded", 0, 0, 1.0)
    p = marginals(scores)[[0, 1], [2, 0]]
    assert (measured.uas, measured.las, measured.coverage, measured.set_size) == (50, 50, 50, 1)
    assert measured.head_ece[:2] == pytest.approx([100 * abs(p.mean() - 0.5)] * 2, abs=1e-3)
    assert measured.label_ece[:2] == pytest.approx([25, 25]) and measured.label_ece[2] == pytest.approx(37.5, abs=6)
