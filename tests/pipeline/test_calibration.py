"""A calibrated pipeline: its probabilities change and its trees do not; `spacy train` calibrates what it saves."""

import io
import json

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config_from_str

from scorer_helpers import gold_docs, make_nlp, with_sentences
from spacy_mindroot import errors
from spacy_mindroot.inference import Calibration, head_sets, marginals
from spacy_mindroot.inference.tree_sets import tree_set
from spacy_mindroot.pipeline.calibration import calibrate, make_calibrate_callback, read_corpora, set_calibration
from spacy_mindroot.tools.building.config import make_config


def trained(**settings):
    nlp = make_nlp(gold_docs(6), steps=15, config=settings)
    nlp.get_pipe("mind_root").confidence = True
    return nlp


@pytest.fixture(scope="module")
def nlp():
    nlp = trained()
    calibrate(nlp, gold_docs(8, part="dev"))
    return nlp


def parse(nlp, calibration, coverage=0.0):
    mind_root = nlp.get_pipe("mind_root")
    before = mind_root.calibration, mind_root.coverage
    mind_root.calibration, mind_root.coverage = calibration, coverage
    docs = [nlp(with_sentences(nlp, doc)) for doc in gold_docs(4, part="test")]
    mind_root.calibration, mind_root.coverage = before
    return docs


@pytest.mark.parametrize("joint", [False, True])
def test_trees_and_labels_stay_the_same(joint):
    nlp = trained(joint=joint)
    calibration = Calibration(3.0, 0.2, 2.5, 0.1)
    for before, after in zip(parse(nlp, None), parse(nlp, calibration), strict=True):
        assert [(t.head.i, t.dep_) for t in before] == [(t.head.i, t.dep_) for t in after]
        assert all(a._.head_prob != b._.head_prob for a, b in zip(before, after, strict=True))
        for one, other in zip(before.sents, after.sents, strict=True):
            assert one._.tree_margin == other._.tree_margin  # in units of the scores
            assert one._.tree_logprob != other._.tree_logprob


def test_probabilities_are_those_of_the_calibration(nlp):
    calibration = Calibration(2.0, 0.1, 3.0, 0.2, {"90": 0.15})
    nlp.get_pipe("mind_root").keep_scores = True
    docs = parse(nlp, calibration, coverage=0.9)
    nlp.get_pipe("mind_root").keep_scores = False
    for doc in docs:
        for sentence, scores in zip(doc.sents, doc._.arc_scores, strict=True):
            p = marginals(scores, temperature=2.0, lapse=0.1)
            heads = [0 if t.head == t else t.head.i - sentence.start + 1 for t in sentence]
            assert [t._.head_prob for t in sentence] == pytest.approx(p[np.arange(len(heads)), heads])
            for token, expected in zip(sentence, head_sets(p, 0.15, heads=heads), strict=True):
                own = [0 if head == token else head.i - sentence.start + 1 for head in token._.head_set]
                assert own == expected.tolist()


def test_without_a_calibration_there_are_no_head_sets(nlp):
    assert all(token._.head_set is None for doc in parse(nlp, None, coverage=0.9) for token in doc)


def test_it_is_saved_with_the_pipeline_and_shown_in_its_meta(nlp, tmp_path):
    calibration = nlp.get_pipe("mind_root").calibration
    assert isinstance(calibration, Calibration) and set(calibration.head_set_thresholds) >= {"50", "90", "99"}
    nlp.to_disk(tmp_path / "model")
    meta = json.loads((tmp_path / "model" / "meta.json").read_text("utf8"))
    assert meta["calibration"]["mind_root"]["arc_temperature"] == pytest.approx(calibration.arc_temperature)
    loaded = spacy.load(tmp_path / "model", config={"components": {"mind_root": {"confidence": False}}})
    assert loaded.get_pipe("mind_root").calibration == calibration and loaded.get_pipe("mind_root").confidence is False
    other = make_nlp(gold_docs(6), steps=0)
    other.from_bytes(nlp.to_bytes())
    assert other.get_pipe("mind_root").calibration == calibration
    assert spacy.load(tmp_path / "model", exclude=["mind_root"]).pipe_names == ["arc_scorer"]


