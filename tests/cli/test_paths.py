"""No command changes what it reads, whatever its output is called: every pair of paths of every command."""

import inspect
import os
import shutil
from pathlib import Path

import pytest
from conllu_samples import PLAIN
from corpora_helpers import make_model, texts
from typer.models import ArgumentInfo
from typer.testing import CliRunner

from spacy_mindroot import write_score_file
from spacy_mindroot.cli import COMMANDS, mindroot
from spacy_mindroot.cli.init_config import make_config

# What each argument and option takes that is a path, by its name. The test has an example of each. One that is not
# here yet fails `test_all_paths_are_known`; one that is, is tested with all commands that have it.
READS = {
    "model": "model",
    "models": ["model", "model2"],
    "corpus": "tb",
    "gold": "tb",
    "source": "tb",
    "treebank": "tb",
    "inputs": "tb",
    "scores": "scores.npz",
    "text": "tb/dev.conllu",
    "files": ["tb/dev.conllu", "tb/dev.conllu"],
    "rules": "rules.json",
    "candidates": "rules.json",
    "config": "config.cfg",
    "train": "tb/train.conllu",
    "related": "related",
    "vectors": "model",
    "code": "own.py",
}
WRITES = {"out", "output", "report", "json", "metrics"}
NEEDED = {"audit": {"corpus": "tb"}, "repair": {"out": "fixed"}}  # beyond what the declaration says
# In place by intention; and options that only name what is read later.
APART = {("repair", "out", "source"), ("calibrate", "output", "model"), ("init-config", "out", "vectors")}

PARAMETERS = {name: inspect.signature(command).parameters for name, command in COMMANDS.items()}


def is_path(parameter):
    return "Path" in parameter.annotation or parameter.default.metavar in ("MODEL", "IN", "INPUT", "RULES")


PAIRS = [
    (command, one, other)
    for command, parameters in PARAMETERS.items()
    for one in parameters
    for other in parameters
    if one in WRITES and (other in READS and is_path(parameters[other]) or (other in WRITES and one < other))
]


def test_all_paths_are_known():
    for command, parameters in PARAMETERS.items():
        for name, parameter in parameters.items():
            if is_path(parameter):
                assert (name in READS) != (name in WRITES), f"{command}: is {name} read, or written? Say it above."


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A folder with an example of everything that a command reads."""
    folder = tmp_path_factory.mktemp("tree")
    make_model(folder / "model")
    shutil.copytree(folder / "model", folder / "model2")
    for name in ("tb", "related"):
        (folder / name).mkdir()
        for part in ("train", "dev", "test"):
            (folder / name / f"{part}.conllu").write_text(PLAIN * 3, "utf8")
        (folder / name / "LICENSE.txt").write_text("free")
    (folder / "tb" / "a.txt").write_text("\n".join(texts(2)))
    write_score_file(folder / "scores.npz", scores=[[[0, 0, 2], [1, 0, 0]]], words=[["They", "win"]])
    (folder / "rules.json").write_text('{"unique": ["nsubj"]}')
    (folder / "own.py").touch()
    (folder / "config.cfg").write_text(make_config("xx", "efficiency", [], None))
    return folder


def state(folder):
    return {
        path: os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def arguments(command, given):
    """Return the arguments of a command: those that it needs, and those that are given."""
    found = ["--steps", "1", "--folds", "2"] if command == "suspect" else []
    given = NEEDED.get(command, {}) | given
    for name, parameter in PARAMETERS[command].items():
        value = given.get(name, READS.get(name, "new") if parameter.default.default is ... else None)
        for each in [value] if isinstance(value, str) else value or ():
            found += [each] if isinstance(parameter.default, ArgumentInfo) else [parameter.default.param_decls[0], each]
    return found


def places(read):
    """Yield the paths that are, or are in, or hold, or lead to what is read, with what makes them."""
    yield read, lambda: None
    yield "soft", lambda: os.symlink(read, "soft")
    yield f"{read}/new", lambda: None
    yield os.path.dirname(read) or ".", lambda: None
    if os.path.isdir(read):
        inside = sorted(str(path) for path in Path(read).rglob("*") if path.is_file())
        yield inside[0], lambda: None
        yield "soft/new", lambda: os.symlink(read, "soft")
        for number, path in enumerate(inside):
            if path.endswith((".conllu", "meta.json")):
                yield f"hard{number}", lambda path=path, number=number: os.link(path, f"hard{number}")
        yield "linked", lambda: (os.rename(inside[-1], "linked"), os.symlink(os.path.abspath("linked"), inside[-1]))
    elif os.path.isfile(read):
        yield "hard", lambda: os.link(read, "hard")


@pytest.mark.parametrize(("command", "written", "other"), PAIRS)
def test_no_command_changes_what_it_reads(command, written, other, tree, tmp_path, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError(f"{command} begins its work, with {given}")

    for work in ("build.build", "suspect.cross_validated"):  # training, which all checks come before
        monkeypatch.setattr(f"spacy_mindroot.cli.{work}", never)
    examples = [READS[other]] if other in READS and isinstance(READS[other], str) else READS.get(other, ["new"])[:1]
    for number, (place, make) in enumerate(places(examples[0])):
        folder = tmp_path / str(number)
        shutil.copytree(tree, folder, symlinks=True)
        monkeypatch.chdir(folder)
        make()
        if number == 0 and (command, written, other) in APART:
            continue
        given = {written: place, other: READS.get(other, place)}
        before = state(folder)
        result = CliRunner().invoke(mindroot, [command, *arguments(command, given)])
        after = state(folder)
        assert {path: after.get(path) for path in before} == before, f"{given}: {result.output}"
        assert result.exception is None or isinstance(result.exception, SystemExit), (given, result.exception)
        if other in WRITES and number == 0:
            assert result.exit_code, f"{given} are the same file: {result.output}"


@pytest.mark.parametrize(
    ("command", "written"),
    [(command, name) for command, own in PARAMETERS.items() for name in own if name in WRITES and command != "build"],
)
def test_a_missing_folder_is_made_or_named_before_the_work(command, written, tree, tmp_path, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError(f"{command} begins its work")

    monkeypatch.setattr("spacy_mindroot.cli.suspect.cross_validated", never)
    shutil.copytree(tree, tmp_path / "tree")
    monkeypatch.chdir(tmp_path / "tree")
    name = "x.svg" if command == "show" else "x"
    result = CliRunner().invoke(mindroot, [command, *arguments(command, {written: f"no/{name}"})])
    if result.exit_code:
        assert f"is no/{name}, but the folder no does not exist." in result.output and isinstance(
            result.exception, SystemExit
        )
    else:
        assert os.listdir("no") == [name]
