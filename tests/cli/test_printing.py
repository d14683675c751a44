"""--json and --quiet, in every command that has them."""

import inspect
import json
import sys

import numpy as np
import pytest
from conllu_samples import PLAIN
from corpora_helpers import make_model
from typer.testing import CliRunner

from spacy_mindroot import write_score_file
from spacy_mindroot.cli import COMMANDS, function_of, mindroot
from spacy_mindroot.cli.printing import as_asked, asked, found, say

# The arguments of each command, and a key of its JSON with its value (None: any).
EXAMPLES = {
    "decode": (["scores.npz"], "sentences", 1),
    "audit": (["scores.npz"], "multi_rooted", None),
    "evaluate": (["model", "a.conllu"], "official", None),
    "calibrate": (["model", "a.conllu", "--output", "calibrated"], "arc_temperature", None),
    "repair": (["a.conllu", "b.conllu"], "malformed_sentences", 0),
    "parse": (["model", "a.conllu", "--output", "parsed"], "rejected", 0),
    "vote": (["a.conllu", "a.conllu", "--output", "c.conllu"], "changed_words", 0),
    "rank": (["model", "a.conllu"], "tokens_to_read", None),
    "suspect": (["a.conllu", "--steps", "1", "--folds", "2"], "annotated_arcs", None),
    "rules": (["a.conllu"], "rules", None),
}
WITHOUT_TABLES = {
    "score": ["model", "a.conllu", "s.npz"],
    "init-config": ["c.cfg"],
    "show": ["model", "They win .", "--output", "p.html"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("printing")
    make_model(folder / "model")
    (folder / "a.conllu").write_text(PLAIN * 4, "utf8")
    write_score_file(
        folder / "scores.npz", scores=[[[0, 0, 2], [1, 0, 0]]], words=[["They", "win"]], gold_heads=[[2, 0]]
    )
    return folder


def invoke(files, folder, command, arguments, *options):
    named = [str(files / each) if (files / each).exists() else each for each in arguments]
    for k, each in enumerate(named):
        if each.endswith((".conllu", ".npz", ".cfg", ".html")) or each in ("parsed", "calibrated"):
            named[k] = str(folder / each) if not each.startswith("/") else each
    return CliRunner().invoke(mindroot, [command, *named, *map(str, options)])


def test_every_command_with_tables_is_here():
    having = {name for name in COMMANDS if "json" in inspect.signature(function_of(name)).parameters}
    assert having == EXAMPLES.keys() | {"annotate", "build"}
    assert all("quiet" in inspect.signature(function_of(name)).parameters for name in COMMANDS)


@pytest.mark.parametrize("command", EXAMPLES)
def test_json_has_what_the_tables_show(files, tmp_path, command):
    arguments, key, value = EXAMPLES[command]
    result = invoke(files, tmp_path, command, arguments, "--json", tmp_path / "t.json", "--quiet")
    printed = [line for line in result.output.splitlines() if not line.startswith("Warning: ")]
    assert result.exit_code == 0 and not printed, result.output
    figures = json.loads((tmp_path / "t.json").read_text("utf8"))
    assert figures[key] is not None and (value is None or figures[key] == value)
    assert all(name == name.lower().replace(" ", "_") for name in figures if command not in ("audit",))


@pytest.mark.parametrize("command", ["decode", "repair", "rank", "rules"])
def test_json_on_standard_output_has_it_for_itself(files, tmp_path, command):
    arguments, key, _ = EXAMPLES[command]
    result = invoke(files, tmp_path, command, arguments, "--json", "-")
    assert result.exit_code == 0 and key in json.loads(result.stdout) and len(result.stderr) > 50
    if command == "rules":
        result = invoke(files, tmp_path, command, arguments, "--json", "-", "--output", "-")
        assert result.exit_code == 1 and "--out and --json are both standard output" in result.output


@pytest.mark.parametrize("command", WITHOUT_TABLES)
def test_nothing_is_said_quietly(files, tmp_path, command):
    assert len(invoke(files, tmp_path, command, WITHOUT_TABLES[command]).output) > 10
    for path in tmp_path.iterdir():
        path.unlink()
    result = invoke(files, tmp_path, command, WITHOUT_TABLES[command], "-q")
    assert (result.exit_code, result.output) == (0, "") and list(tmp_path.iterdir())


def test_errors_and_faults_are_said_all_the_same(files, tmp_path):
    (tmp_path / "bad.conllu").write_text("1\tHi\t_\tX\t_\t_\t1\tdep\t_\t_\n\n")
    result = CliRunner().invoke(mindroot, ["repair", str(tmp_path / "bad.conllu"), "--check", "-q", "--json", "-"])
    assert result.exit_code == 1 and json.loads(result.stdout)["malformed_sentences"] > 0
    result = CliRunner().invoke(mindroot, ["rules", str(tmp_path / "none.conllu"), "--quiet"])
    assert result.exit_code == 1 and result.output.startswith("Error: ")


def test_what_is_asked_ends_with_the_command(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    with pytest.raises(ZeroDivisionError), as_asked(True, None, ["-"]):
        say("nothing")
        assert not sys.stderr.isatty() and asked.quiet and asked.to_stderr
        1 / 0  # noqa: B018
    assert sys.stderr.isatty() and not asked.quiet and not asked.to_stderr
    say("a")
    found({"ignored": 1})
    with as_asked(False, tmp_path / "t.json", []):
        found({"a": [np.float32(0.5), np.inf, np.int64(3)], "b": tmp_path.parent / "漢字"})
    assert json.loads((tmp_path / "t.json").read_text("utf8")) == {"a": [0.5, None, 3], "b": f"{tmp_path.parent}/漢字"}
    with as_asked(False, None, [None, "x"]):
        say("b")
    with as_asked(False, None, [None, "-"]):
        say("c")
    assert capsys.readouterr() == ("a\nb\n", "c\n")
