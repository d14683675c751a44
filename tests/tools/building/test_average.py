"""Averages of trained pipelines are calibrated as each of them would have been."""

import pytest
import spacy
from spacy.util import load_config_from_str

from scorer_helpers import TREEBANK
from spacy_mindroot.pipeline.held_out import HeldOut
from spacy_mindroot.tools.building.average import average_trained
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.building.training import Trained

DEV = str(TREEBANK / "dev.conllu")


def overrides():
    sizes = {"components.tok2vec.model.encode.width": 16, "components.arc_scorer.model.arc_width": 8}
    return {"paths.train": str(TREEBANK / "train.conllu"), "paths.dev": DEV, **sizes}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two untrained pipelines."""
    folder = tmp_path_factory.mktemp("trained")
    config = load_config_from_str(make_config("en", "efficiency", ["senter"], None), overrides=overrides())
    found = []
    for seed in (4, 9):
        config["training"]["seed"] = seed
        nlp = spacy.training.initialize.init_nlp(config)
        nlp.to_disk(folder / str(seed))
        found.append(folder / str(seed))
    return found


def averaged(folders, calibration, **kwargs):
    trainings = [Trained(10, [seed], 1.25, 2.0, "model-best") for seed in (4, 9)]
    return average_trained(folders, trainings, calibration, **kwargs)


def test_on_the_development_set(folders):
    nlp, trained = averaged(folders, {"folds": 5, "limit": 7}, has_dev=True)
    assert trained == Trained(10, [4, 9], 2.5, 4.0, "average")
    assert len(nlp.get_pipe("arc_scorer").model.layers) == 2
    found = nlp.get_pipe("mind_root").calibration
    assert (found.method, found.sentences) == ("held-out", 7)


def test_by_cross_validation_with_the_same_seeds(folders, monkeypatch):
    seen = {}

    def cross_validate(config, corpus, folds, **kwargs):
        seen.update(kwargs, folds=folds, model=config["components"]["arc_scorer"]["model"]["@architectures"])
        return HeldOut()

    monkeypatch.setattr("spacy_mindroot.pipeline.calibration.cross_validate", cross_validate)
    with pytest.warns(UserWarning, match="saved without calibration"):  # nothing has been scored
        nlp, _ = averaged(folders, {"folds": 3, "limit": 2000}, has_dev=False)
    assert (seen["folds"], seen["seeds"], seen["model"]) == (3, [4, 9], "spacy-mindroot.Biaffine.v1")
    assert nlp.get_pipe("mind_root").calibration is None


@pytest.mark.parametrize("calibration, has_dev", [(None, True), (None, False), ({"folds": 0, "limit": 2000}, False)])
def test_without_calibration(folders, calibration, has_dev):
    nlp, _ = averaged(folders, calibration, has_dev=has_dev)
    assert nlp.get_pipe("mind_root").calibration is None
