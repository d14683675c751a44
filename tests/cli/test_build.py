"""`spacy mindroot build`, from a treebank to a wheel, as a person runs it."""

import gzip
import os
import re
import shutil
import signal
import zipfile

import pytest
import spacy
import srsly
from spacy.cli import app
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_mindroot.doc.targets import copies_beside
from spacy_mindroot.tools.building import build as module
from spacy_mindroot.tools.building.config import make_config

pytest.importorskip("udtools", reason="the command needs the extra `build`")


def run(*args):
    return CliRunner().invoke(app, ["mindroot", "build", *map(str, args)])


OPTIONS = ("--lang", "en", "--name", "en_demo", "--steps", 3, "--optimize", "efficiency", "--loss", "both")


@pytest.fixture(scope="module")
def built(checkout, tmp_path_factory):
    out = tmp_path_factory.mktemp("built") / "a path with spaces"
    return out, run(checkout / "assets" / "treebank", out, *OPTIONS)


def test_everything_is_made(built):
    out, result = built
    assert result.exit_code == 0, result.output
    found = srsly.read_json(out / "pipeline.json")
    steps = {"training", "gold tokens", "raw text", "package"}
    assert found.keys() == {"made_by", "facts", "files", *steps}
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files == {*found["files"], "pipeline.json"}
    assert found["facts"]["treebank"]["parts"]["test"]["sentences"] == 18
    assert found["gold tokens"]["official"]["Words"]["f1"] == 1
    assert found["raw text"]["measures"]["single_root"] == 1
    assert f"{100 * found['gold tokens']['official']['LAS']['f1']:.2f}" in result.output
    assert f"pip install '{out}/dist/en_demo-0.1.0-py3-none-any.whl'" in " ".join(result.output.split())
    assert (out / "gold-tokens.conllu").exists() and (out / "raw-text.conllu").exists()
    nlp = spacy.load(out / "training" / "model-best")
    components = ["senter", "morphologizer", "trainable_lemmatizer", "arc_scorer", "mind_root"]
    assert nlp.pipe_names == ["tok2vec", *components]
    assert nlp.get_pipe("arc_scorer").loss == "both"


def test_the_wheel_is_complete(built):
    out, _ = built
    (path,) = (out / "dist").iterdir()
    assert path.name == "en_demo-0.1.0-py3-none-any.whl" and path.stat().st_size < 10_000_000
    with zipfile.ZipFile(path) as archive:
        metadata = archive.read("en_demo-0.1.0.dist-info/METADATA").decode()
        config = archive.read("en_demo/en_demo-0.1.0/config.cfg").decode()
        meta = srsly.json_loads(archive.read("en_demo/en_demo-0.1.0/meta.json").decode())
    assert (meta["lang"], meta["name"], meta["version"]) == ("en", "demo", "0.1.0")  # so spaCy finds the folder
    assert str(out) not in config + metadata and "train = null" in config
    assert metadata.count("Requires-Dist: spacy-mindroot") == 1 and "License: CC0 1.0" in metadata
    assert "Known limits" in metadata and "97 training sentences" in metadata
    assert meta["performance"]["gold_tokens"]["UAS"] > 0
    assert (out / "README.md").read_text("utf8").partition("\n---\n")[2].startswith("\n# en_demo\n")


