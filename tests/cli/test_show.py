"""`spacy mindroot show`: pages, pictures and trees in the terminal."""

import io

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.language import Language
from typer.testing import CliRunner

GOLD = """# sent_id = one
1\tThey\t_\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tleft\t_\tVERB\t_\t_\t0\troot\t_\t_
3\tearly\t_\tADV\t_\t_\t1\tadvmod\t_\t_

# sent_id = two
1\tGo\t_\tVERB\t_\t_\t0\troot\t_\t_

"""


@Language.component("test_show_scores")
def scores_of_words(doc):
    found = []
    for sentence in doc.sents:
        n = len(sentence)
        scores = np.random.default_rng(n).normal(0, 1, (n, n + 1))
        found.append(scores)
    doc._.arc_scores = found
    return doc


@pytest.fixture
def model(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"overwrite": False})
    nlp.add_pipe("test_show_scores")
    nlp.add_pipe("mind_root")
    nlp.to_disk(tmp_path / "model")
    return str(tmp_path / "model")


def show(*arguments, **options):
    return CliRunner().invoke(app, ["mindroot", "show", *map(str, arguments)], **options)


def test_a_text_in_the_terminal(model):
    result = show(model, "They left early. Go!")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("ROOT\n") == 2 and "%)" in result.stdout and "1: They left early ." in result.stdout


def test_standard_input(model):
    assert show(model, "-", input="They\nleft\nearly.").stdout.startswith("They left early .\nROOT")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("They ran.\nA caf\xe9.".encode("latin-1"), "<stdin>: line 2 is not UTF-8"),
        ("They ran.".encode("utf-16"), "<stdin>: this file is UTF-16"),
        ("They ran.".encode("utf-32-be"), "UTF-32"),
    ],
)
def test_standard_input_in_another_encoding(model, data, says):
    result = show(model, "-", input=data)
    assert result.exit_code == 1 and says in result.stderr and result.stdout == ""


def test_a_page_and_a_picture(model, tmp_path):
    result = show(model, "They left early. Go!", "--out", tmp_path / "page.html")
    assert result.exit_code == 0 and "Drew 2 sentences" in result.stderr
    page = (tmp_path / "page.html").read_text("utf8")
    assert page.startswith("<!DOCTYPE html>") and page.count("<figure>") == 2
    assert show(model, "They left early.", "--out", tmp_path / "one.svg").exit_code == 0
    assert (tmp_path / "one.svg").read_text("utf8").startswith("<svg")
    result = show(model, "They left early. Go!", "--out", tmp_path / "two.svg")
    assert result.exit_code == 1 and "can hold one sentence" in result.stderr and not (tmp_path / "two.svg").exists()


@pytest.mark.parametrize("gold", [True, False])
def test_a_corpus(model, tmp_path, gold):
    (tmp_path / "gold.conllu").write_text(GOLD, "utf8")
    result = show(model, tmp_path / "gold.conllu", "--out", "-", *(["--gold"] if gold else []))
    assert result.exit_code == 0, result.output
    assert result.stdout.count("<figure>") == 2 and "<bdi>two</bdi>" in result.stdout
    assert ("head in the file" in result.stdout) is gold


def test_only_the_first_sentences(model, tmp_path):
    (tmp_path / "gold.conllu").write_text(GOLD, "utf8")
    result = show(model, tmp_path / "gold.conllu", "--most", 1)
    assert result.stdout.count("ROOT\n") == 1 and "--most 1" in result.stderr


def test_errors(model, tmp_path):
    for arguments, message in (
        ((model, tmp_path / "none.conllu"), "no such file"),
        ((model, "A text.", "--gold"), "--gold draws"),
        ((model, " "), "no words"),
        ((str(tmp_path), "A text."), "not a pipeline"),
    ):
        result = show(*arguments)
        assert result.exit_code == 1 and message in result.stderr, result.output
    spacy.blank("en").to_disk(tmp_path / "blank")
    result = show(tmp_path / "blank", "A text.")
    assert result.exit_code == 1 and "no mind_root" in result.stderr


def test_names_are_printed_safely(model, tmp_path):
    (tmp_path / "gold.conllu").write_text(GOLD.replace("= one", "= \u202eone"), "utf8")
    result = show(model, tmp_path / "gold.conllu")
    assert "\u202e" not in result.stdout and "\\u202eone" in result.stdout
    assert io.StringIO(result.stdout).readline().startswith("\\u202eone: They")
