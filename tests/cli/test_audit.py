"""`spacy mindroot audit`, as a person runs it, and the corpora it reads."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.cli.convert import convert
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_mindroot.tools.gold import read_corpus

runner = CliRunner()


def audit(*args):
    return runner.invoke(app, ["mindroot", "audit", *map(str, args)])


def make_gold(vocab):
    """Two sentences in one Doc, one in another; a token without a head."""
    one = Doc(vocab, ["Anna", "left", ".", "Go"], heads=[1, 1, 1, 3], deps=["nsubj", "ROOT", "punct", "ROOT"])
    other = Doc(
        vocab, ["We", "know", "it"], heads=[1, 1, 2], deps=["nsubj", "ROOT", ""], sent_starts=[True, False, False]
    )
    return [one, other]


@pytest.fixture
def corpus(tmp_path):
    DocBin(docs=make_gold(spacy.blank("en").vocab)).to_disk(tmp_path / "gold.spacy")
    return tmp_path / "gold.spacy"


@pytest.fixture(scope="module")
def model(checkout, tmp_path_factory):
    """A parser that has been trained for a moment on the treebank in assets."""
    folder = tmp_path_factory.mktemp("model")
    convert(checkout / "assets" / "treebank", folder, converter="conllu", file_type="spacy", n_sents=5, silent=True)
    overrides = {
        "paths.train": str(folder / "train.spacy"),
        "paths.dev": str(folder / "dev.spacy"),
        "training.max_steps": 20,
        "training.eval_frequency": 20,
    }
    train(checkout / "configs" / "cpu-small.cfg", folder, overrides=overrides)
    return folder


def test_audits_a_pipeline_on_a_corpus(model, tmp_path):
    out = tmp_path / "a folder" / "audit"
    result = audit(model / "model-last", model / "test.spacy", "--out", out)
    assert result.exit_code == 0, result.output
    found = json.loads((out / "audit.json").read_text("utf8"))
    assert (found["sentences"], found["tokens"], found["single_root"]) == (18, 226, 1.0)
    assert set(found["scores"]) == {"uas", "las", "las_universal", "uem", "lem", "root_acc", "nonprojective"}
    records = [json.loads(line) for line in (out / "audit.jsonl").read_text("utf8").splitlines()]
    assert len(records) == 18
    assert sum(len(record["roots"]) > 1 for record in records) == found["multi_rooted"]
    page = (out / "audit.html").read_text("utf8")
    assert page.count("<figure") == found["changed_sentences"] == sum(bool(r["changed"]) for r in records)
    assert "| UAS |" in (out / "audit.md").read_text("utf8") and "UAS" in result.output
    assert "trained with the root constraint" in result.stdout and "one root is expected" in found["root scores"]
    assert "The pipeline has" not in result.output and "not applied" not in found

    # What the pipeline itself does with these sentences is what is called "single root".
    nlp = spacy.load(model / "model-last")
    gold = list(read_corpus(model / "test.spacy", nlp.vocab))
    docs = nlp.pipe(Doc(nlp.vocab, words=s.words, sent_starts=[i == 0 for i in range(len(s.words))]) for s in gold)
    heads = [0 if token.head == token else token.head.i + 1 for doc in docs for token in doc]
    right = np.count_nonzero(heads == np.concatenate([s.heads for s in gold]))
    assert right / 226 == pytest.approx(found["scores"]["uas"]["single_root"])
    trees = (out / "single_root.conllu").read_text("utf8")
    assert trees.count("# sent_id") == trees.count("\t0\troot\t") == 18
    assert (out / "unconstrained.conllu").read_text("utf8").count("\t0\troot\t") == 18 + sum(
        len(record["roots"]) - 1 for record in records
    )


def test_audits_a_score_file(checkout, tmp_path):
    result = audit(checkout / "assets" / "demo.npz", "-o", tmp_path, "--most", 1)
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "audit.json").read_text("utf8"))
    assert found["multi_rooted"] > 1 and found["single_root"] == 1.0
    assert (tmp_path / "audit.html").read_text("utf8").count("<figure") == 1
    assert json.loads((tmp_path / "audit.jsonl").read_text("utf8").splitlines()[0])["id"] == "demo-1"


def test_no_link_is_followed_out_of_the_folder_to_write(checkout, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "out" / "audit.md").symlink_to("../mine")
    result = audit(checkout / "assets" / "demo.npz", "-o", tmp_path / "out")
    assert result.exit_code == 1 and "audit.md leads out of its folder" in result.stderr
    assert (tmp_path / "mine").read_text() == "mine" and len(list((tmp_path / "out").iterdir())) == 1


def test_what_cant_be_audited_is_told_in_a_line(checkout, corpus, tmp_path):
    wrong = tmp_path / "wrong.spacy"
    wrong.write_bytes(b"no corpus")
    spacy.blank("en").to_disk(tmp_path / "blank")
    DocBin().to_disk(tmp_path / "empty.spacy")
    np.savez(tmp_path / "empty.npz", lens=np.empty(0, dtype=int), arc=np.empty(0))
    shutil.copytree(tmp_path / "blank", tmp_path / "unknown")
    config = (tmp_path / "blank" / "config.cfg").read_text("utf8")
    config = config.replace("pipeline = []", 'pipeline = ["x"]').replace(
        "[components]", '[components]\n[components.x]\nfactory = "not_there"'
    )
    (tmp_path / "unknown" / "config.cfg").write_text(config, encoding="utf8")
    for args, message in [
        ((checkout / "README.md",), "MODEL CORPUS"),
        ((tmp_path / "blank", wrong), "can't be read as a .spacy file"),
        ((tmp_path / "blank", corpus), "no arc scores"),
        ((tmp_path / "blank", tmp_path / "empty.spacy"), "no sentences"),
        ((checkout / "README.md", corpus), "not a pipeline"),
        ((tmp_path / "unknown", corpus), "not a pipeline"),
        ((checkout / "assets" / "demo.npz", corpus), "by itself"),
        ((tmp_path / "blank", checkout / "assets" / "demo.npz"), "by itself"),
        ((tmp_path / "empty.npz",), "no sentences"),
    ]:
        result = audit(*args)
        assert result.exit_code == 1 and result.stderr.startswith("Error: ") and message in result.stderr, result.output


def test_neither_corpus_nor_output_takes_the_others_place(model, checkout, tmp_path, tmp_path_factory):
    """A corpus that an audit has written is one too, and so is a folder of CoNLL-U."""
    assert audit(model / "model-last", checkout / "assets" / "treebank" / "test.conllu", "-o", tmp_path).exit_code == 0
    before = (tmp_path / "single_root.conllu").read_bytes()
    result = audit(model / "model-last", tmp_path / "single_root.conllu", "-o", tmp_path)
    assert result.exit_code == 1 and "the same file" in result.stderr
    assert (tmp_path / "single_root.conllu").read_bytes() == before
    (tmp_path / "unconstrained.conllu").unlink()
    (tmp_path / "link").symlink_to(tmp_path)
    for out in (tmp_path, tmp_path / "link", tmp_path / "out", tmp_path / "link" / "a" / "b"):
        result = audit(model / "model-last", tmp_path, "-o", out)
        assert result.exit_code == 1 and "CORPUS" in result.stderr, result.output
    assert not (tmp_path / "out").exists()
    out = tmp_path_factory.mktemp("out")
    result = audit(model / "model-last", tmp_path, "-o", out)
    assert result.exit_code == 0, result.output
    assert (out / "single_root.conllu").read_bytes() == before


@spacy.Language.component("scores_for_test_audit")
def scores_for_test_audit(doc):
    doc._.arc_scores = [np.eye(len(doc), len(doc) + 1)]
    doc._.arc_labels = [np.zeros((len(doc), len(doc) + 1), dtype=int)]
    doc._.arc_label_names = ["nsubj"]
    return doc


SURFACE = (
    "# sent_id = s\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\tADP\t_\t_\t3\tcase\t_\t_\n"
    "2\tle\t_\tDET\t_\t_\t3\tdet\t_\t_\n3\tpain\t_\tNOUN\t_\t_\t0\troot\t_\tX=1\n\n"
)


@pytest.fixture
def light_model(tmp_path):
    """Saves a pipeline that was trained on multiword tokens, or on words, or says nothing of it."""

    def save(surface_tokens):
        nlp = spacy.blank("fr")
        nlp.add_pipe("scores_for_test_audit")
        if surface_tokens is not None:
            reader = {"@readers": "spacy-mindroot.ConlluCorpus.v1", "path": "x", "surface_tokens": surface_tokens}
            nlp.config["corpora"] = {"dev": reader}
        nlp.to_disk(tmp_path / "model")
        return tmp_path / "model"

    return save


@pytest.mark.parametrize(
    ("config", "options", "tokens"),
    [(True, [], 2), (True, ["--words"], 3), (False, [], 3), (None, ["--surface-tokens"], 2), (None, [], 3)],
)
def test_the_tokens_are_those_of_the_training_corpus(light_model, tmp_path, config, options, tokens):
    (tmp_path / "gold.conllu").write_text(SURFACE, encoding="utf8")
    result = audit(light_model(config), tmp_path / "gold.conllu", "--out", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out" / "audit.json").read_text("utf8"))["tokens"] == tokens
    assert ("--surface-tokens" in result.stderr.partition("gold label")[0]) == (config is None and not options)
    written = (tmp_path / "out" / "single_root.conllu").read_text("utf8")
    assert ("1-2\tdu" in written and "X=1" in written) == (tokens == 3) and "sent_id = s\n" in written
    assert ("1\tdu\t" in written) == (tokens == 2)


def test_labels_that_can_not_fit_are_a_warning(light_model, tmp_path):
    (tmp_path / "gold.conllu").write_text(SURFACE, encoding="utf8")
    result = audit(light_model(False), tmp_path / "gold.conllu")
    assert "67% of the tokens have a gold label that the scorer does not have" in result.stderr
    (tmp_path / "gold.conllu").write_text(SURFACE.replace("case", "nsubj").replace("det", "nsubj"), encoding="utf8")
    assert audit(light_model(False), tmp_path / "gold.conllu").stderr == ""


def test_a_corpus_is_read_once(light_model, tmp_path, monkeypatch):
    from spacy_mindroot.tools import gold as module

    reads = []
    read = module.read_conllu
    monkeypatch.setattr(module, "read_conllu", lambda path: reads.append(path) or read(path))
    (tmp_path / "gold.conllu").write_text(SURFACE * 3000, encoding="utf8")
    result = audit(light_model(False), tmp_path / "gold.conllu", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert len(reads) == 1
    assert (tmp_path / "out" / "audit.jsonl").read_text("utf8").count("\n") == 3000


def udeval(gold, system, *flags):
    """UAS and LAS as the shared tasks count them."""
    script = "import sys; from udtools.cli import main_eval; sys.exit(main_eval())"
    done = subprocess.run(
        [sys.executable, "-c", script, "-v", *flags, str(gold), str(system)], capture_output=True, text=True
    )
    found = {
        name: float(f1) for name, f1 in re.findall(r"^(UAS|LAS) .*?\|.*?\|.*?\| *([\d.]+)", done.stdout, flags=re.M)
    }
    return done.returncode, found, done.stdout + done.stderr


@pytest.mark.parametrize("treebank", ["assets", "Irish-IDT", "Marathi-UFAL"])
def test_udeval_counts_the_same(treebank, model, checkout, request, tmp_path):
    """For CoNLL-U the audit writes the file as it was, multiword tokens included, with other heads and labels."""
    if treebank == "assets":
        gold = checkout / "assets" / "treebank" / "test.conllu"
    else:
        (gold,) = (request.getfixturevalue("data") / "ud" / f"UD_{treebank}").glob("*-test.conllu")
    result = audit(model / "model-last", gold, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "audit.json").read_text("utf8"))
    scores = report["scores"]
    code, found, output = udeval(gold, tmp_path / "single_root.conllu")
    assert code == 0, output
    assert found == {
        "UAS": pytest.approx(100 * scores["uas"]["single_root"], abs=0.006),
        "LAS": pytest.approx(100 * scores["las_universal"]["single_root"], abs=0.006),
    }
    lines = [path.read_text("utf8").splitlines() for path in (gold, tmp_path / "single_root.conllu")]
    assert len(lines[0]) == len(lines[1])
    for one, other in zip(*lines, strict=True):
        one, other = one.split("\t"), other.split("\t")
        assert one[:6] + one[8:] == other[:6] + other[8:]

    # The script refuses several roots, unless it is told otherwise. The audit knows whether there are any.
    code, _, output = udeval(gold, tmp_path / "unconstrained.conllu")
    assert (code != 0) == (report["multi_rooted"] > 0), output
    assert code == 0 or "root" in output


def test_rules_before_and_after(model, checkout, tmp_path):
    treebank = checkout / "assets" / "treebank" / "test.conllu"
    result = audit(model / "model-last", treebank, "--out", tmp_path / "out", "--rules", "ud")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "out" / "audit.json").read_text("utf8"))["rules"]
    assert found["sentences"] == found["certified"] > 10 and found["changed_sentences"] > 0
    violations = found["violations"]
    assert sum(counts["before"] for counts in violations.values()) > 10
    # The pipeline sets no parts of speech, so rules about them are counted, but not met.
    assert all(counts["after"] == 0 for name, counts in violations.items() if "upos" not in name)
    assert all(counts["gold"] <= 3 for name, counts in violations.items())
    assert set(found["scores"]["las"]) == {"before", "after", "difference", "interval", "better", "worse"}
    page = (tmp_path / "out" / "audit.html").read_text("utf8")
    assert f"Sentences that rules change: {found['changed_sentences']}" in page and "leaf-punct" in page
    assert "# What rules change" in (tmp_path / "out" / "audit.md").read_text("utf8")
    assert re.search(r"sentences whose tree is certainly the best valid one +\d+ of \d+", result.output)
    without = audit(model / "model-last", treebank)
    assert "rules" not in without.output


def test_rules_need_the_scores_of_all_labels(model, checkout, tmp_path):
    result = audit(tmp_path / "scores.npz", "--rules", "ud")
    assert result.exit_code == 1 and "which score files do not have" in " ".join(result.output.split())
    result = audit(model / "model-last", checkout / "assets" / "treebank" / "test.conllu", "--rules", "x")
    assert result.exit_code == 1 and "--rules" in result.output


def test_the_level_of_root_scores_is_chosen_for_a_parser_that_was_trained_by_trees(model, tmp_path, monkeypatch):
    def all_roots(scores):
        level = scores.copy()
        level[:, 0] += 1000
        return level

    monkeypatch.setattr("spacy_mindroot.tools.audit.levels.with_one_root_expected", all_roots)
    for loss in ("tree", "both"):
        shutil.copytree(model / "model-last", tmp_path / loss)
        config = spacy.util.load_config(tmp_path / loss / "config.cfg")
        config["components"]["arc_scorer"]["loss"] = loss
        config.to_disk(tmp_path / loss / "config.cfg")
        result = audit(tmp_path / loss, model / "test.spacy", "--out", tmp_path / "out" / loss)
        assert ("root constraint (loss" in result.stdout) == (loss == "tree"), result.output
        found = json.loads((tmp_path / "out" / loss / "audit.json").read_text("utf8"))
        assert ("root scores" in found) == (loss == "tree")
        assert (found["mean_roots"] > 12) == (loss == "tree")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"projective": True, "rules": "ud"}, "projective = true and rules = ud"),
        ({"rules": {"unique": [["nsubj"]]}}, "rules = a table"),
    ],
)
def test_settings_of_the_pipeline_that_are_not_applied(model, corpus, tmp_path, settings, named):
    shutil.copytree(model / "model-last", tmp_path / "model")
    config = spacy.util.load_config(tmp_path / "model" / "config.cfg")
    config["components"]["mind_root"] |= settings
    config.to_disk(tmp_path / "model" / "config.cfg")
    result = audit(tmp_path / "model", corpus, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert text.count(f"The pipeline has {named}.") == 1 and text.endswith("use --rules.")
    found = json.loads((tmp_path / "out" / "audit.json").read_text("utf8"))
    assert found["not applied"] == f"the pipeline's {named}"
