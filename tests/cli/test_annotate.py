"""`spacy mindroot annotate`: what it reads, prints and refuses. tests/web has the server and the page."""

import os
from pathlib import Path

import pytest
from annotation_helpers import BLANK, DONE, GOLD, Running, make_session, rows
from corpora_helpers import make_model
from spacy.cli import app
from typer.testing import CliRunner

guard = pytest.importorskip("spacy_mindroot.web.guard", reason="the command needs the extra `annotate`")


@pytest.fixture
def served(monkeypatch, tmp_path):
    """What the command would serve. The server answers, and ends."""
    found = []

    def run(app, listening, started):
        started()
        listening.close()
        found.append(app)

    monkeypatch.setattr(guard, "run", run)
    monkeypatch.setattr("webbrowser.open", lambda address: found.append(address))
    monkeypatch.chdir(tmp_path)
    return found


def annotate(*arguments):
    return CliRunner().invoke(app, ["mindroot", "annotate", *map(str, arguments)])


def write(name, text):
    Path(name).write_text(text, "utf8")


def test_it_prints_its_address_and_opens_the_page(served):
    write("tb.conllu", rows(GOLD[0]) + BLANK)
    result = annotate("tb.conllu", "--port", "0")
    assert result.exit_code == 0, result.output
    address = result.output.split()[3]
    assert address.startswith("http://127.0.0.1:") and "/#" in address
    assert served[0] == address
    assert "1 of 4 sentences in tb.conllu are accepted" in result.output
    assert sorted(os.listdir("tb.conllu.annotation")) == ["journal.jsonl", "token"]
    again = annotate("tb.conllu", "--port", "0", "--no-browser")
    assert again.output.split()[3].partition("#")[2] == address.partition("#")[2]
    assert len(served) == 3, "the page was opened once"


def test_a_missing_file_is_begun(served):
    result = annotate("new.conllu", "--no-browser")
    assert result.exit_code == 0 and "0 of 0 sentences" in result.output
    assert not os.path.exists("new.conllu"), "it has no sentences yet"


def test_two_annotators(served):
    write("a.conllu", DONE)
    write("b.conllu", DONE.replace("advmod", "obl"))
    result = annotate("a.conllu", "--second", "b.conllu", "--out", "c.conllu", "--no-browser")
    assert result.exit_code == 0, result.output
    assert "Heads (UAS)" in result.output and "77.8%" in result.output
    assert "1 of 3 sentences in c.conllu are accepted" in result.output
    assert Path("c.conllu").read_text("utf8") == DONE
    session = make_session(Path(), name="c.conllu")
    session.act(0, {"do": "cell", "word": 3, "column": "FORM", "value": "late"})
    session.act(0, {"do": "accept"})
    session.journal.close()
    result = annotate("a.conllu", "--second", "b.conllu", "--out", "c.conllu", "--no-browser")
    assert result.exit_code == 0 and "2 of 3 sentences in c.conllu" in result.output, result.output
    with open("c.conllu.annotation/journal.jsonl", "a") as journal:
        journal.write("{}\n")
    write("c.conllu", Path("c.conllu").read_text("utf8").replace("late", "early").replace("advmod", "x", 1))
    result = annotate("a.conllu", "--second", "b.conllu", "--out", "c.conllu", "--no-browser")
    assert "can't be read and don't count: 5" in " ".join(result.output.split())
    write("c.conllu", DONE.replace("early", "latest"))
    result = annotate("a.conllu", "--second", "b.conllu", "--out", "c.conllu", "--no-browser")
    assert result.exit_code == 1 and "c.conllu has other words than a.conllu" in result.output


def test_another_file_takes_what_is_accepted(served):
    write("a.conllu", BLANK)
    write("c.conllu", DONE)
    result = annotate("a.conllu", "--out", "c.conllu", "--no-browser")
    assert "3 of 3 sentences in c.conllu" in result.output, "the work goes on in it"


@pytest.mark.parametrize("rules", ["ud", "learnt", "rules.json"])
def test_rules(rules, served):
    write("tb.conllu", DONE * 30)
    write("rules.json", '{"unique": ["obj"]}')
    assert annotate("tb.conllu", "--rules", rules, "--no-browser").exit_code == 0


def test_a_parser_orders_the_sentences(served, tmp_path):
    model = make_model(tmp_path / "model", senter=False)
    write("tb.conllu", BLANK)
    result = annotate("tb.conllu", "--model", model, "--review", "--provenance", "--no-browser")
    assert result.exit_code == 0, result.output
    assert os.path.exists("tb.conllu.annotation/job.json")
    assert annotate("tb.conllu", "--model", model, "--order", "file", "--no-browser").exit_code == 0


def test_others_may_be_let_in_but_are_warned_of(served):
    write("tb.conllu", BLANK)
    result = annotate("tb.conllu", "--host", "0.0.0.0", "--port", "0", "--no-browser")
    assert "Whoever reaches 0.0.0.0" in result.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["."], "is not a file"),
        (["tb.conllu", "--second", "bad.conllu"], "Name the result with --out"),
        (["none.conllu", "--out", "x.conllu"], "none.conllu: there is no such file"),
        (["tb.conllu", "--out", "tb.conllu"], "the same file"),
        (["bad.conllu"], "bad.conllu:1: line 1 has 1 column"),
        (["tb.conllu", "--model", "none"], "none is not a pipeline"),
        (["tb.conllu", "--rules", "none"], "--rules"),
        (["tb.conllu", "--second", "bad.conllu", "--out", "x.conllu"], "bad.conllu:1"),
    ],
)
def test_what_is_refused_is_explained(arguments, says, served):
    write("tb.conllu", BLANK)
    write("bad.conllu", "no CoNLL-U\n")
    result = annotate(*arguments, "--no-browser")
    assert result.exit_code == 1
    assert says in " ".join(result.output.split())
    assert not served and Path("tb.conllu").read_text("utf8") == BLANK


def test_a_port_in_use(served):
    write("tb.conllu", BLANK)
    with guard.listen("127.0.0.1", 0) as one:
        port = one.getsockname()[1]
        result = annotate("tb.conllu", "--port", port, "--no-browser")
    assert result.exit_code == 1 and f"Port {port}" in result.output


def test_without_the_extra_the_remedy_is_named(served, monkeypatch):
    def missing(name):
        raise ImportError("No module named 'starlette'")

    monkeypatch.setattr("spacy_mindroot.cli.serve.import_module", missing)
    write("tb.conllu", BLANK)
    result = annotate("tb.conllu")
    assert result.exit_code == 1 and "pip install 'spacy-mindroot[annotate]'" in " ".join(result.output.split())
    assert not os.path.exists("tb.conllu.annotation")


def test_a_name_that_is_not_utf_8(served, tmp_path):
    name = os.fsdecode(b"n\xff.conllu")
    try:
        (tmp_path / name).write_text(rows(GOLD[0]) + BLANK, "utf8")
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    result = annotate(name, "--port", "0", "--no-browser")
    assert result.exit_code == 0 and "1 of 4 sentences in n\ufffd.conllu" in result.output
    with Running(served[0]) as running:
        token = (tmp_path / f"{name}.annotation" / "token").read_text("utf8")
        status, text = running.ask("api/start", headers={"Authorization": f"Bearer {token}"})
    assert status == 200 and "n\ufffd.conllu" in text
