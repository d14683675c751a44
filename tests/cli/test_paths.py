"""No command changes what it reads, whatever its output is called: every pair of paths of every command."""

import inspect
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from conllu_samples import PLAIN
from corpora_helpers import make_model, texts
from typer.models import ArgumentInfo
from typer.testing import CliRunner

from spacy_mindroot import write_score_file
from spacy_mindroot.cli import COMMANDS, function_of, mindroot
from spacy_mindroot.cli.paths import (
    PathsError,
    check_new_folder,
    check_paths,
    model_folder,
    refuse_links_out,
    rules_file,
)
from spacy_mindroot.tools.building.config import make_config

# What each argument and option takes that is a path, by its name. The test has an example of each. One that is not
# here yet fails `test_all_paths_are_known`; one that is, is tested with all commands that have it.
READS = {
    "model": "model",
    "models": ["model", "model2"],
    "prior": "model",
    "corpus": "tb",
    "gold": "tb",
    "source": "tb",
    "treebank": "tb",
    "inputs": "tb",
    "scores": "scores.npz",
    "conllu": "tb/dev.conllu",
    "labels": "tb/dev.conllu",
    "text": "tb/dev.conllu",
    "files": ["tb/dev.conllu", "tb/dev.conllu"],
    "rules": "rules.json",
    "candidates": "rules.json",
    "config": "config.cfg",
    "train": "tb/train.conllu",
    "related": "related",
    "raw_text": "tb/train.conllu",
    "vectors": "model",
    "lexicons": "words.tsv",
    "code": "code.py",
    "second": "tb/dev.conllu",
}
WRITES = {"out", "output", "report", "json", "metrics", "page"}
NEEDED = {
    "add": {"into": "model2"},
    "audit": {"corpus": "tb"},
    "calibrate": {"output": "calibrated"},
    "rank": {"corpus": "tb"},
    "repair": {"out": "fixed"},
    "score": {"out": "new.npz"},
    "build": {"out": "new"},
}  # beyond what the declaration says
# In place by intention; and options that only name what is read later.
APART = {
    (command, name, other)
    for command, other in (("repair", "source"), ("init-config", "vectors"))
    for name in ("out", "output")
}

PARAMETERS = {name: dict(inspect.signature(function_of(name)).parameters) for name in COMMANDS}


def is_path(parameter):
    return "Path" in str(parameter.annotation) or parameter.default.metavar in ("MODEL", "IN", "INPUT", "RULES")


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
    (folder / "words.tsv").write_text("They\tthey\tPRON\n")
    (folder / "code.py").write_text("import spacy")
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
    needed = NEEDED.get(command, {})
    given = {name: value for name, value in needed.items() if name != "out" or "output" not in given} | given
    for name, parameter in PARAMETERS[command].items():
        value = given.get(name, READS.get(name, "new") if parameter.default.default is ... else None)
        for each in [value] if isinstance(value, str) else value or ():
            found += [each] if isinstance(parameter.default, ArgumentInfo) else [parameter.default.param_decls[0], each]
    return found


def name_for(output):
    """Return a name that an output may have."""
    for name in ("x.npz", "x.conllu", "x.jsonl", "x.json", "x.html", "x.cfg"):
        with suppress(typer.BadParameter):
            return (output.callback or Path)(Path(name)).name
    return "x"


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

    for work in ("building.build.build", "correction.suspicion.cross_validated"):  # training: after all checks
        monkeypatch.setattr(f"spacy_mindroot.tools.{work}", never)
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

    monkeypatch.setattr("spacy_mindroot.tools.correction.suspicion.cross_validated", never)
    shutil.copytree(tree, tmp_path / "tree")
    monkeypatch.chdir(tmp_path / "tree")
    place = f"no/{name_for(PARAMETERS[command][written].default)}"
    result = CliRunner().invoke(mindroot, [command, *arguments(command, {written: place})])
    if result.exit_code:
        assert f"is {place}, but the folder no does not exist." in result.output
        assert isinstance(result.exception, SystemExit)
    else:
        assert os.listdir("no") == [os.path.basename(place)]


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """A corpus with links out of it, links to it, and a file that it has nothing to do with."""
    monkeypatch.chdir(tmp_path)
    for name in ("corpus/sub", "real", "other"):
        Path(name).mkdir(parents=True)
    for name in ("corpus/a", "corpus/sub/b", "real/c", "free"):
        Path(name).touch()
    os.symlink("../real/c", "corpus/soft")
    os.symlink("../real", "corpus/folder")
    os.symlink("..", "corpus/sub/loop")
    os.symlink("corpus", "link")
    os.symlink("loop", "loop")
    os.link("corpus/sub/b", "hard")


