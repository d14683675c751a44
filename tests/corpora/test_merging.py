"""Parts of a corpus that are parsed each by itself are one run once they are merged, whatever is killed."""

import json
import shutil

import pytest
from corpora_helpers import left_over, lines, make_model, shard_files, texts, union, write

from spacy_mindroot import errors
from spacy_mindroot.corpora import merging, parse_corpus

SETTINGS = {"shard_words": 200, "confidence": True}
TIMES = ("seconds", "cpu_seconds", "worker", "rss")


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder / "a.txt", texts(60))
    write(folder / "b.jsonl", [json.dumps({"text": text}) for text in texts(40)] + ["no JSON"])
    return folder


@pytest.fixture
def whole(tmp_path, corpus, model):
    parse_corpus(model, corpus, tmp_path / "whole", **SETTINGS)
    return tmp_path / "whole"


def parse_parts(model, corpus, out, total, only=None):
    for number in only or range(1, total + 1):
        parse_corpus(model, corpus, out, part=f"{number}/{total}", **SETTINGS)


def merge(model, corpus, out):
    return parse_corpus(model, corpus, out, merge=True, **SETTINGS)


def assert_same(out, whole):
    """All files but the times in the manifest, and nothing else."""
    assert sorted(path.name for path in out.iterdir()) == sorted(path.name for path in whole.iterdir())
    assert union(out) == union(whole) and [path.name for path in shard_files(out)]
    assert (out / "manifest.json").read_bytes() == (whole / "manifest.json").read_bytes()
    assert (out / "rejected.jsonl").read_bytes() == (whole / "rejected.jsonl").read_bytes()
    own, other = ([{k: v for k, v in line.items() if k not in TIMES} for line in lines(each / "manifest.jsonl")]
                  for each in (out, whole))  # fmt: skip
    assert own == other and left_over(out) == []


@pytest.mark.parametrize("total", [1, 3, 12])
def test_merged_parts_are_one_run(total, whole, corpus, model, tmp_path):
    out = tmp_path / "out"
    parse_parts(model, corpus, out, total)
    width = len(str(total))
    names = [f"part-{number:0{width}}-of-{total}" for number in range(1, total + 1)]
    assert sorted(path.name for path in out.iterdir()) == names
    assert json.loads((out / names[0] / "manifest.json").read_text())["part"] == f"1/{total}"
    counts = [len(shard_files(out / name)) for name in names]
    assert sum(counts) == len(shard_files(whole)) and max(counts) - min(counts) <= 1
    summary = merge(model, corpus, out)
    assert summary.parsed == len(shard_files(whole)) and summary.failed == 0
    assert_same(out, whole)
    assert merge(model, corpus, out).complete_before == summary.parsed  # once more does no harm
    assert_same(out, whole)


def test_parts_that_are_missing_are_named_and_nothing_is_moved(whole, corpus, model, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with pytest.raises(errors.CorpusError, match="no folder"):
        merge(model, corpus, out)
    parse_parts(model, corpus, out, 3, only=[1, 3])
    with pytest.raises(errors.CorpusError, match=r"1 of 3 parts are not complete: 2/3\."):
        merge(model, corpus, out)
    assert sorted(path.name for path in out.iterdir()) == ["part-1-of-3", "part-3-of-3"]
    cut = shard_files(out / "part-3-of-3")[0]  # on the way
    cut.write_bytes(cut.read_bytes()[:-1])
    parse_parts(model, corpus, out, 3, only=[2])
    with pytest.raises(errors.CorpusError, match=r"not complete: 3/3\."):
        merge(model, corpus, out)
    parse_parts(model, corpus, out, 3, only=[3])
    merge(model, corpus, out)
    assert_same(out, whole)


def test_a_merge_that_is_killed_goes_on(whole, corpus, model, tmp_path, monkeypatch):
    """At each of its steps: before a record is written, between record and file, and while parts are removed."""
    out, steps, at = tmp_path / "out", [], [None]

    class Killed(BaseException):
        pass

    def counted(function):
        def call(*args):
            steps.append(function)
            if len(steps) == at[0]:
                raise Killed
            return function(*args)

        return call

    monkeypatch.setattr(merging, "write_synced", counted(merging.write_synced))
    monkeypatch.setattr(merging.os, "replace", counted(merging.os.replace))
    monkeypatch.setattr(merging.OutputFolder, "discard", counted(merging.OutputFolder.discard))
    parse_parts(model, corpus, tmp_path / "parts", 3)
    shutil.copytree(tmp_path / "parts", out)
    steps.clear()
    merge(model, corpus, out)
    total = len(steps)
    assert total > 2 * len(shard_files(whole))
    for step in range(1, total + 1):
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "parts", out)
        steps.clear()
        at[0] = step
        with pytest.raises(Killed):
            merge(model, corpus, out)
        at[0] = None
        merge(model, corpus, out)
        assert_same(out, whole)


