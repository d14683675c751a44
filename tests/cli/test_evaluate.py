"""`spacy mindroot evaluate`, as a person runs it."""

import re
import sys

import pytest
import spacy
import srsly
from spacy.cli import app
from typer.testing import CliRunner

from scorer_helpers import gold_docs, make_nlp
from spacy_mindroot.conllu import read_conllu

pytest.importorskip("udtools", reason="the command needs the extra `evaluate`")


def run(*args):
    return CliRunner().invoke(app, ["mindroot", "evaluate", *map(str, args)])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A parser that has learnt next to nothing. It splits text at punctuation."""
    folder = tmp_path_factory.mktemp("models") / "model"
    nlp = make_nlp(gold_docs(8, per_doc=1), steps=2)
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def gold(checkout):
    return checkout / "assets" / "treebank" / "test.conllu"


def rows(output):
    """The rows of both tables, by their names."""
    found = (re.split(r" {2,}", line.strip()) for line in output.splitlines())
    return {name: values for name, *values in found if values}


def test_gold_tokens(model, gold, tmp_path):
    result = run(model, gold, "--json", tmp_path / "found.json", "--output", tmp_path / "out.conllu")
    assert result.exit_code == 0, result.output
    table = rows(result.stdout)
    assert table["Words"] == table["Sentences"] == ["100.00"] * 3 and table["UAS"][2] != "100.00"
    assert table["sentences: gold, output"] == ["18, 18"] and table["single-rooted trees"] == ["100.00"]
    assert {"UPOS", "UFeats", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX"} <= table.keys()
    assert "XPOS" not in table  # the treebank has none
    found = srsly.read_json(tmp_path / "found.json")
    assert found["tokens"] == "gold" and found["versions"].keys() >= {"spacy-mindroot", "udtools"}
    assert f"{100 * found['official']['LAS']['f1']:.2f}" == table["LAS"][2]
    assert found["measures"]["calibration"]["words"] == 226
    kept = (tmp_path / "out.conllu").read_text("utf8")
    assert kept.count("HeadProb=") == 226 and "# sent_id = mindroot-test-1\n" in kept


def test_the_output_evaluates_to_the_same(model, gold, tmp_path):
    for options in ([], ["--raw"]):
        first = run(model, gold, "--output", tmp_path / "out.conllu", *options)
        again = run(tmp_path / "out.conllu", gold)
        assert first.exit_code == again.exit_code == 0, again.output
        assert first.stdout.startswith(again.stdout.rstrip("\n"))
        assert ("gold tokens and sentences" in first.stdout) == bool(options)


def test_raw_text(model, gold, tmp_path):
    result = run(model, gold, "--raw", "--json", tmp_path / "found.json")
    assert result.exit_code == 0, result.output
    found = srsly.read_json(tmp_path / "found.json")
    assert found["tokens"] == "raw text"
    assert 0.5 < found["official"]["Sentences"]["f1"] < 1
    assert found["official"]["Words"]["f1"] > 0.9
    assert found["measures"]["single_root"] == 1
    ((line,),) = [[line.split() for line in result.stdout.splitlines() if line.startswith("LAS ")][-1:]]
    raw, gold_words = (100 * each["official"]["LAS"]["f1"] for each in (found, found["gold"]))
    assert line[1:] == [f"{raw:.2f}", f"{gold_words:.2f}", f"{gold_words - raw:.2f}"]
    assert found["gold"]["official"]["Words"]["f1"] == 1


def test_spacys_own_parser(gold, tmp_path):
    """Several roots in a sentence are scored as they are, and counted."""
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("parser")
    for label in ("ROOT", "dep"):
        parser.add_label(label)
    nlp.initialize()
    nlp.to_disk(tmp_path / "model")
    for options in ([], ["--raw"]):
        result = run(tmp_path / "model", gold, *options)
        assert result.exit_code == 0, result.output
        assert "calibration" not in result.stdout and "single-rooted trees" in result.stdout


def test_tokens_of_multiword_tokens(model, tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tX\tx\t_\t2\tcase\t_\t_\n2\tle\tle\tX\tx\t_\t0\troot\t_\t_\n\n",
        "utf8",
    )
    words, surface = (rows(run(model, path, option).stdout) for option in ("--words", "--surface-tokens"))
    assert (words["Words"][2], words["words: gold, output"]) == ("100.00", ["2, 2"])
    assert (surface["Words"][2], surface["words: gold, output"]) == ("0.00", ["2, 1"])
    assert surface["Tokens"][2] == "100.00"


def test_errors_are_messages(model, gold, tmp_path):
    (tmp_path / "empty.conllu").write_text("# nothing\n\n")
    (tmp_path / "other.conllu").write_text("1\tx\tx\tX\t_\t_\t0\troot\t_\t_\n\n")
    spacy.blank("en").to_disk(tmp_path / "blank")
    for args, says in [
        ((model, tmp_path / "empty.conllu"), "There are no sentences"),
        ((tmp_path / "other.conllu", gold), "concatenation of tokens"),
        ((tmp_path / "nowhere", gold), "is not a pipeline that spaCy can load"),
        ((tmp_path / "blank", gold), "Evaluate a pipeline with a parser"),
        ((model, gold, "--output", gold), "GOLD and --output are the same file"),
    ]:
        result = run(*args)
        assert result.exit_code == 1 and says in result.stderr, result.output
    for args in [(gold, gold, "--raw"), (gold, gold, "--words"), (model, gold, "--raw", "--words")]:
        assert run(*args).exit_code == 2
    (tmp_path / "found.json").write_text("precious")
    assert run(tmp_path / "blank", gold, "--json", tmp_path / "found.json").exit_code == 1
    assert (tmp_path / "found.json").read_text() == "precious"


def test_a_missing_package_is_known_before_parsing(model, gold, monkeypatch):
    monkeypatch.setitem(sys.modules, "udtools", None)
    monkeypatch.setattr("spacy_mindroot.tools.gold.load_pipeline", lambda name: pytest.fail("it has been loaded"))
    result = run(model, gold)
    assert result.exit_code == 1 and "pip install 'spacy-mindroot[evaluate]'" in result.stderr


def test_help_says_what_it_needs():
    result = run("--help")
    assert result.exit_code == 0 and "Needs the extra `evaluate`" in result.stdout


@pytest.mark.parametrize("end", ["", "\n\n"])
def test_output_in_conllu_plus(end, tmp_path):
    """The header may be a block of its own. What is kept has it, too, and ends in an empty line."""
    path = tmp_path / "a.conllup"
    path.write_text("# global.columns = ID FORM HEAD DEPREL\n\n1\ta\t0\troot\n\n1\tb\t0\troot" + end)
    result = run(path, path, "--output", tmp_path / "out.conllup")
    assert result.exit_code == 0, result.output
    assert [sentence.words for sentence in read_conllu(tmp_path / "out.conllup")] == [["a"], ["b"]]
    assert (tmp_path / "out.conllup").read_text().endswith("\troot\n\n")