def test_parts_that_are_left_out(nlp, tmp_path):
    mind_root = nlp.get_pipe("mind_root")
    mind_root.to_disk(tmp_path / "whole")
    mind_root.to_disk(tmp_path / "without", exclude=["cfg"])
    assert (tmp_path / "whole" / "cfg").exists() and not (tmp_path / "without").exists()
    fresh = spacy.blank("en").add_pipe("mind_root")
    assert fresh.from_disk(tmp_path / "whole", exclude=["cfg"]).calibration is None
    assert fresh.from_bytes(mind_root.to_bytes(exclude=["cfg"])).calibration is None
    assert fresh.from_bytes(mind_root.to_bytes(), exclude=["cfg"]).calibration is None
    assert fresh.from_disk(tmp_path / "whole").calibration == mind_root.calibration
    assert fresh.from_disk(tmp_path / "nowhere").calibration is None
    # A pipeline without a calibration leaves none of another behind.
    fresh.to_disk(tmp_path / "whole")
    assert not (tmp_path / "whole" / "cfg").exists()


def test_a_calibration_can_be_removed(nlp):
    calibration = nlp.get_pipe("mind_root").calibration
    set_calibration(nlp, None)
    assert nlp.get_pipe("mind_root").calibration is None and nlp.meta["calibration"] == {}
    set_calibration(nlp, calibration, "mind_root")
    assert "mind_root" in nlp.meta["calibration"]


@pytest.mark.parametrize("settings", [{"coverage": 0.9}, {"coverage": 0.2, "confidence": True}])
def test_coverages_that_can_not_be(settings):
    with pytest.raises(errors.CalibrationError, match="coverage"):
        spacy.blank("en").add_pipe("mind_root", config=settings)


# ---------------------------------------------------------------------------------------------------------------------
# The callback


def config_of(folder, dev, **overrides):
    DocBin(docs=gold_docs(4)).to_disk(folder / "train.spacy")
    DocBin(docs=gold_docs(4, part="dev")).to_disk(folder / "dev.spacy")
    (folder / "out").mkdir()
    overrides = {
        "paths.train": str(folder / "train.spacy"),
        "paths.dev": str(folder / dev),
        "training.max_steps": 4,
        "training.eval_frequency": 2,
        "components.tok2vec.model.encode.width": 32,
        **overrides,
    }
    text = make_config("xx", "efficiency", ["senter"], None)
    return load_config_from_str(text, overrides=overrides, interpolate=False)


def test_training_calibrates_on_the_development_set(tmp_path):
    train(init_nlp(config_of(tmp_path, "dev.spacy")), tmp_path / "out", stdout=io.StringIO())
    for name in ("model-best", "model-last"):
        nlp = spacy.load(tmp_path / "out" / name)
        found = nlp.get_pipe("mind_root").calibration
        assert found.method == "held-out" and found.tokens == sum(len(doc) for doc in gold_docs(4, part="dev"))
        # For the weights that are saved, not for others.
        again, _ = calibrate(nlp, [sentence.as_doc() for doc in gold_docs(4, part="dev") for sentence in doc.sents])
        assert again.arc_temperature == pytest.approx(found.arc_temperature, rel=1e-3)


def test_training_calibrates_by_cross_validation_where_there_is_no_development_set(tmp_path):
    config = config_of(tmp_path, "train.spacy", **{"training.before_to_disk.folds": 2})
    train(init_nlp(config), tmp_path / "out", stdout=io.StringIO())
    found = spacy.load(tmp_path / "out" / "model-best").get_pipe("mind_root").calibration
    assert found.method == "2-fold cross-validation" and found.tokens == sum(len(doc) for doc in gold_docs(4))


