"""`spacy mindroot calibrate`, as a person runs it."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli import app
from typer.testing import CliRunner

from scorer_helpers import TREEBANK, gold_docs, make_nlp
from spacy_mindroot.cli import calibrate as module
from spacy_mindroot.inference import Calibration
from spacy_mindroot.pipeline.calibration import calibrate, set_calibration
from spacy_mindroot.tools.building.config import make_config

DEV = TREEBANK / "dev.conllu"


def run(*args):
    return CliRunner().invoke(app, ["mindroot", "calibrate", *map(str, args)])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("calibrate") / "model"
    make_nlp(gold_docs(6), steps=15).to_disk(path)
    return path


@pytest.fixture
def corpus(tmp_path):
    text = DEV.read_text("utf8")
    sentences = text.strip().split("\n\n")[:12]
    (tmp_path / "dev.conllu").write_text("\n\n".join(sentences) + "\n\n", encoding="utf8")
    return tmp_path / "dev.conllu"


def test_another_folder(model, corpus, tmp_path):
    out = tmp_path / "in another" / "out"
    result = run(model, corpus, "--output", out)
    assert result.exit_code == 0, result.output
    assert spacy.load(model).get_pipe("mind_root").calibration is None
    nlp = spacy.load(out)
    found = nlp.get_pipe("mind_root").calibration
    assert found.method == "held-out" and found.sentences == 12
    lines = result.output.splitlines()
    assert "ECE of heads" in lines[0] and "ECE of labels" in lines[0]
    before, after = (line.split() for line in lines if line.startswith(("before", "after")))
    assert float(after[2]) < float(before[2]) and float(after[3]) < float(before[3])
    *_, of_heads, of_labels = next(line for line in lines if line.startswith("by chance")).split()
    assert 5 < float(of_heads) < 15 and 5 < float(of_labels) < 20, result.output
    assert f"temperature {found.arc_temperature:.3g}" in result.output
    assert "There are 12 sentences to calibrate on" in result.stderr and "--train" in result.stderr
    assert lines[-1] == f"Wrote the calibration to {out}."


def test_the_model_itself(model, corpus, tmp_path):
    nlp = spacy.load(model)
    nlp.to_disk(tmp_path / "model")
    files = {p.relative_to(tmp_path): p.read_bytes() for p in sorted((tmp_path / "model").rglob("*")) if p.is_file()}
    assert run(tmp_path / "model", corpus, "--in-place").exit_code == 0
    after = {p.relative_to(tmp_path): p.read_bytes() for p in sorted((tmp_path / "model").rglob("*")) if p.is_file()}
    changed = {str(path.relative_to("model")) for path in after if after[path] != files.get(path)}
    assert changed == {"meta.json", "mind_root/cfg"}
    assert json.loads((tmp_path / "model" / "meta.json").read_text("utf8"))["calibration"]["mind_root"]["tokens"] > 0
    # Calibrating anew does not build on what is there.
    first = spacy.load(tmp_path / "model").get_pipe("mind_root").calibration
    assert run(tmp_path / "model", corpus, "--in-place").exit_code == 0
    assert spacy.load(tmp_path / "model").get_pipe("mind_root").calibration == first


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("calibrated", [True, False], ids=["calibrated before", "not calibrated"])
@pytest.mark.parametrize("failing", ["mind_root/cfg", "meta.json"])
def test_a_file_that_can_not_be_replaced_changes_nothing(tmp_path, monkeypatch, failing, calibrated):
    folder, made = tmp_path / "model", tmp_path / "made"
    for path, text in ((folder, "old"), (made, "new")):
        for name in ("mind_root/cfg", "meta.json")[0 if calibrated or path == made else 1 :]:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text)
    before, replace, failed = content(folder), os.replace, []

    def fails(source, target):
        if Path(target) == folder / failing and not failed:
            failed.append(target)
            raise OSError("the disk is gone")
        replace(source, target)

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="the disk is gone") as error:
        module._replace(folder, made, "mind_root")
    assert content(folder) == before and not getattr(error.value, "__notes__", [])
    module._replace(folder, made, "mind_root")
    assert content(folder) == content(made)


def test_files_that_are_not_to_be_changed(model, corpus, tmp_path):
    shutil.copytree(model, tmp_path / "model")
    (tmp_path / "meta.json").write_bytes((model / "meta.json").read_bytes())
    (tmp_path / "model" / "meta.json").unlink()
    (tmp_path / "model" / "meta.json").symlink_to(tmp_path / "meta.json")
    result = run(tmp_path / "model", corpus, "--in-place")
    assert result.exit_code == 1 and "meta.json is a symbolic link" in result.stderr
    assert content(tmp_path / "model") == content(model)
    assert (tmp_path / "meta.json").read_bytes() == (model / "meta.json").read_bytes()


def test_read_only_files(model, corpus, tmp_path, monkeypatch):
    shutil.copytree(model, tmp_path / "model")
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "meta.json" and access(path, mode))
    result = run(tmp_path / "model", corpus, "--in-place")
    assert result.exit_code == 1 and "Permission denied" in result.stderr and "Nothing was written." in result.stderr
    assert content(tmp_path / "model") == content(model)


@pytest.mark.parametrize("part", [0, 0.5, 1])
def test_a_disk_that_is_full(model, corpus, tmp_path, part):
    """As `ulimit -f` has it: the first file that gets larger can't be written."""
    resource = pytest.importorskip("resource")
    shutil.copytree(model, tmp_path / "model")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = int(part * (model / "meta.json").stat().st_size)  # the new one is larger
    for output in (["--in-place"], ["--output", tmp_path / "new" / "out"]):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            result = run(tmp_path / "model", corpus, *output)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert result.exit_code == 1 and "File too large" in result.stderr and "Nothing was written." in result.stderr
        assert content(tmp_path / "model") == content(model) and not (tmp_path / "new").exists()


