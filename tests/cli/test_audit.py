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
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_mindroot import decode
from spacy_mindroot.audit.corpus import read_corpus, score_sentences
from spacy_mindroot.errors import CorpusError, LabelsError, MissingScoresError, ScoresShapeError
from spacy_mindroot.score_file import read_score_file, write_score_file

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


@spacy.Language.component("scores_of_the_words")
def scores_of_the_words(doc):
    """Arc scores that depend on the words alone: every token prefers ROOT a little."""
    lengths = doc.user_data.get("lengths", [len(doc)])
    doc._.arc_scores = [np.tile(np.array([0.5, *np.linspace(0, 0.4, n)]), (n, 1)) for n in lengths]
    return doc


@pytest.fixture
def corpus(tmp_path):
    DocBin(docs=make_gold(spacy.blank("en").vocab)).to_disk(tmp_path / "gold.spacy")
    return tmp_path / "gold.spacy"


@pytest.fixture(scope="module")
def model(checkout, tmp_path_factory):
    """A parser that has been trained for a moment on the treebank in assets."""
    folder = tmp_path_factory.mktemp("model")
    script = [sys.executable, "-m", "spacy"]
    subprocess.run(
        [*script, "convert", str(checkout / "assets" / "treebank"), str(folder), "--converter", "conllu", "-n", "5"],
        check=True,
        capture_output=True,
    )
    options = {
        "paths.train": folder / "train.spacy",
        "paths.dev": folder / "dev.spacy",
        "training.max_steps": 20,
        "training.eval_frequency": 20,
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    command = [*script, "train", str(checkout / "configs" / "cpu-small.cfg"), "--output", str(folder), *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
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
    assert page.count("<section") == found["changed_sentences"] == sum(bool(r["changed"]) for r in records)
    assert "| UAS |" in (out / "audit.md").read_text("utf8") and "UAS" in result.output
    assert 'arc_scorer was trained with loss = "tree"' in result.stderr

    # What the pipeline itself does with these sentences is what is called "single root".
    nlp = spacy.load(model / "model-last")
    gold = read_corpus(model / "test.spacy", nlp.vocab)
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
    assert (tmp_path / "audit.html").read_text("utf8").count("<section") == 1
    assert json.loads((tmp_path / "audit.jsonl").read_text("utf8").splitlines()[0])["id"] == "demo-1"


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
        ((checkout / "README.md", corpus), "no pipeline"),
        ((tmp_path / "unknown", corpus), "no pipeline"),
        ((checkout / "assets" / "demo.npz", corpus), "by itself"),
        ((tmp_path / "blank", checkout / "assets" / "demo.npz"), "by itself"),
        ((tmp_path / "empty.npz",), "no sentences"),
    ]:
        result = audit(*args)
        assert result.exit_code == 1 and result.stderr.startswith("Error: ") and message in result.stderr, result.output


def test_a_corpus_is_not_overwritten(model, checkout, tmp_path):
    """Also one that an audit has written; and a folder of CoNLL-U is a corpus."""
    assert audit(model / "model-last", checkout / "assets" / "treebank" / "test.conllu", "-o", tmp_path).exit_code == 0
    before = (tmp_path / "single_root.conllu").read_bytes()
    result = audit(model / "model-last", tmp_path / "single_root.conllu", "-o", tmp_path)
    assert result.exit_code == 1 and "would write" in result.stderr
    assert (tmp_path / "single_root.conllu").read_bytes() == before
    (tmp_path / "unconstrained.conllu").unlink()
    result = audit(model / "model-last", tmp_path, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "single_root.conllu").read_bytes() == before


def test_reads_gold_sentences(corpus):
    nlp = spacy.blank("en")
    first, second, third = read_corpus(corpus, nlp.vocab)
    assert (first.words, first.heads.tolist(), first.labels) == (
        ["Anna", "left", "."],
        [2, 0, 2],
        ["nsubj", "root", "punct"],
    )
    assert (second.words, second.heads.tolist()) == (["Go"], [0])
    assert (third.words, third.heads.tolist()) == (["We", "know", "it"], [2, 0, -1])
    assert [s.name for s in (first, second, third)] == ["gold-1-1", "gold-1-2", "gold-2-1"]
    with pytest.raises(CorpusError):
        read_corpus(corpus.parent / "none.spacy", nlp.vocab)


def test_scores_are_read_as_the_pipeline_reads_them(corpus):
    """Up to mind_root and no further, and from where that reads them."""
    nlp = spacy.blank("en")
    nlp.add_pipe("scores_of_the_words")
    gold = read_corpus(corpus, nlp.vocab)
    plain = [s.scores for s in score_sentences(nlp, gold)]
    assert [scores.shape for scores in plain] == [(3, 4), (1, 2), (3, 4)]

    @spacy.Language.component("must_not_run")
    def must_not_run(doc):
        raise AssertionError

    nlp.add_pipe("mind_root")
    nlp.add_pipe("must_not_run")
    for one, other in zip(plain, score_sentences(nlp, gold), strict=True):
        assert np.array_equal(one, other.scores) and other.labels(decode(one)).count("root") == 1
    assert nlp.pipe_names == ["scores_of_the_words", "mind_root", "must_not_run"]

    nlp.remove_pipe("mind_root")
    nlp.remove_pipe("must_not_run")
    nlp.add_pipe("mind_root", config={"scores": {"@misc": "spacy-mindroot.user_data_scores.v1", "key": "elsewhere"}})
    with pytest.raises(MissingScoresError, match="elsewhere"):
        list(score_sentences(nlp, gold))


def test_scores_of_several_sentences_are_refused(corpus):
    nlp = spacy.blank("en")
    nlp.add_pipe("scores_of_the_words")

    @spacy.Language.component("two_sentences")
    def two_sentences(doc):
        doc._.arc_scores = doc._.arc_scores * 2
        return doc

    @spacy.Language.component("labels_without_names")
    def labels_without_names(doc):
        doc._.arc_labels = [np.zeros(scores.shape, dtype=int) for scores in doc._.arc_scores]
        return doc

    gold = read_corpus(corpus, nlp.vocab)
    nlp.add_pipe("two_sentences")
    with pytest.raises(ScoresShapeError, match="gold-1-1 is one sentence"):
        list(score_sentences(nlp, gold))
    nlp.remove_pipe("two_sentences")
    nlp.add_pipe("labels_without_names")
    with pytest.raises(LabelsError, match="arc_label_names"):
        list(score_sentences(nlp, gold))


def test_gold_labels_travel_in_a_score_file(tmp_path):
    """Also those that the scorer does not know."""
    write_score_file(
        tmp_path / "s.npz",
        scores=[np.zeros((2, 3))],
        words=[["a", "b"]],
        labels=["root", "obj"],
        best_labels=[np.array([[0, 1, 1], [0, 1, 1]])],
        gold_heads=[np.array([0, -1])],
        gold_labels=[["root", "nsubj"]],
    )
    (sentence,) = read_score_file(tmp_path / "s.npz")
    assert (sentence.gold_labels, sentence.gold_heads.tolist()) == (["root", "nsubj"], [0, -1])
    assert sentence.labels(np.array([0, 1])) == ["root", "obj"]


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
    """On what the audit writes for CoNLL-U: the file as it was, with multiword tokens and all, but for heads and labels."""
    if treebank == "assets":
        gold = checkout / "assets" / "treebank" / "test.conllu"
    else:
        (gold,) = (request.getfixturevalue("data") / "ud" / f"UD_{treebank}").glob("*-test.conllu")
    result = audit(model / "model-last", gold, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    scores = json.loads((tmp_path / "audit.json").read_text("utf8"))["scores"]
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

    if treebank != "assets":  # of which this parser makes no malformed trees
        code, _, output = udeval(gold, tmp_path / "unconstrained.conllu")
        assert code != 0 and "root" in output, "the check that --multiple-roots-okay switches off"