@pytest.mark.parametrize(
    ("read", "written", "says"),
    [
        ("one.conllu", "one.conllu", "CORPUS and --out are the same file"),
        ("one.conllu", "other/../one.conllu", "CORPUS and --out are the same file"),
        ("link", "corpus", "CORPUS and --out are the same folder"),
        ("corpus/sub/b", "hard", "CORPUS and --out are the same file"),
        ("corpus", "corpus/a", "--out is corpus/a, in CORPUS, a folder that this command reads"),
        ("corpus", "corpus/new", "in CORPUS"),
        ("corpus", "link/sub/new/new", "in CORPUS"),
        ("link", "corpus/new", "in CORPUS"),
        (".", "free", "in CORPUS"),
        ("corpus", "hard", "the same file as corpus/sub/b, which is read"),
        ("corpus", "real/c", "the same file as corpus/folder/c, which is read"),
        ("corpus/a", "corpus", "CORPUS is corpus/a, in --out, a folder to write"),
        ("corpus", ".", "CORPUS is corpus, in --out, a folder to write"),
        ("new", "new/new", "in CORPUS"),  # a folder that another command makes meanwhile
        ("free", "nowhere/new", "--out is nowhere/new, but the folder nowhere does not exist"),
        ("corpus", "free/new", "--out is free/new, but free is not a folder"),
        ("corpus", "free", None),
        ("corpus", "real/new", None),
        ("corpus", "corpus/folder/new", None),  # which leads out of it
        ("-", "-", None),
        (None, "new", None),
        ("corpus", None, None),
        ("/dev/null", "/dev/null", None),
        ("one.conllu", "loop", None),  # opening it says what is wrong
    ],
)
def test_what_is_read_is_not_written(read, written, says, linked):
    for reads, writes in ((read, written), (["/dev/null", read], [written]), ([read], {written: 0})):
        if says is None:
            check_paths({"CORPUS": reads}, {"--out": writes})
            continue
        with pytest.raises(PathsError) as caught:
            check_paths({"CORPUS": reads}, {"--out": writes})
        assert says in str(caught.value)


def test_nothing_is_written_twice(linked):
    for paths, says in (
        (("new", "./new"), "OUT and --report are the same file"),
        (("link/new", "corpus/new"), "OUT and --report are the same file"),
        (("hard", "corpus/sub/b"), "OUT and --report are the same file"),
        (("-", "-"), "OUT and --report are both standard output"),
        (([Path("new"), Path("other/../new")], None), "new would be written twice"),
    ):
        with pytest.raises(PathsError, match=says):
            check_paths({}, {"OUT": paths[0], "--report": paths[1]})
    check_paths({}, {"OUT": "new", "--report": "new2"})
    check_paths({}, {"OUT": "/dev/null", "--report": "/dev/null"})
    check_paths({}, {"OUT": "nowhere/new"}, made="OUT")
    with pytest.raises(PathsError, match="OUT is free/new/new, but free is not a folder"):
        check_paths({}, {"OUT": "free/new/new"}, made="OUT")


def test_what_is_read_for_a_model_and_for_rules(tmp_path, monkeypatch):
    package = tmp_path / "xx_mine"
    package.mkdir()
    (package / "__init__.py").touch()
    (tmp_path / "xx_mine-1.0.dist-info").mkdir()
    (tmp_path / "xx_mine-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: xx_mine\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert model_folder("xx_mine") == package and model_folder("folder/model") == Path("folder/model")
    assert rules_file("folder/rules.json") == "folder/rules.json" and rules_file("ud") is rules_file(None) is None


def test_other_folders_are_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / ".hidden").touch()
    with pytest.raises(PathsError, match="--output is .*full, which is not empty"):
        check_new_folder(tmp_path / "full", "--output")
    with pytest.raises(PathsError, match="which is a file"):
        check_new_folder(tmp_path / "full" / ".hidden", "--output")
    check_new_folder(tmp_path / "new", "--output")


@pytest.mark.parametrize("name", ["file", "sub/file", "sub/new/file"])
def test_no_link_is_followed_out_of_a_folder(tmp_path, name):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    out = tmp_path / "link"
    out.symlink_to("out")  # as it is named
    refuse_links_out(out, [out / name])
    (out / "inside").mkdir()
    first = out / name.partition("/")[0]
    first.symlink_to("inside/x" if first.name == "file" else "inside")
    refuse_links_out(out, [out / name])
    first.unlink()
    first.symlink_to("../elsewhere/x" if first.name == "file" else "../elsewhere")
    with pytest.raises(PathsError, match=f"{name} leads out of its folder"):
        refuse_links_out(out, [out / name])