def test_what_is_done_is_not_done_again(built, checkout, tmp_path):
    shutil.copytree(built[0], tmp_path / "out")
    trained = tmp_path / "out" / "training" / "model-best" / "meta.json"
    before = trained.stat().st_mtime_ns
    again = run(checkout / "assets" / "treebank", tmp_path / "out", *OPTIONS)
    assert again.exit_code == 0 and again.output.count("was done before") == 4, again.output
    other = run(checkout / "assets" / "treebank", tmp_path / "out", *OPTIONS, "--author", "A. B.")
    assert other.output.count("was done before") == 3
    assert "| speed |" not in (tmp_path / "out" / "README.md").read_text("utf8")
    measured = run(checkout / "assets" / "treebank", tmp_path / "out", *OPTIONS, "--author", "A. B.", "--speed")
    assert measured.output.count("was done before") == 3 and "package: done" in measured.output
    assert "| speed |" in (tmp_path / "out" / "README.md").read_text("utf8")
    assert trained.stat().st_mtime_ns == before
    (wheel,) = (tmp_path / "out" / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        assert "Author: A. B." in archive.read("en_demo-0.1.0.dist-info/METADATA").decode()


def test_quietly_and_as_json(built, checkout, tmp_path):
    """What is done already is not done again, so that no training is needed."""
    out, _ = built
    result = run(checkout / "assets" / "treebank", "--output", out, *OPTIONS, "-q", "--json", tmp_path / "a.json")
    assert (result.exit_code, result.output) == (0, "")
    found = srsly.read_json(tmp_path / "a.json")
    assert found["gold tokens"] == srsly.read_json(out / "pipeline.json")["gold tokens"]


def test_what_is_missing_is_known_before_training(checkout, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "train", lambda *args, **kwargs: pytest.fail("it has been trained"))
    treebank = checkout / "assets" / "treebank"
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "train.conllu").write_text("1\ta\t_\t_\t_\t_\t2\troot\t_\t_\n\n")
    for args, says in [
        ((treebank, tmp_path / "out", "--name", "a-b"), "can't be the name of a package"),
        ((tmp_path / "broken", tmp_path / "out"), "train.conllu:1"),
        ((tmp_path / "broken", tmp_path), "a folder to write"),
        ((tmp_path / "broken", tmp_path / "broken"), "the same folder"),
        ((tmp_path / "broken", tmp_path / "broken" / "out"), "a folder that this command reads"),
        ((treebank, tmp_path / "broken"), "not empty, and not from an earlier build"),
        ((treebank, tmp_path / "out", "--version", "one"), "can't be the version of a package"),
    ]:
        result = run(*args)
        assert result.exit_code == 1 and says in result.stderr, result.output
    assert not (tmp_path / "out").exists() and len(list((tmp_path / "broken").iterdir())) == 1
    of_config = (("--loss", "head"), ("--lang", "en"), ("--optimize", "efficiency"), ("--tokenizer", "spacy"))
    for wrong in (("--optimize", "nothing"), ("--lang", "dep"), *((*each, "--config", __file__) for each in of_config)):
        result = run(treebank, tmp_path / "out", *wrong)
        assert result.exit_code == 2 and wrong[0] in result.output, result.output
        assert ("set it in the file of --config" in " ".join(result.output.split())) == (len(wrong) > 2)


def test_sigterm_ends_the_training_too(checkout, tmp_path, monkeypatch):
    """`building.training` ends it if an exception passes through."""
    work = "spacy_mindroot.tools.building.build.build"
    monkeypatch.setattr(work, lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGTERM))
    result = run(checkout / "assets" / "treebank", tmp_path / "out", *OPTIONS)
    assert result.exit_code == 128 + signal.SIGTERM, result.output
    assert "Run the same command again: finished steps are not repeated." in result.output


def few_sentences(checkout, folder, has_dev):
    """Write a treebank of 12 sentences in each part, and a config that calibrates by two folds."""
    small = folder / "small"
    small.mkdir()
    for part in ("train", "dev", "test")[:: 1 if has_dev else 2]:
        sentences = (checkout / "assets" / "treebank" / f"{part}.conllu").read_text("utf8").split("\n\n")
        (small / f"{part}.conllu").write_text("\n\n".join(sentences[:12]) + "\n\n", "utf8")
    config = folder / "config.cfg"
    config.write_text(make_config("en", "efficiency", ["senter"], None).replace("folds = 5", "folds = 2"), "utf8")
    return small, config


