"""`spacy mindroot average`, as a person runs it."""

import pytest
import spacy
from spacy.cli import app
from typer.testing import CliRunner

from scorer_helpers import gold_docs, make_nlp, parse, trees
from spacy_mindroot.arc_scorer.average import average_pipelines


def run(*args):
    return CliRunner().invoke(app, ["mindroot", "average", *map(str, args)])


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("with spaces in it") / "the models"
    folder.mkdir()
    for seed in (1, 2):
        make_nlp(gold_docs(6), steps=4, seed=seed).to_disk(folder / str(seed))
    return [folder / "1", folder / "2"]


def test_the_pipelines_are_averaged(models, tmp_path):
    result = run(*models, "--output", tmp_path / "new" / "out")
    assert result.exit_code == 0, result.output
    assert f"spacy mindroot calibrate {tmp_path / 'new' / 'out'} DEV --in-place" in result.output
    nlp = spacy.load(tmp_path / "new" / "out")
    assert nlp.config["components"]["arc_scorer"]["model"]["@architectures"] == "spacy-mindroot.Average.v1"
    expected = average_pipelines([spacy.load(model) for model in models])
    assert trees(parse(nlp, gold_docs())) == trees(parse(expected, gold_docs()))


def test_bad_input_is_a_message_and_nothing_is_written(models, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for args, says in [
        ((models[0], "--output", tmp_path / "out"), "two pipelines or more"),
        ((models[0], tmp_path / "nowhere", "--output", tmp_path / "out"), "nowhere is not a pipeline"),
        ((*models, "--output", tmp_path / "full"), "is not empty"),
    ]:
        result = run(*args)
        assert result.exit_code == 1 and says in " ".join(result.stderr.split()), result.output
    assert not (tmp_path / "out").exists() and [path.name for path in (tmp_path / "full").iterdir()] == ["file"]