def test_training_without_both_goes_on_with_a_warning(tmp_path):
    config = config_of(tmp_path, "train.spacy", **{"training.before_to_disk.folds": 0})
    with pytest.warns(UserWarning, match="saved without calibration: the development set is part of the training set"):
        train(init_nlp(config), tmp_path / "out", stdout=io.StringIO())
    assert spacy.load(tmp_path / "out" / "model-best").get_pipe("mind_root").calibration is None


def test_training_goes_on_without_scores_to_calibrate(tmp_path):
    """Whatever the reason, the pipeline is saved."""
    nlp = spacy.blank("xx")
    nlp.config = config_of(tmp_path, "dev.spacy")
    calibrate_pipeline = make_calibrate_callback()
    with pytest.warns(UserWarning, match="saved without calibration: The pipeline does not have a mind_root component"):
        assert calibrate_pipeline(nlp) is nlp
    nlp.add_pipe("mind_root")  # and no scorer
    with pytest.warns(UserWarning, match="saved without calibration: .*arc_scores"):
        calibrate_pipeline(nlp)


def test_the_parts_of_a_corpus_of_passages_are_disjoint(tmp_path):
    """Whether or not the settings of the corpus are spelled out."""
    config = config_of(tmp_path, "dev.spacy", **{"corpora.train.newlines": 1.0})
    del config["corpora"]["train"]["max_sentences"]
    nlp = init_nlp(config)
    _, corpus = read_corpora(nlp.config)
    read = [example.reference.text.strip() for example in corpus(nlp)]
    assert sorted(read) == sorted(sentence.text for doc in gold_docs(4) for sentence in doc.sents)


def test_settings_of_the_callback():
    for settings in ({"folds": 1}, {"folds": -1}, {"limit": -1}):
        with pytest.raises(errors.CalibrationError, match="at least 2"):
            make_calibrate_callback(**settings)


def test_sets_of_trees_are_those_of_the_calibrated_probabilities(nlp):
    calibration = Calibration(2.0, 0.1, tree_set_thresholds={"90": 0.9})
    mind_root = nlp.get_pipe("mind_root")
    mind_root.coverage_of, mind_root.keep_scores = "sentence", True
    docs = parse(nlp, calibration, coverage=0.9)
    mind_root.coverage_of, mind_root.keep_scores = "token", False
    sizes = set()
    for doc in docs:
        for sentence, matrix in zip(doc.sents, doc._.arc_scores, strict=True):
            heads = [0 if t.head == t else t.head.i - sentence.start + 1 for t in sentence]
            p = marginals(matrix, temperature=2.0, lapse=0.1)
            expected, found = tree_set(p, 0.9, heads, scores=matrix), sentence._.tree_set
            assert found.size == expected.size
            assert [own.tolist() for own in found.heads] == [own.tolist() for own in expected.heads]
            assert [tree.tolist() for tree in found.trees] == [tree.tolist() for tree in expected.trees]
            own = [[0 if head == t else head.i - sentence.start + 1 for head in t._.head_set] for t in sentence]
            assert own == [each.tolist() for each in expected.heads]
            sizes.add(found.size)
    assert len(sizes) > 1
    assert all(sentence._.tree_set is None for doc in parse(nlp, calibration) for sentence in doc.sents)


def test_a_calibration_without_thresholds_for_sentences(nlp):
    other = spacy.blank("xx")
    mind_root = other.add_pipe("mind_root", config={"confidence": True, "coverage": 0.9, "coverage_of": "sentence"})
    mind_root.calibration = Calibration(head_set_thresholds={"90": 0.1})
    doc = other.make_doc("a b")
    doc._.arc_scores = [np.zeros((2, 3))]
    with pytest.raises(errors.CalibrationError, match="sets by sentence. Fit it anew"):
        mind_root(doc)
