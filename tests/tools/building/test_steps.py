"""Steps are not repeated once they are done, and nothing is replaced but what they have made."""

import os

import pytest
import srsly

from spacy_mindroot.errors import CorpusError
from spacy_mindroot.tools.building.steps import OF_STEPS, Steps

PLAN = {"a": ["a.txt"], "b": ["b/model", "b/log.txt"]}
GIVEN = "corpus/x"


def run(folder, made, facts=1, *, fails=(), **of_steps):
    """Take two steps; `made` collects the names of those that are taken. `of_steps` are facts of each."""
    steps = Steps(folder)
    unfinished = steps.begin_unfinished()
    (unfinished / "corpus").mkdir()
    (unfinished / GIVEN).write_text(f"data {facts}")
    remaining = steps.remaining({"data": facts, OF_STEPS: of_steps}, PLAN)
    steps.begin({"data": facts, OF_STEPS: of_steps}, PLAN, GIVEN)

    def make(name, folder):
        made.append(name)
        for file in PLAN[name]:
            path = folder / file / "meta" if "." not in file else folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name} {facts}")
        if name in fails:
            raise KeyboardInterrupt
        return {"of": name}

    results = [steps.run(name, lambda folder, name=name: make(name, folder), PLAN[name]) for name in PLAN]
    assert remaining == [name for name, (_, is_new) in zip(PLAN, results, strict=True) if is_new]
    return results


