"""`spacy mindroot score`, as a person runs it."""

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_mindroot import decode
from spacy_mindroot.score_file import read_score_file, write_score_file


def run(*args):
    return CliRunner().invoke(app, ["mindroot", *map(str, args)])


@spacy.Language.component("scores_for_test_score")
def scores_for_test_score(doc):
    """Every token prefers the token before it."""
    doc._.arc_scores = [np.eye(len(doc), len(doc) + 1)]
    return doc


@spacy.Language.component("labels_for_test_score")
def labels_for_test_score(doc):
    doc._.arc_labels = [np.ones((len(doc), len(doc) + 1), dtype=int)]
    doc._.arc_label_names = ["ROOT", "obj"] + (["odd"] if doc[0].text == "odd" else [])
    return doc


@pytest.fixture
def model(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("scores_for_test_score")
    nlp.add_pipe("labels_for_test_score")
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t2\tcase\t_\t_\n"
        "2\tle\tle\tDET\t_\t_\t0\troot\t_\t_\n\n1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\t_\n\n",
        encoding="utf8",
    )
    return path


def test_writes_scores_labels_and_gold_trees(model, corpus, tmp_path):
    result = run("score", model, corpus, tmp_path / "out.npz")
    assert result.exit_code == 0, result.output
    assert "2 sentences" in result.output
    first, second = read_score_file(tmp_path / "out.npz")
    assert first.words == ["de", "le"] and second.words == ["Oui"]
    assert np.array_equal(first.scores, np.eye(2, 3))
    assert first.labels(decode(first.scores)) == ["root", "obj"]
    assert (first.gold_heads.tolist(), first.gold_labels) == ([2, 0], ["case", "root"])
    assert run("decode", tmp_path / "out.npz").exit_code == run("audit", tmp_path / "out.npz").exit_code == 0


def test_surface_tokens(model, corpus, tmp_path):
    """Words unless asked otherwise; and then nothing is left to guess."""
    result = run("score", model, corpus, tmp_path / "out.npz")
    assert "--surface-tokens" in result.stderr
    for option, words in [("--surface-tokens", ["du"]), ("--words", ["de", "le"])]:
        result = run("score", model, corpus, tmp_path / "out.npz", option)
        assert result.exit_code == 0 and result.stderr == ""
        assert read_score_file(tmp_path / "out.npz")[0].words == words


def test_a_pipeline_without_labels(tmp_path, corpus):
    nlp = spacy.blank("en")
    nlp.add_pipe("scores_for_test_score")
    nlp.to_disk(tmp_path / "model")
    assert run("score", tmp_path / "model", corpus, tmp_path / "out.npz").exit_code == 0
    first, _ = read_score_file(tmp_path / "out.npz")
    assert first.labels(np.array([0, 1])) == ["root", "dep"] and first.gold_labels == ["case", "root"]


def test_nothing_is_written_over_and_nothing_half(model, corpus, tmp_path):
    (tmp_path / "link.npz").symlink_to(corpus)
    before = corpus.read_bytes()
    for out, says in [
        (tmp_path / "link.npz", "CORPUS and OUT are the same file"),
        (tmp_path / "out.txt", ".npz"),
        (tmp_path / "nowhere" / "out.npz", "nowhere"),
    ]:
        result = run("score", model, corpus, out)
        assert result.exit_code == 1 and says in result.stderr and "Nothing was written" in result.stderr
    assert corpus.read_bytes() == before
    (tmp_path / "out.npz").write_text("precious")
    corpus.write_bytes(before + b"nonsense\n\n")
    result = run("score", model, corpus, tmp_path / "out.npz")
    assert result.exit_code == 1 and "line 7" in result.stderr, result.output
    assert (tmp_path / "out.npz").read_text() == "precious"
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


def test_labels_that_are_not_the_same_for_all_sentences(model, tmp_path):
    docs = [Doc(spacy.blank("en").vocab, words=[word], heads=[0], deps=["ROOT"]) for word in ("even", "odd")]
    DocBin(docs=docs).to_disk(tmp_path / "gold.spacy")
    result = run("score", model, tmp_path / "gold.spacy", tmp_path / "out.npz")
    assert result.exit_code == 0, result.output
    labels = [sentence.labels(np.array([0])) for sentence in read_score_file(tmp_path / "out.npz")]
    assert labels == [["root"], ["root"]]


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
