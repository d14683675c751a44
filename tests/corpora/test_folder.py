"""The folder of a run after whatever may happen to it."""

import json

import pytest

from spacy_mindroot.corpora.folder import OutputFolder
from spacy_mindroot.corpora.jobs import Record, Settings
from spacy_mindroot.corpora.output import PARTS, RECORDS
from spacy_mindroot.corpora.pipelines import Identity
from spacy_mindroot.corpora.shards import Source
from spacy_mindroot.errors import CorpusError

IDENTITY = Identity("en_x", "1.0", "abc", {}, "blis")
SOURCES = [Source("/in/a.b.txt", "text", False, 30, "d", step=10), Source("/in/c.jsonl.gz", "jsonl", True, 5, "e")]


def begin(folder):
    folder.begin(IDENTITY, Settings(), SOURCES)
    return list(folder.remaining())


def complete(folder, shard, rejected=(), *, record=True):
    """Do what a worker does; the manifest does not know of it yet."""
    output = folder.output_of(shard)
    data = shard.name.encode()
    found = Record(shard.name, output, shard.path, shard.start, shard.stop, len(data), rejected=list(rejected))
    if record:
        (folder.path / RECORDS / f"{shard.name}.json").write_text(json.dumps(found.__dict__))
    (folder.path / output).write_bytes(data)
    return found


def names(shards):
    return [shard.name for shard in shards]


ALL = ["000000.000000", "000000.000001", "000000.000002", "000001.000000"]


def test_a_run_from_beginning_to_end(tmp_path):
    with OutputFolder(tmp_path / "out") as folder:
        shards = begin(folder)
        assert names(shards) == ALL
        assert folder.output_of(shards[3]) == "000001.000000.c.conllu"
        for shard in reversed(shards):
            folder.add(complete(folder, shard, [("x", "why")] if shard is shards[1] else []))
        folder.finish([])
    out = tmp_path / "out"
    lines = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]
    assert [line["shard"] for line in lines] == ALL and [line["rejected"] for line in lines] == [0, 1, 0, 0]
    (line,) = [json.loads(line) for line in (out / "rejected.jsonl").read_text().splitlines()]
    assert line == {"shard": ALL[1], "input": "/in/a.b.txt", "id": "x", "reason": "why"}
    assert not (out / "failed.jsonl").exists() and not list((out / RECORDS).iterdir())
    with OutputFolder(out) as folder:
        assert folder.begun and (folder.identity, folder.settings, folder.sources) == (IDENTITY, Settings(), SOURCES)
        assert begin(folder) == []


def test_what_was_killed_between_two_steps(tmp_path):
    """After the shard, before the manifest; after the record, before the shard; and lines that are cut off."""
    with OutputFolder(tmp_path) as folder:
        shards = begin(folder)
        folder.add(complete(folder, shards[0], [("a", "b")]))
        complete(folder, shards[1], [("c", "d")])
        complete(folder, shards[2])
        (tmp_path / folder.output_of(shards[2])).unlink()
        complete(folder, shards[3], record=False)
        (folder.path / PARTS / f"{ALL[3]}-host-1-0123abcd").write_text("x")
    with open(tmp_path / "manifest.jsonl", "a") as file:
        file.write('{"shard": "000000.0000')
    with open(tmp_path / "rejected.jsonl", "a") as file:
        file.write('{"shard": "000001.000000", "id": "of a shard that is not complete"}\n{"sh')
    (tmp_path / RECORDS / "000009.000000.json").write_text("{")
    with OutputFolder(tmp_path) as folder:
        assert not list((tmp_path / PARTS).iterdir())
        assert names(begin(folder)) == ALL[2:]
        folder.finish([(shards[2], "why")])
    ids = [json.loads(line)["id"] for line in (tmp_path / "rejected.jsonl").read_text().splitlines()]
    assert ids == ["a", "c"]
    (line,) = [json.loads(line) for line in (tmp_path / "failed.jsonl").read_text().splitlines()]
    assert line == {"shard": ALL[2], "input": "/in/a.b.txt", "start": 20, "stop": 30, "reason": "why"}
    with OutputFolder(tmp_path) as folder:
        begin(folder)
        assert not (tmp_path / "failed.jsonl").exists()


def test_a_shard_that_is_gone_or_of_another_size_is_not_complete(tmp_path):
    with OutputFolder(tmp_path) as folder:
        for shard in begin(folder):
            folder.add(complete(folder, shard))
        folder.finish([])
        (tmp_path / folder.output_of(shard)).write_bytes(b"cut off")
    with OutputFolder(tmp_path) as folder:
        assert names(begin(folder)) == ALL[3:]


