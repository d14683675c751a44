"""Training in a process of its own."""

import json

import pytest
from spacy.cli.train import train as spacy_train

from spacy_mindroot.errors import TrainingError
from spacy_mindroot.tools.building import training
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.building.training import one_thread, train
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
