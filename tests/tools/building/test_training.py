"""Training in a process of its own; averages of trained pipelines are calibrated as each of them would have been."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train as spacy_train
from spacy.util import load_config_from_str

from scorer_helpers import TREEBANK
from spacy_mindroot.errors import TrainingError
from spacy_mindroot.pipeline.held_out import HeldOut
from spacy_mindroot.tools.building import training
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.building.related import mix_treebanks
from spacy_mindroot.tools.building.training import Trained, average_trained, one_thread, train
from spacy_mindroot.tools.building.treebank import prepare_treebank


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
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w').close()")
    trained = train(config, treebank, out, steps=3, seed=5, code=tmp_path / "own.py")
    assert (tmp_path / "imported").exists()
    assert (trained.steps, trained.seeds, trained.best) == (3, [5], "model-last")
    assert trained.cpu_seconds > 0
    assert (out / "model-last" / "meta.json").exists()
    shown = capfd.readouterr().out
    assert "SENTS_F" in shown and "SENTS_F" in (out / "log.txt").read_text("utf8")
    settings = (out / "model-last" / "config.cfg").read_text("utf8")
    assert "max_steps = 3\n" in settings and "total_steps = 3\n" in settings and "eval_frequency = 3\n" in settings
    assert settings.count("seed = 5\n") == 2 and "seed = 1\n" not in settings
    assert json.loads((out / "model-last" / "meta.json").read_text("utf8"))["products"] in ("numpy", "blis")

    # Its own config trains it again, to the bit, here with other hashes of strings and other numbers of threads.
    spacy_train(out / "model-last" / "config.cfg", tmp_path / "again")
    assert files_of(tmp_path / "again" / "model-last") == files_of(out / "model-last")


def test_the_config_names_its_data_from_any_folder(checkout, config, tmp_path, monkeypatch):
    """`calibrate --folds` reads it later, perhaps from elsewhere."""
    seen = []
    monkeypatch.setattr(training, "_run", lambda command, log, show: seen.extend(command) or 0)
    monkeypatch.chdir(tmp_path)
    train(config, prepare_treebank(checkout / "assets" / "treebank", Path("data")), Path("out"))
    for part in ("train", "dev"):
        assert seen[seen.index(f"--paths.{part}") + 1] == str(tmp_path / "data" / f"{part}.conllu")


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("show", [False, True])
def test_what_spacy_says_is_in_the_message(show, treebank, config, tmp_path, capfd, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # what spaCy prints would then come after its error
    config.write_text(config.read_text("utf8").replace('factory = "senter"', 'factory = "odd"'), "utf8")
    with pytest.raises(TrainingError, match=r"log\.txt\):\nValueError: \[E002\] .*'odd'"):
        train(config, treebank, tmp_path / "out", steps=3, show=show)
    log = (tmp_path / "out" / "log.txt").read_text("utf8")
    assert log.index("Initializing pipeline") < log.index("Traceback") < log.index("E002")
    shown = capfd.readouterr()
    assert ("E002" in shown.out) == show and "E002" not in shown.err


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", ""),
        ("\n".join("abcdefgh"), "c\nd\ne\nf\ng\nh"),
        ("Saving\nTraceback (most recent call last):\n  File\n    code\nKeyError: 'a'\n", "KeyError: 'a'"),
        (
            "Traceback (most recent call last):\n  File\nKeyError: 1\n\nDuring handling ...:\n\n"
            "Traceback (most recent call last):\n  File\nValueError: two\n\n  lines\n\nAborted.",
            "ValueError: two\n\n  lines\n\nAborted.",
        ),
    ],
)
def test_the_reason_is_the_last_exception_or_the_last_lines(said, expected):
    assert training.reason(said) == expected


def test_one_thread():
    assert one_thread()["OPENBLAS_NUM_THREADS"] == "1"


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


def test_settings_come_before_those_of_a_mixture(treebank, config, tmp_path, monkeypatch):
    """A student reads the gold sentences of a mixture more than once."""
    mix_treebanks(treebank, [TREEBANK / "dev.conllu"])
    commands = []
    monkeypatch.setattr(training, "_run", lambda command, log, show: commands.append(command) or 0)
    train(config, treebank, tmp_path / "out", settings={"corpora.train.divisions": 14})
    (command,) = commands
    assert command.count("--corpora.train.divisions") == 1
    assert command[command.index("--corpora.train.divisions") + 1] == "14"
    assert command[command.index("--paths.train") + 1] == str(treebank.mixture.file)