def content(folder):
    """All files but pipeline.json, which is written again and again."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_text() for name, path in files.items() if name != "pipeline.json"}


ALL = {"a.txt": "a 1", "b/model/meta": "b 1", "b/log.txt": "b 1", GIVEN: "data 1"}


@pytest.fixture
def folder(tmp_path):
    run(tmp_path / "out", [])
    return tmp_path / "out"


def test_what_is_done_is_not_done_again(tmp_path):
    out, made = tmp_path / "new" / "out", []
    assert run(out, made) == [({"of": "a"}, True), ({"of": "b"}, True)]
    assert run(out, made) == [({"of": "a"}, False), ({"of": "b"}, False)]
    assert made == ["a", "b"] and content(out) == ALL
    found = srsly.read_json(out / "pipeline.json")
    assert found.keys() == {"made_by", "facts", "a", "b", "files"}
    assert (found["facts"], found["a"], found["files"].keys()) == ({"data": 1, OF_STEPS: {}}, {"of": "a"}, ALL.keys())


def test_other_facts_begin_again(folder):
    made = []
    (folder / "dist").mkdir()
    run(folder, made, facts=2)
    assert made == ["a", "b"] and content(folder) == {name: text.replace("1", "2") for name, text in ALL.items()}


def test_other_facts_of_a_step_begin_there(tmp_path):
    out, made = tmp_path / "out", []
    run(out, made, b=1)
    (out / "a.txt").write_text("mine")  # it stays
    for facts, expected in (({"b": 1}, ""), ({"b": 2}, "b"), ({"b": 2}, ""), ({}, "b"), ({"b": 2}, "b")):
        made.clear()
        run(out, made, **facts)
        assert "".join(made) == expected and (out / "a.txt").read_text() == "mine"
    with pytest.raises(KeyboardInterrupt):
        run(out, made, b=3, fails="b")
    assert not (out / "b").exists()  # so that it is not taken for what is made of other facts
    (out / "a.txt").write_text("a 1")
    made.clear()
    run(out, made, a=1, b=3)
    assert made == ["a", "b"] and content(out) == ALL
    (out / "b" / "log.txt").write_text("mine")
    with pytest.raises(CorpusError, match=r"b/log\.txt would be replaced"):
        run(out, made, a=1, b=4)


def test_a_missing_file_is_made_again_with_what_follows(folder):
    made = []
    (folder / "b" / "log.txt").unlink()
    run(folder, made)
    assert made == []  # not the most important one
    (folder / "b" / "model" / "meta").unlink()
    run(folder, made)
    assert made == ["b"]
    (folder / "a.txt").unlink()
    run(folder, made)
    assert made == ["b", "a", "b"] and content(folder) == ALL


def test_an_interruption_keeps_what_was_done(tmp_path):
    made = []
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, made, fails="b")
    (unfinished,) = tmp_path.glob("unfinished-*")
    assert (unfinished / "b" / "log.txt").read_text() == "b 1"  # to look at
    assert run(tmp_path, made) == [({"of": "a"}, False), ({"of": "b"}, True)]
    assert made == ["a", "b", "b"] and content(tmp_path) == ALL


def test_what_is_abandoned_before_the_first_step_leaves_nothing(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for out in (tmp_path / "new" / "out", tmp_path / "empty", folder):
        steps = Steps(out)
        steps.begin_unfinished()
        steps.abandon()
    assert [path for path in sorted(tmp_path.rglob("*")) if "unfinished" not in path.name] == before


FOREIGN = ["", "{", "[]", "\xff", "{}", '{"pipeline": ["ner"], "facts": {}, "files": {}}', '{"files": {"notes": ""}}']


@pytest.mark.parametrize("text", [None, *FOREIGN])
def test_a_folder_of_something_else_is_left_alone(tmp_path, text):
    (tmp_path / "training" / "model-best").mkdir(parents=True)
    (tmp_path / "notes").write_text("mine")
    if text is not None:
        (tmp_path / "pipeline.json").write_text(text, "latin1")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(CorpusError, match="not from an earlier build"):
        Steps(tmp_path)
    with pytest.raises(CorpusError, match="is a file"):
        Steps(tmp_path / "notes")
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "notes").read_text() == "mine"


@pytest.mark.parametrize("facts", [1, 2])
def test_other_files_in_the_folder_stay(folder, facts):
    mine = {"notes.txt": "mine", "b/notes.txt": "mine", "corpus/y": "mine", "unfinished-x/notes": "mine"}
    for name, text in mine.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    run(folder, [], facts)
    assert content(folder) == {name: text.replace("1", str(facts)) for name, text in ALL.items()} | mine


@pytest.mark.parametrize("name", [*ALL, "b/model/notes.txt"])
def test_what_was_changed_is_not_replaced(folder, name):
    """But nothing is said as long as nothing would be replaced: a model card may be edited, a model calibrated."""
    (folder / name).write_text("mine")
    before, made = content(folder), []
    if name != GIVEN:
        run(folder, made)
    with pytest.raises(CorpusError, match=f"{name} would be replaced"):
        run(folder, made, facts=2)
    assert made == [] and {k: v for k, v in content(folder).items() if "unfinished" not in k} == before


def test_a_folder_that_can_not_be_written_to_is_known_before(folder, monkeypatch):
    access, made = os.access, []
    monkeypatch.setattr("os.access", lambda path, mode: path != folder / "b" and access(path, mode))
    with pytest.raises(PermissionError, match="Permission denied: '.*/b'"):
        run(folder, made, facts=2)
    assert made == []


@pytest.mark.parametrize("is_changed", [True, False])
def test_results_that_are_not_made_any_more(folder, is_changed):
    if is_changed:
        (folder / "b" / "log.txt").write_text("mine")
    steps = Steps(folder)
    steps.begin_unfinished()
    if is_changed:
        with pytest.raises(CorpusError, match=r"b/log\.txt would be replaced"):
            steps.remaining({"data": 2}, {"a": ["a.txt"]})
    else:
        assert steps.remaining({"data": 2}, {"a": ["a.txt"]}) == ["a"]
        steps.begin({"data": 2}, {"a": ["a.txt"]})
        assert content(folder) == {GIVEN: "data 1"} and not (folder / "b").exists()


@pytest.mark.parametrize("name", ["a.txt", "b/model", "b/log.txt", GIVEN, "b", "corpus"])
@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_has_come_to_the_place_of_an_output(tmp_path, name, kind):
    """As in a folder where a build was interrupted before its first step."""
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    steps = Steps(out)
    steps.begin_unfinished()
    elsewhere.mkdir()
    (elsewhere / "x").write_text("mine")
    (out / name).parent.mkdir(exist_ok=True)
    if kind == "file":
        (out / name).write_text("mine")
    elif kind == "folder":
        (out / name).mkdir()
    else:
        (out / name).symlink_to(elsewhere)
    made = []
    if kind == "folder" and name in ("b", "corpus"):
        run(out, made)
        assert content(out) == ALL
        return
    with pytest.raises(CorpusError, match=f"out/{name} "):
        run(out, made)
    assert made == [] and (elsewhere / "x").read_text() == "mine"
    assert (out / name).is_symlink() if kind == "link" else (out / name).is_dir() == (kind == "folder")


def test_names_that_lead_out_of_the_folder_count_for_nothing(tmp_path, folder):
    """The folder, and its pipeline.json, may come from somebody else."""
    (tmp_path / "precious").write_text("b 1")
    (tmp_path / "unfinished-folder").mkdir()
    path = folder / "pipeline.json"
    digest = srsly.read_json(path)["files"]["b/log.txt"]
    foreign = {"../precious": digest, str(tmp_path / "precious"): digest, "b/../../precious": digest}
    for facts, unfinished in enumerate(("../unfinished-folder", "corpus", 3), 2):
        found = srsly.read_json(path)
        srsly.write_json(path, found | {"files": found["files"] | foreign, "unfinished": unfinished})
        run(folder, [], facts)
    assert (tmp_path / "precious").exists() and (tmp_path / "unfinished-folder").exists()
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "x").touch()
    (folder / "unfinished-link").symlink_to(tmp_path / "away")
    (folder / ".pipeline.json.part").symlink_to(tmp_path / "precious")
    srsly.write_json(path, srsly.read_json(path) | {"unfinished": "unfinished-link"})
    run(folder, [], facts=9)
    assert (tmp_path / "away" / "x").exists() and (tmp_path / "precious").read_text() == "b 1"