def test_records_stay_until_the_manifest_is_on_the_disk(tmp_path, monkeypatch):
    with OutputFolder(tmp_path) as folder:
        shards = begin(folder)
        folder.add(complete(folder, shards[0]))
        assert len(list((tmp_path / RECORDS).iterdir())) == 1
        monkeypatch.setattr("spacy_mindroot.corpora.folder._SYNC_SECONDS", -1)
        folder.add(complete(folder, shards[1]))
        assert not list((tmp_path / RECORDS).iterdir())


def test_one_run_at_a_time(tmp_path):
    with OutputFolder(tmp_path), pytest.raises(CorpusError, match="Another run is writing"), OutputFolder(tmp_path):
        pass
    with OutputFolder(tmp_path):
        pass


def test_starting_over_removes_what_is_its_own(tmp_path):
    with OutputFolder(tmp_path) as folder:
        for shard in begin(folder):
            folder.add(complete(folder, shard, [("a", "b")]))
        folder.finish([(shard, "x")])
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "202411.123456.backup.tar").write_text("mine")
    (tmp_path / "000000.000009.a.b.conllu").write_text("mine")  # a shard that there is not
    with OutputFolder(tmp_path) as folder:
        folder.start_over()
        own = {".mindroot", "notes.txt", "202411.123456.backup.tar", "000000.000009.a.b.conllu"}
        assert {path.name for path in tmp_path.iterdir()} == own
        assert names(begin(folder)) == ALL


def test_starting_over_removes_a_shard_that_has_only_a_record(tmp_path):
    with OutputFolder(tmp_path) as folder:
        first, second, *_ = begin(folder)
        complete(folder, first)
        complete(folder, second, record=False)
    with OutputFolder(tmp_path) as folder:
        folder.start_over()
        assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [folder.output_of(second)]


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CorpusError, match="not from this command"), OutputFolder(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(CorpusError, match="is a file"), OutputFolder(tmp_path / "notes.txt"):
        pass


FOREIGN = "not from this command, or is damaged"


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", FOREIGN),
        ("[]", FOREIGN),
        ('{"version": 9}', FOREIGN),
        ('{"name": "App", "version": 1, "icons": []}', FOREIGN),
        ('{"version": 1, "pipeline": {"name": "x"}, "settings": {}, "sources": []}', FOREIGN),
        ('{"version": 9, "pipeline": {}, "settings": {}, "sources": []}', "another version"),
    ],
)
def test_a_manifest_of_something_else_is_left_alone(tmp_path, text, message):
    (tmp_path / "manifest.json").write_text(text)
    (tmp_path / "000000.000000.a.b.conllu").write_text("mine")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    with pytest.raises(CorpusError, match=message) as found, OutputFolder(tmp_path):
        pass
    assert "--force" not in str(found.value)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


LINKS = [".mindroot", PARTS, RECORDS, ".mindroot/lock", "manifest.json", "manifest.jsonl", "rejected.jsonl"]


@pytest.mark.parametrize("name", LINKS)
def test_no_link_is_followed_out_of_the_folder(tmp_path, name):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    with OutputFolder(out) as folder:
        begin(folder)
    (out / name).rename(elsewhere) if (out / name).exists() else elsewhere.write_text("mine")
    if elsewhere.is_dir():
        for own in (f"{ALL[0]}.json", f"{ALL[0]}-host-1-0123abcd", "manifest.json", "mine"):
            (elsewhere / own).write_text("mine")
    before = {path: path.read_bytes() for path in [elsewhere, *elsewhere.rglob("*")] if path.is_file()}
    (out / name).symlink_to(elsewhere)
    with pytest.raises(CorpusError, match="is a symbolic link"), OutputFolder(out) as folder:
        folder.start_over()
    assert {path: path.read_bytes() for path in [elsewhere, *elsewhere.rglob("*")] if path.is_file()} == before


def test_other_files_in_the_hidden_folders_stay(tmp_path):
    for folder in (PARTS, RECORDS):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "notes.json").write_text("mine")
    for _ in range(2):
        with OutputFolder(tmp_path) as folder:
            begin(folder)
            folder.start_over()
    with OutputFolder(tmp_path):  # never begins
        pass
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {f"{PARTS}/notes.json", f"{RECORDS}/notes.json"}


def test_a_run_that_never_begins_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), OutputFolder(tmp_path / "out"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "own").mkdir()
    with OutputFolder(tmp_path / "own"):
        pass
    assert list((tmp_path / "own").iterdir()) == [] and (tmp_path / "own").is_dir()