def test_words_without_heads(model, corpus, tmp_path):
    lines = corpus.read_text("utf8").split("\n")
    cells = lines[[line.startswith("2\t") for line in lines].index(True)].split("\t")
    lines[[line.startswith("2\t") for line in lines].index(True)] = "\t".join([*cells[:6], "_", "_", *cells[8:]])
    corpus.write_text("\n".join(lines), encoding="utf8")
    assert run(model, corpus, "--output", tmp_path / "out").exit_code == 0
    whole, _ = calibrate(spacy.load(model), [s.as_doc() for doc in gold_docs(6, part="dev") for s in doc.sents])
    found = spacy.load(tmp_path / "out").get_pipe("mind_root").calibration
    assert (found.sentences, found.tokens) == (whole.sentences, whole.tokens - 1)


@pytest.mark.parametrize("own", ["nothing", "lexicon", "vectors"])
def test_cross_validation(corpus, tmp_path, own):
    """The pipeline has its own lexicon and vectors, whose files are not needed any more."""
    words, vectors = tmp_path / "words.tsv", tmp_path / "vectors"
    words.write_text("the\tthe\tDET\n", encoding="utf8")
    blank = spacy.blank("en")
    blank.vocab.set_vector("the", np.ones(4, dtype=np.float32))
    blank.to_disk(vectors)
    options = {"lexicons": [str(words)] * (own == "lexicon"), "vectors": str(vectors) if own == "vectors" else None}
    config = spacy.util.load_config_from_str(
        make_config("en", "efficiency", [], None, **options),
        overrides={
            "paths.train": str(corpus),
            "paths.dev": str(corpus),
            "corpora.train": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "path": str(corpus)},
            "corpora.dev": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "path": str(corpus)},
            "training.max_steps": 2,
            "components.tok2vec.model.encode.width": 32,
            "components.arc_scorer.model.arc_width": 16,
        },
    )
    spacy.training.initialize.init_nlp(config).to_disk(tmp_path / "model")
    words.unlink()
    shutil.rmtree(vectors)
    result = run(tmp_path / "model", corpus, "--folds", 2, "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    calibration = spacy.load(tmp_path / "out").get_pipe("mind_root").calibration
    assert (calibration.method, calibration.sentences) == ("2-fold cross-validation", 12)
    other = tmp_path / "other.conllu"
    other.write_text("\n\n".join(DEV.read_text("utf8").strip().split("\n\n")[12:]) + "\n\n", encoding="utf8")
    result = run(tmp_path / "model", other, "--train", corpus, "--folds", 2, "--output", tmp_path / "both")
    assert result.exit_code == 0, result.output
    both = spacy.load(tmp_path / "both").get_pipe("mind_root").calibration
    assert (both.method, both.sentences) == ("held-out and 2-fold cross-validation", 15)


def test_messages(model, corpus, tmp_path):
    (tmp_path / "file").touch()
    for args, message in (
        ((model, corpus, "--folds", 1, "--in-place"), "Invalid value for '--folds'"),
        ((model, corpus, "--component", "other", "--in-place"), "does not have a mind_root component named 'other'"),
        ((model, corpus, "--output", tmp_path / "file"), "which is a file"),
        ((model, corpus, "--output", model), "which is not empty"),
        ((tmp_path, corpus, "--in-place"), "not a pipeline that spaCy can load"),
        (("en_no_such_package", corpus, "--in-place"), "Choose a folder for the calibrated pipeline: --output"),
        ((model, tmp_path / "none.conllu"), "none.conllu"),
        ((model, corpus), "--output, or change MODEL itself with --in-place"),
        ((model, corpus, "--output", tmp_path / "out", "--in-place"), "or change MODEL itself with --in-place"),
    ):
        result = run(*args)
        assert result.exit_code != 0 and message in " ".join(result.output.replace("│", " ").split()), result.output
        assert "Traceback" not in result.output


def test_the_table_names_a_scorer_without_labels(tmp_path, corpus):
    nlp = spacy.blank("en")
    nlp.add_pipe("scores_for_test_calibrate")
    nlp.add_pipe("mind_root")
    set_calibration(nlp, Calibration(2.0))
    nlp.to_disk(tmp_path / "model")
    result = run(tmp_path / "model", corpus, "--in-place")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines() if line.startswith(("before", "after", "by"))]
    assert [row[-1] for row in rows] == ["-", "-", "-"]


@spacy.Language.component("scores_for_test_calibrate")
def scores_for_test_calibrate(doc):
    """Every token prefers the token before it, in sentences as they are set."""
    import numpy as np

    doc._.arc_scores = [3 * np.eye(len(s), len(s) + 1) for s in doc.sents]
    return doc
