"""Training in a process of its own."""

import json
import sys

import pytest
from spacy.cli.train import train as spacy_train

from spacy_mindroot.building import training
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
    (out / "model-best").mkdir(parents=True)  # of another training
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


def test_what_spacy_says_is_in_the_message(treebank, config, tmp_path, capfd, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # what spaCy prints would then come after its error
    config.write_text(config.read_text("utf8").replace('factory = "senter"', 'factory = "odd"'), "utf8")
    with pytest.raises(TrainingError, match=r"log\.txt\):\nValueError: \[E002\] .*'odd'"):
        train(config, treebank, tmp_path / "out", steps=3, show=False)
    assert capfd.readouterr() == ("", "")


SAYS = """
import sys
print("first")
print("\\x1b[31mred \u00e9\\x1b[0m")
sys.stderr.write("  1%\\r 50%\\r100%\\r")
sys.stderr.write("Done.\\n")
raise OSError("the disk\\nis full")
"""


@pytest.mark.parametrize("show", [False, True])
def test_the_log_and_the_reason_have_both_streams(show, tmp_path, capfd, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with open(tmp_path / "log.txt", "wb") as log:
        assert training._run([sys.executable, "-c", SAYS], log, show) == 1
    said = (tmp_path / "log.txt").read_text("utf8")
    assert {"first", "red \u00e9", "Done."} < set(said.splitlines()) and "%" not in said and "\x1b" not in said
    assert training.reason(said) == "OSError: the disk\nis full"
    shown = capfd.readouterr()
    if show:
        assert "red \u00e9" in shown.out and "OSError" not in shown.out
        assert "100%" in shown.err and "OSError: the disk" in shown.err
    else:
        assert shown == ("", "")


def test_a_process_whose_output_nobody_takes_is_ended(tmp_path, monkeypatch):
    """It would wait for ever when the pipe is full."""

    class Closed:
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    endless = "import sys\nwhile True: sys.stderr.write('x' * 9999)"
    with open(tmp_path / "log.txt", "wb") as log, pytest.raises(BrokenPipeError):
        training._run([sys.executable, "-c", endless], log, True)


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