def test_a_shard_that_failed_in_its_part_fails_in_the_whole(tmp_path, corpus, model):
    (corpus / "c.jsonl.gz").write_bytes(b"\x1f\x8b no gzip")
    out = tmp_path / "out"
    parse_parts(model, corpus, out, 2)
    summary = merge(model, corpus, out)
    assert summary.failed == 1 and "damaged" in lines(out / "failed.jsonl")[0]["reason"]
    assert [path.name for path in out.iterdir() if path.is_dir() and path.name.startswith("part")] == []
    write(tmp_path / "c.jsonl", [])
    assert parse_corpus(model, corpus, out, **SETTINGS).failed == 1  # which tries it again, as ever


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda part: {"settings": {**part["settings"], "kbest": 2}}, "different pipelines or settings"),
        (lambda part: {"pipeline": {**part["pipeline"], "products": "other"}}, "different pipelines or settings"),
        (lambda part: {"sources": [{**own, "digest": "0"} for own in part["sources"]]}, "different input"),
    ],
)
def test_parts_that_do_not_belong_together(change, message, corpus, model, tmp_path):
    out = tmp_path / "out"
    parse_parts(model, corpus, out, 2)
    header = out / "part-2-of-2" / "manifest.json"
    part = json.loads(header.read_text())
    header.write_text(json.dumps(part | change(part)))
    with pytest.raises(errors.CorpusError, match=message):
        merge(model, corpus, out)


def test_a_folder_that_is_begun_gets_no_parts_of_another_run(corpus, model, tmp_path):
    other = make_model(tmp_path / "other", seed=1, version="2.0.0")
    out = tmp_path / "out"
    parse_corpus(model, corpus, out, **SETTINGS)
    parse_parts(other, corpus, out, 2)
    before = union(out)
    for name in (model, other):
        with pytest.raises(errors.CorpusError, match="different pipelines"):
            merge(name, corpus, out)
    for number in (1, 2):
        shutil.rmtree(out / f"part-{number}-of-2")
    parse_parts(model, corpus, out, 1)
    header = out / "part-1-of-1" / "manifest.json"
    data = json.loads(header.read_text())
    header.write_text(json.dumps(data | {"sources": [{**own, "digest": "0"} for own in data["sources"]]}))
    with pytest.raises(errors.CorpusError, match="different input"):
        merge(model, corpus, out)
    assert union(out) == before and (out / "part-1-of-1").exists()


def test_the_pipeline_of_a_merge_is_that_of_the_parts(corpus, model, tmp_path):
    out = tmp_path / "out"
    parse_parts(model, corpus, out, 1)
    with pytest.raises(errors.CorpusError, match="another pipeline: model: en_tiny 1.0.0 and en_tiny 2.0.0"):
        merge(make_model(tmp_path / "other", version="2.0.0"), corpus, out)
    assert [path.name for path in out.iterdir()] == ["part-1-of-1"]


def test_a_part_that_is_parsed_again_after_the_merge(whole, corpus, model, tmp_path):
    """As a job that a scheduler puts into its queue again."""
    out = tmp_path / "out"
    parse_parts(model, corpus, out, 2)
    merge(model, corpus, out)
    for _ in range(2):
        parse_parts(model, corpus, out, 2, only=[1])
        assert merge(model, corpus, out).parsed == 0
        assert_same(out, whole)


def test_other_ways_that_can_not_be(corpus, model, tmp_path):
    out = tmp_path / "out"
    parse_parts(model, corpus, out, 2, only=[1])
    with pytest.raises(errors.CorpusError, match="begun with"):
        parse_corpus(model, corpus, out, part="1/2", shard_words=100, confidence=True)
    parse_parts(model, corpus, out, 3, only=[1])
    with pytest.raises(errors.CorpusError, match="different ways"):
        merge(model, corpus, out)
    shutil.rmtree(out / "part-1-of-3")
    (out / "part-2-of-2").symlink_to(out / "part-1-of-2")
    with pytest.raises(errors.CorpusError, match="symbolic link"):
        merge(model, corpus, out)
    for part in ("0/2", "3/2", "1", "a/b", "1/2/3"):
        with pytest.raises(errors.CorpusError, match="17/1000"):
            parse_corpus(model, corpus, tmp_path / "other", part=part)
    for settings in ({"part": "1/2"}, {"force": True}):
        with pytest.raises(errors.CorpusError, match="--merge"):
            parse_corpus(model, corpus, out, merge=True, **settings)
    (tmp_path / "empty").mkdir()
    with pytest.raises(errors.CorpusError, match="no parts"):
        merge(model, corpus, tmp_path / "empty")
