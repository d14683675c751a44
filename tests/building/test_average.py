"""Averages of trained pipelines are calibrated as their config says."""

import pytest
import spacy
from spacy.util import load_config_from_str

from scorer_helpers import TREEBANK
from spacy_mindroot.building.average import average_trained
from spacy_mindroot.building.training import Trained
from spacy_mindroot.cli.init_config import make_config
from spacy_mindroot.pipeline.held_out import HeldOut

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


def averaged(folders, tmp_path, text, **kwargs):
    config = tmp_path / "config.cfg"
    config.write_text(text, "utf8")
    trainings = [Trained(10, [seed], 1.25, 2.0, "model-best") for seed in (4, 9)]
    return average_trained(folders, trainings, config, **kwargs)


CONFIG = make_config("en", "efficiency", ["senter"], None)


def test_on_the_development_set(folders, tmp_path):
    nlp, trained = averaged(folders, tmp_path, CONFIG.replace("limit = 2000", "limit = 7"), has_dev=True)
    assert trained == Trained(10, [4, 9], 2.5, 4.0, "average")
    assert len(nlp.get_pipe("arc_scorer").model.layers) == 2
    found = nlp.get_pipe("mind_root").calibration
    assert (found.method, found.sentences) == ("held-out", 7)


def test_by_cross_validation_with_the_same_seeds(folders, tmp_path, monkeypatch):
    seen = {}

    def cross_validate(config, corpus, folds, **kwargs):
        seen.update(kwargs, folds=folds, model=config["components"]["arc_scorer"]["model"]["@architectures"])
        return HeldOut()

    monkeypatch.setattr("spacy_mindroot.building.average.cross_validate", cross_validate)
    with pytest.warns(UserWarning, match="saved without calibration"):  # nothing has been scored
        nlp, _ = averaged(folders, tmp_path, CONFIG.replace("folds = 5", "folds = 3"), has_dev=False)
    assert (seen["folds"], seen["seeds"], seen["model"]) == (3, [4, 9], "spacy-mindroot.Biaffine.v1")
    assert nlp.get_pipe("mind_root").calibration is None


@pytest.mark.parametrize("has_dev", [True, False])
def test_not_if_the_config_does_not(folders, tmp_path, has_dev):
    section = CONFIG[CONFIG.index("[training.before_to_disk]") :].partition("\n\n")[0]
    nlp, _ = averaged(folders, tmp_path, CONFIG.replace(section, ""), has_dev=has_dev)
    assert nlp.get_pipe("mind_root").calibration is None
    if not has_dev:
        nlp, _ = averaged(folders, tmp_path, CONFIG.replace("folds = 5", "folds = 0"), has_dev=False)
        assert nlp.get_pipe("mind_root").calibration is None