@pytest.mark.parametrize("has_dev", [True, False], ids=["with a development set", "without one"])
def test_several_seeds_are_averaged_and_calibrated(checkout, tmp_path, has_dev):
    small, config = few_sentences(checkout, tmp_path, has_dev)
    options = ("--name", "demo", "--steps", 2, "--config", config, "--seeds", 2, "--seed", 3)
    result = run(small, tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    found = srsly.read_json(tmp_path / "out" / "pipeline.json")
    single = [found[f"training with seed {seed}"] for seed in (3, 4)]
    assert [each["seeds"] for each in single] == [[3], [4]] and found["average"]["seeds"] == [3, 4]
    assert found["average"]["cpu_seconds"] == pytest.approx(sum(each["cpu_seconds"] for each in single), abs=0.1)
    assert sorted(path.name for path in (tmp_path / "out" / "training").iterdir()) == ["average", "seed-3", "seed-4"]
    nlp = spacy.load(tmp_path / "out" / "training" / "average")
    assert len(nlp.get_pipe("arc_scorer").model.layers) == 2
    calibration = nlp.get_pipe("mind_root").calibration
    assert calibration.sentences == 12
    assert calibration.method == ("held-out" if has_dev else "2-fold cross-validation")
    for seed in (3, 4):
        folder = tmp_path / "out" / "training" / f"seed-{seed}" / ("model-best" if has_dev else "model-last")
        one = spacy.load(folder)
        assert one.get_pipe("mind_root").calibration is None
        assert one.config["training"]["seed"] == seed or one.config.interpolate()["training"]["seed"] == seed
    card = " ".join((tmp_path / "out" / "README.md").read_text("utf8").split())
    assert "with each of the seeds 3, 4." in card and "the mean of those of the 2 pipelines" in card
    assert ("the last step was kept" in card) == (not has_dev)
    with zipfile.ZipFile(next((tmp_path / "out" / "dist").iterdir())) as archive:
        assert "spacy-mindroot.Average.v1" in archive.read("en_demo/en_demo-0.1.0/config.cfg").decode()
    again = run(small, tmp_path / "out", *options)
    assert again.output.count("was done before") == 6, again.output


@pytest.mark.parametrize("has_dev", [True, False], ids=["with a development set", "without one"])
def test_a_student_learns_from_raw_text_and_is_calibrated(checkout, tmp_path, has_dev):
    small, config = few_sentences(checkout, tmp_path, has_dev)
    raw = tmp_path / "raw.txt.gz"
    with gzip.open(raw, "wt", encoding="utf8") as file:
        file.write("\n".join(f"The {noun} sleeps on the {place}." for noun in "abcdefg" for place in "xyzuvw"))
    options = ("--name", "demo", "--steps", 2, "--config", config, "--seeds", 2, "--distill")
    result = run(small, tmp_path / "out", *options, "--raw-text", raw)
    assert result.exit_code == 0, result.output
    found = srsly.read_json(tmp_path / "out" / "pipeline.json")
    assert found["labelling"]["sentences"] > 20 and found["labelling"]["expected"] > 0
    assert (found["labelling"]["expected_dev"] is not None) == has_dev
    assert " ".join(result.output.split()).count("the teachers expect") == 1
    training = tmp_path / "out" / "training"
    assert sorted(path.name for path in training.iterdir()) == ["seed-0", "seed-1", "student", "taught.spacy"]
    folder = "model-best" if has_dev else "model-last"
    nlp = spacy.load(training / "student" / folder)
    assert nlp.config["paths"]["distilled"] == str(training / "taught.spacy")
    assert nlp.config["corpora"]["train"]["divisions"] == copies_beside(12, found["labelling"]["sentences"])
    calibration = nlp.get_pipe("mind_root").calibration
    by_parts = "2-fold cross-validation; the teachers saw all parts"
    assert calibration.method == ("held-out" if has_dev else by_parts)
    assert calibration.sentences == 12  # annotated ones alone
    assert spacy.load(training / "seed-0" / folder).get_pipe("mind_root").calibration is None
    cpu = sum(found[f"training with seed {seed}"]["cpu_seconds"] for seed in (0, 1))
    assert found["student"]["cpu_seconds"] > cpu
    assert "a student of 2 pipelines" in (tmp_path / "out" / "README.md").read_text("utf8")
    with zipfile.ZipFile(next((tmp_path / "out" / "dist").iterdir())) as archive:
        assert "distilled = null" in archive.read("en_demo/en_demo-0.1.0/config.cfg").decode()

    if has_dev:  # interrupted after the teachers: they are not trained again
        shutil.rmtree(training / "student")
        again = run(small, tmp_path / "out", *options, "--raw-text", raw)
        assert again.output.count("was done before") == 3 and "student: done" in again.output, again.output


def test_a_small_student_has_accurate_teachers(checkout, tmp_path, monkeypatch):
    """Without raw text, they label copies of the training set."""
    monkeypatch.setattr("spacy_mindroot.tools.building.distilling._SWAPPED", 2 * 97)
    options = ("--lang", "en", "--steps", 1, "--distill", "--seeds", 1, "--optimize", "efficiency")
    result = run(checkout / "assets" / "treebank", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    training = tmp_path / "out" / "training"
    configs = [spacy.util.load_config(training / name / "model-best" / "config.cfg") for name in ("seed-0", "student")]
    assert [each["components"]["tok2vec"]["model"]["encode"]["width"] for each in configs] == [160, 96]
    assert srsly.read_json(tmp_path / "out" / "pipeline.json")["labelling"]["sentences"] == 2 * 97


def test_raw_text_that_can_not_be_used(checkout, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "train", lambda *args, **kwargs: pytest.fail("it has been trained"))
    (tmp_path / "empty.txt").write_text(" \n\n")
    (tmp_path / "binary.txt").write_bytes(bytes(range(256)) * 10)
    shutil.copy(checkout / "assets" / "treebank" / "dev.conllu", tmp_path / "dev.txt")
    (tmp_path / "a.spacy").write_bytes(DocBin().to_bytes())
    (tmp_path / "latin.txt").write_bytes("good\nne\xfcn\n".encode("latin1"))
    without = make_config("en", "efficiency", ["senter"], None).replace("distilled = ${paths.distilled}\n", "")
    (tmp_path / "without.cfg").write_text(without)
    treebank = checkout / "assets" / "treebank"
    for args, says in [
        (("--raw-text", tmp_path / "empty.txt"), "empty.txt has no text"),
        (("--raw-text", tmp_path / "binary.txt"), "binary.txt: this file is binary"),
        (("--raw-text", tmp_path / "dev.txt"), "dev.txt is CoNLL-U, not raw text. Take the text of its sentences"),
        (("--raw-text", tmp_path / "a.spacy"), "a.spacy: this file is a .spacy file, not text. Give the file that it"),
        (("--raw-text", tmp_path / "latin.txt"), "latin.txt:2: this line is not UTF-8"),
        (("--config", tmp_path / "without.cfg"), "A student needs a config in which distilled"),
    ]:
        result = run(treebank, tmp_path / "out", "--distill", *args)
        assert result.exit_code == 1 and says in " ".join(result.stderr.split()), result.output
    result = run(treebank, tmp_path / "out", "--raw-text", tmp_path / "latin.txt")
    assert result.exit_code == 2 and "needs --distill" in result.output
    assert not (tmp_path / "out").exists()


def test_what_is_read_is_apart_from_what_is_written(checkout, tmp_path):
    treebank = shutil.copytree(checkout / "assets" / "treebank", tmp_path / "treebank")
    (tmp_path / "vectors").mkdir()
    config = tmp_path / "configs" / "a.cfg"
    config.parent.mkdir()
    config.write_text(make_config("en", "efficiency", [], None, vectors=str(tmp_path / "vectors")), "utf8")
    for arguments, says in [
        ((treebank, tmp_path), "in OUT, a folder to write"),
        ((treebank, treebank / "out"), "in TREEBANK, a folder that this command reads"),
        ((treebank / "train.conllu", tmp_path / "vectors" / "out", "--with", tmp_path / "vectors"), "in --with"),
        ((treebank / "train.conllu", config.parent, "--config", config), "--config is .*in OUT, a folder to write"),
        ((treebank, tmp_path / "vectors" / "out", "--config", config), "in a file of --config, a folder that"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 1 and re.search(says, " ".join(result.stderr.split())), result.output
    result = run(treebank, tmp_path / "new", "--json", tmp_path / "new" / "pipeline.json")
    assert result.exit_code == 1 and "--json is" in result.stderr, result.output
    (tmp_path / "done").mkdir()
    (tmp_path / "done" / "pipeline.json").write_text("the state of a build")
    result = run(treebank, tmp_path / "done", "--json", tmp_path / "done" / "pipeline.json")
    assert result.exit_code == 1 and "--json is" in result.stderr, result.output
    assert (tmp_path / "done" / "pipeline.json").read_text() == "the state of a build"
    assert not list(tmp_path.rglob("out")) and not (tmp_path / "new").exists()
