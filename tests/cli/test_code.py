"""The option --code: pipelines with components from a Python file."""

import inspect
import zipfile

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.language import Language
from typer.testing import CliRunner

from spacy_mindroot.cli import COMMANDS, function_of
from spacy_mindroot.tools.building.wheel import build_wheel

ROWS = "1\tThey\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tleft\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n" * 3
CODE = """
import numpy as np
from spacy.language import Language

@Language.component("NAME")
def component(doc):
    doc._.arc_scores = [np.eye(len(s), len(s) + 1) for s in doc.sents]
    return doc
"""
ARGUMENTS = {
    "audit": "{model} {corpus}",
    "score": "{model} {corpus} {out}.npz",
    "evaluate": "{model} {corpus}",
    "calibrate": "{model} {corpus} --output {out}",
    "parse": "{model} {corpus} --out {out}",
    "show": "{model} {corpus}",
    "rank": "{model} {corpus}",
}


@Language.component("test_code_scores")
def scores(doc):
    doc._.arc_scores = [np.eye(len(s), len(s) + 1) for s in doc.sents]
    return doc


@pytest.fixture
def places(tmp_path, request):
    """A pipeline with a component that only a file knows. Each test has another, since what is known stays known."""
    name = f"code of {request.node.name}"
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer", config={"overwrite": False})
    nlp.add_pipe("test_code_scores")
    nlp.add_pipe("mind_root")
    nlp.to_disk(tmp_path / "model")
    config = tmp_path / "model" / "config.cfg"
    config.write_text(config.read_text("utf8").replace('factory = "test_code_scores"', f'factory = "{name}"'), "utf8")
    (tmp_path / "own code.py").write_text(CODE.replace("NAME", name))
    (tmp_path / "gold.conllu").write_text(ROWS)
    return {"model": tmp_path / "model", "corpus": tmp_path / "gold.conllu", "out": tmp_path / "out"}


def run(command, *arguments):
    return CliRunner().invoke(app, ["mindroot", command, *map(str, arguments)])


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_component_from_a_file(places, command):
    arguments = ARGUMENTS[command].format(**places).split()
    result = run(command, *arguments)
    assert result.exit_code == 1 and "name that with --code" in result.output.replace("\n", " ")
    result = run(command, *arguments, "--code", places["out"].with_name("own code.py"))
    assert result.exit_code == 0, result.output


def test_workers_import_it_as_well(places):
    arguments = [*ARGUMENTS["parse"].format(**places).split(), "--workers", 1]
    result = run("parse", *arguments, "--code", places["out"].with_name("own code.py"))
    assert result.exit_code == 0, result.output
    (parsed,) = places["out"].glob("*.conllu")
    assert parsed.read_text("utf8").count("\t0\troot\t") == 3


def test_every_command_that_loads_a_pipeline_has_it(tmp_path):
    """The others train: they import the file before anything else."""
    having = {name for name in COMMANDS if "code" in inspect.signature(function_of(name)).parameters}
    assert having == ARGUMENTS.keys() | {"add", "average", "suspect", "build", "repair", "annotate", "serve"}
    for command, arguments in (
        ("add", ("none", "none", "--output", tmp_path / "out")),
        ("average", ("none", "none", "--output", tmp_path / "out")),
        ("suspect", (tmp_path, "--report", tmp_path / "out")),
        ("build", (tmp_path, tmp_path / "out")),
        ("repair", (tmp_path / "none", tmp_path / "out")),
        ("annotate", (tmp_path, "--no-browser")),
        ("serve", ("none",)),
    ):
        (tmp_path / "own.py").write_text(f"open({str(tmp_path / command)!r}, 'w').close()")
        assert run(command, *arguments, "--code", tmp_path / "own.py").exit_code == 1
        assert (tmp_path / command).exists()


def test_a_file_with_errors(places, tmp_path):
    (tmp_path / "own.py").write_text("import nothing_of_the_kind")
    result = run("show", places["model"], "They left.", "--code", tmp_path / "own.py")
    assert result.exit_code == 1 and "own.py can't be imported (ModuleNotFoundError)" in result.stderr
    assert run("show", places["model"], "They left.", "--code", tmp_path / "none.py").exit_code == 2


def test_a_wheel_has_the_file(tmp_path):
    nlp = spacy.blank("xx")
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "own.py").write_text("KNOWN = True\n")
    meta = nlp.meta | {"name": "xy", "requirements": []}
    path = build_wheel(tmp_path / "model", tmp_path / "dist", meta, "", code=tmp_path / "own.py")
    assert "xx_xy/own.py" in zipfile.ZipFile(path).namelist()
