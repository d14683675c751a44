"""Training in a process of its own."""

import pytest

from spacy_mindroot.building.config import make_config
from spacy_mindroot.building.training import one_thread, train
from spacy_mindroot.building.treebank import prepare_treebank
from spacy_mindroot.errors import TrainingError


@pytest.fixture
def treebank(checkout, tmp_path):
    return prepare_treebank(checkout / "assets" / "treebank" / "train.conllu", tmp_path / "corpus")


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.cfg"
    text = make_config("en", "efficiency", ["senter"], None)
    text = text.replace("folds = 5", "folds = 2")  # of the cross-validation at the end
    of_its_own = text.replace('train_corpus = "corpora.train"\nseed = ${system.seed}', "SEED")
    assert of_its_own != text
    path.write_text(of_its_own.replace("SEED", 'train_corpus = "corpora.train"\nseed = 1'), "utf8")
    return path


def test_without_a_development_set_the_last_pipeline_is_taken(treebank, config, tmp_path, capfd):
    out = tmp_path / "a path with spaces"
    trained = train(config, treebank, out, steps=3, seed=5)
    assert (trained.steps, trained.seeds, trained.best) == (3, [5], "model-last")
    assert trained.cpu_seconds > 0.5
    assert (out / "model-last" / "meta.json").exists()
    shown = capfd.readouterr().out
    assert "SENTS_F" in shown and "SENTS_F" in (out / "log.txt").read_text("utf8")
    settings = (out / "model-last" / "config.cfg").read_text("utf8")
    assert "max_steps = 3\n" in settings and "total_steps = 3\n" in settings and "eval_frequency = 3\n" in settings
    assert settings.count("seed = 5\n") == 2 and "seed = 1\n" not in settings


def test_what_spacy_says_is_in_the_message(treebank, config, tmp_path, capfd):
    config.write_text(config.read_text("utf8").replace('factory = "senter"', 'factory = "odd"'), "utf8")
    with pytest.raises(TrainingError, match=r"log\.txt.*\n(.*\n)*.*odd"):
        train(config, treebank, tmp_path / "out", steps=3, show=False)
    assert capfd.readouterr().out == ""


def test_one_thread():
    assert one_thread()["OPENBLAS_NUM_THREADS"] == "1"
