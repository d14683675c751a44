"""`spacy mindroot add`, as a person runs it."""

import pytest
import spacy
from spacy.cli import app
from typer.testing import CliRunner

from scorer_helpers import gold_docs, make_examples, make_nlp, parse, trees


def run(*args):
    return CliRunner().invoke(app, ["mindroot", "add", *map(str, args)])


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("with spaces in it")
    nlp = make_nlp(gold_docs(6), steps=4)
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(folder / "ours")
    nlp = spacy.blank("en")
    nlp.add_pipe("senter")
    nlp.add_pipe("parser")
    nlp.add_pipe("token_splitter", name="splitter")
    nlp.initialize(lambda: make_examples(nlp, gold_docs(2)))
    nlp.to_disk(folder / "theirs")
    return folder


def test_the_parser_is_added(places, tmp_path):
    result = run(places / "ours", places / "theirs", "--output", tmp_path / "new" / "out")
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "has the components sentencizer, arc_scorer, mind_root, splitter." in output
    assert "sentencizer, arc_scorer, mind_root. They replace senter, parser." in output and "may" not in output
    nlp = spacy.load(tmp_path / "new" / "out")
    assert trees(parse(nlp, gold_docs())) == trees(parse(spacy.load(places / "ours"), gold_docs()))


def test_what_differs_is_said(places, tmp_path):
    other = spacy.load(places / "theirs")
    other.tokenizer.add_special_case("e.g.", [{"ORTH": "e."}, {"ORTH": "g."}])
    other.to_disk(tmp_path / "theirs")
    result = run(places / "ours", tmp_path / "theirs", "--no-senter", "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "Trees may differ from" in result.output and "--take-tokenizer" in result.output
    assert spacy.load(tmp_path / "out").pipe_names == ["senter", "arc_scorer", "mind_root", "splitter"]


def test_bad_input_is_a_message_and_nothing_is_written(places, tmp_path):
    for args, says in [
        ((places / "theirs", places / "ours", "--output", tmp_path / "out"), "has no arc_scorer"),
        ((places / "ours", tmp_path / "nowhere", "--output", tmp_path / "out"), "nowhere is not a pipeline"),
        ((places / "ours", places / "theirs", "--output", places), "is not empty"),
    ]:
        result = run(*args)
        assert result.exit_code == 1 and says in " ".join(result.stderr.split()), result.output
    assert not (tmp_path / "out").exists()
