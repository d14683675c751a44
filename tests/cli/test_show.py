"""`spacy mindroot show`: pages, pictures and trees in the terminal."""

import gzip
import io
import re
import sys

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.language import Language
from typer.testing import CliRunner

from spacy_mindroot.inference import Calibration

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


@Language.component("test_show_heads")
def heads_of_words(doc):
    for token in doc:
        token.head, token.dep_ = doc[0], "dep" if token.i else "ROOT"
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


def test_the_number_of_trees_in_a_set(model, tmp_path):
    assert "Calibrate it" in show(model, "Go!", "--coverage", 0.9).output
    nlp = spacy.load(model)
    nlp.get_pipe("mind_root").calibration = Calibration(tree_set_thresholds={"90": 0.4})
    nlp.to_disk(model)
    sizes = [sentence._.tree_set.size for sentence in _with_sets(nlp)("They left early. Go!").sents]
    result = show(model, "They left early. Go!", "--coverage", 0.9)
    assert sizes[0] > 1 and f"1: They left early . (its set has {sizes[0]} trees)" in result.stdout
    assert show(model, "Go!", "--coverage", 0.9, "--out", tmp_path / "page.html").exit_code == 0
    assert "; its set has" in (tmp_path / "page.html").read_text("utf8")


def _with_sets(nlp):
    mind_root = nlp.get_pipe("mind_root")
    mind_root.confidence, mind_root.coverage, mind_root.coverage_of = True, 0.9, "sentence"
    return nlp


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


@pytest.mark.parametrize(("name", "start"), [("x.pdf", b"%PDF"), ("x.png", b"\x89PNG"), ("x.tex", b"\\begin{dep")])
def test_other_formats(model, tmp_path, name, start, monkeypatch):
    if name != "x.tex":
        pytest.importorskip("cairosvg", reason="CairoSVG is not installed", exc_type=(ImportError, OSError))
    assert show(model, "They left early.", "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / name).read_bytes().startswith(start)
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    result = show(model, "They left early.", "--out", tmp_path / f"other-{name}")
    assert (result.exit_code == 1 and "spacy-mindroot[pictures]" in result.stderr) is (name != "x.tex")
    assert (tmp_path / f"other-{name}").exists() is (name == "x.tex")


def test_theme_direction_and_other_trees(model, tmp_path):
    for theme, colour in (("light", "#ffffff"), ("dark", "#161b22"), ("auto", "#ffffff")):
        show(model, "They left early.", "--out", tmp_path / "one.svg", "--theme", theme)
        assert f'class="card" fill="{colour}"' in (tmp_path / "one.svg").read_text("utf8")
    heights = []
    for direction in ("--vertical", "--horizontal"):
        result = show(model, "They left early.", "--out", tmp_path / "page.html", direction, "--kbest", 3)
        assert result.exit_code == 0, result.output
        page = (tmp_path / "page.html").read_text("utf8")
        assert page.count('<input type="radio"') == 3 and page.count(' checked=""') == 1
        heights.append(re.findall(r'<svg [^>]*height="(\d+)"', page)[-1])
    assert heights[0] != heights[1]
    assert show(model, "They left.", "--theme", "blue").exit_code == 2


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
    assert result.exit_code == 1 and "components none, and none of them sets heads" in result.stderr


def test_other_parsers_are_drawn_without_probabilities(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("test_show_heads")
    nlp.to_disk(tmp_path / "model")
    result = show(tmp_path / "model", "They left early.")
    assert result.exit_code == 0 and "└─ They (ROOT)" in result.stdout.replace("root", "ROOT"), result.output
    assert "%" not in result.stdout
    (tmp_path / "gold.conllu").write_text(GOLD, "utf8")
    result = show(tmp_path / "model", tmp_path / "gold.conllu", "--gold", "--out", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert "Probability" not in (tmp_path / "page.html").read_text("utf8")


@pytest.mark.parametrize("name", ["gold.conllx", "gold.conll", "gold.txt", "gold", "with space.cupt", "folder"])
def test_an_input_that_exists_is_read_by_its_content(model, tmp_path, name):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        path /= "gold.conllu"
    path.write_text(GOLD, "utf8")
    result = show(model, tmp_path / name)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("one: They left early\n") and "two: Go\n" in result.stdout


@pytest.mark.parametrize(
    "content", [b"They left\nearly.", b"\xef\xbb\xbfThey left early.", gzip.compress(b"They left early.", mtime=0)]
)
def test_a_file_of_text_is_parsed(model, tmp_path, content):
    (tmp_path / "new.txt").write_bytes(content)
    result = show(model, tmp_path / "new.txt")
    assert result.exit_code == 0 and result.stdout.startswith("They left early .\n"), result.output


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "Größe\nÉl".encode("latin-1"), "a.txt: line 1 is not UTF-8: it has the byte 0xf6"),
        ("a.txt", "They left.".encode("utf-16"), "UTF-16"),
        ("a", b"\x89PNG\r\n\x1a\n\x00", "a: line 1 is not UTF-8"),
        ("a.dat", b"abc\x00\x01", "a binary file"),
        ("a.jsonl", b'{"text": "They left."}', "is jsonl"),
        ("a.txt", b"", "no words"),
        ("a.conllx", b"They left.", "parse it first"),
    ],
)
def test_an_input_that_exists_is_refused_by_name(model, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    result = show(model, tmp_path / name)
    assert result.exit_code == 1 and message in result.stderr, result.output


def test_missing_files_are_not_text(model, tmp_path):
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("new.txt", "a.conllx", "a.jsonl", str(tmp_path / "dangling")):
        result = show(model, name)
        assert result.exit_code == 1 and "no such file" in result.stderr, result.output
    assert show(model, "She read a.txt").exit_code == 0


def test_text_that_is_not_utf_8(model):
    for arguments, options, message in (
        ((model, "dog \udcff"), {}, "INPUT is not UTF-8: 'dog \ufffd'"),
        ((model, "-"), {"input": "Él comió.\nGröße".encode("latin-1")}, "<stdin>: line 1 is not UTF-8"),
        ((model, "-"), {"input": GOLD}, "Standard input is CoNLL-U"),
    ):
        result = show(*arguments, **options)
        assert result.exit_code == 1 and message in result.stderr, result.output


@pytest.mark.parametrize("name", ["x.jpg", "x", "x.svg.gz", "x.conllu", "html"])
def test_other_endings_are_refused(model, tmp_path, name):
    result = show(model, "They left.", "--out", tmp_path / name)
    assert result.exit_code == 2 and "Let it end in .html or .htm or .svg" in " ".join(result.stderr.split()), (
        result.output
    )
    assert not (tmp_path / name).exists()


def test_names_are_printed_safely(model, tmp_path):
    (tmp_path / "gold.conllu").write_text(GOLD.replace("= one", "= \u202eone"), "utf8")
    result = show(model, tmp_path / "gold.conllu")
    assert "\u202e" not in result.stdout and "\\u202eone" in result.stdout
    assert io.StringIO(result.stdout).readline().startswith("\\u202eone: They")
