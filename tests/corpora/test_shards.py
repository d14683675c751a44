"""Places at which a corpus is cut into shards."""

import gzip
import json
from dataclasses import asdict, replace

import pytest

from spacy_mindroot.corpora.shards import Source, import_parquet, plan_sources, same_sources, shards_of
from spacy_mindroot.corpora.sources import find_files
from spacy_mindroot.errors import CorpusError


def planned(path, words):
    return plan_sources(find_files([str(path)]), words, lambda first, kind: 6.0)


def test_files_are_cut_by_size(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 2500)
    (tmp_path / "b.txt").write_bytes(b"x" * 200)
    (tmp_path / "c.txt").write_bytes(b"")
    (source, small, empty) = planned(tmp_path, 200)
    assert (source.step, small.step, empty.step) == (1200, 0, 0)
    shards = list(shards_of([source, small, empty]))
    assert [(shard.name, shard.start, shard.stop) for shard in shards] == [
        ("000000.000000", 0, 1200),
        ("000000.000001", 1200, 2400),
        ("000000.000002", 2400, 2500),
        ("000001.000000", 0, 200),
        ("000002.000000", 0, 0),
    ]
    assert sum(shard.size for shard in shards) == 2700


def test_what_can_not_be_read_from_the_middle_is_one_shard(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"x y\n" * 100_000, 0))
    (tmp_path / "b.txt").write_bytes(gzip.compress(b"x y\n" * 100_000, 0))  # whatever its name
    (tmp_path / "c.spacy").write_bytes(b"x" * 100_000)
    (tmp_path / "d.conllup").write_bytes(b"# global.columns = ID FORM HEAD DEPREL\n" + b"x" * 100_000)
    found = planned(tmp_path, 10)
    assert [source.step for source in found] == [0] * 4
    assert [source.compressed for source in found] == [True, True, False, False]


def test_parquet_is_cut_between_row_groups(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    table = pa.table({"text": [f"Number {k} of many." * 20 for k in range(1000)]})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=100, compression="none", use_dictionary=False)
    (source,) = planned(tmp_path, 20_000)
    shards = list(shards_of([source]))
    assert [(s.start, s.stop) for s in shards] == [(0, 3), (3, 6), (6, 9), (9, 10)]
    parquet.write_table(table.slice(0, 0), tmp_path / "a.parquet")
    (shard,) = shards_of(planned(tmp_path, 20_000))
    assert shard.start == 0


def test_what_can_not_be_read_is_a_shard_that_will_fail(tmp_path):
    (tmp_path / "a.txt").symlink_to(tmp_path / "a.txt")
    pytest.importorskip("pyarrow.parquet")
    (tmp_path / "b.parquet").write_bytes(b"no Parquet")
    sources = plan_sources(
        [*find_files([str(tmp_path / "b.parquet")]), *find_files([str(tmp_path)])[:1]], 10, lambda *_: 6.0
    )
    assert [(source.size, source.digest) for source in sources] == [(0, ""), (0, "")]
    assert len(list(shards_of(sources))) == 2


def test_sources_are_kept_as_json(tmp_path):
    source = Source("/a.parquet", "parquet", False, 10, "d", 0, (0, 2, 4))
    assert Source.from_json(json.loads(json.dumps(asdict(source)))) == source


def test_other_inputs_are_noticed(tmp_path):
    def found():
        return find_files([str(tmp_path)])

    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    sources = planned(tmp_path, 10)
    assert same_sources(sources, found()) == ""
    assert same_sources(sources, found()[::-1]) == "the same files, in another order"
    (tmp_path / "b.txt").write_text("B.txt")
    assert same_sources(sources, found()).endswith("b.txt has changed")
    (tmp_path / "b.txt").unlink()
    assert same_sources(sources, found()) == "2 files then, 1 now; b.txt is missing"
    (tmp_path / "c.txt").write_text("")
    assert same_sources(sources, found()) == "2 files then, 2 now; c.txt is new, b.txt is missing"


def test_a_file_that_could_not_be_read_then_has_not_changed(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    (source,) = planned(tmp_path, 10)
    assert same_sources([replace(source, digest="")], find_files([str(tmp_path)])) == ""
    assert same_sources([replace(source, digest="0")], find_files([str(tmp_path)])).endswith("a.txt has changed")


def test_a_corpus_that_has_moved_is_the_same(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one/a.txt").write_text("text")
    sources = planned(tmp_path / "one", 10)
    (tmp_path / "one").rename(tmp_path / "two")
    assert same_sources(sources, find_files([str(tmp_path / "two")])) == ""


def test_without_pyarrow_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(CorpusError, match=r"spacy-mindroot\[parquet\]"):
        import_parquet()


@pytest.mark.parametrize("before", [b"", b"# a licence\n", b"\xef\xbb\xbf# a licence\r\n#\n"])
def test_a_file_with_a_header_is_not_cut(before, tmp_path):
    """Shards after the first would not know the columns. The header is one of the first comments."""
    header = b"# global.columns = ID FORM HEAD DEPREL\n"
    (tmp_path / "a.conllu").write_bytes(before + header + b"1\ta\t0\troot\n\n" * 500)
    (tmp_path / "b.conllu").write_bytes(before + b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n" + header * 500)
    with_header, without = planned(tmp_path, 20)
    assert with_header.step == 0 and without.step > 0
