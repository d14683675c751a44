"""Finding, opening and recognizing the files of a corpus."""

import gzip
import os
import re
import sys
import zipfile

import pytest
from corpora_helpers import texts, union

from spacy_mindroot.corpora import parse_corpus
from spacy_mindroot.corpora.sources import (
    Found,
    UnreadableInputError,
    digest_of,
    find_files,
    format_of,
    local_paths,
    looks_wrapped,
    open_source,
    plain,
)
from spacy_mindroot.errors import CorpusError

zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


@pytest.mark.parametrize(
    "name, kind, compressed",
    [
        ("a.txt", "text", False),
        ("a.txt.gz", "text", True),
        ("a.ndjson", "jsonl", False),
        ("a.cupt.gz", "conllu", True),
        ("a.jsonl.zst", "jsonl", True),
        ("a.warc.wet.gz", "warc", True),
        ("a.warc", "warc", False),
        ("a.parquet", "parquet", False),
        ("a.spacy", "spacy", False),
    ],
)
def test_the_name_says_the_format(name, kind, compressed):
    assert format_of(name) == Found(name, kind, compressed)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet.gz", "a.spacy.gz", "txt", "a.gz"])
def test_other_names_have_no_format(name):
    assert format_of(name) is None


def test_plain_names():
    assert [plain(name) for name in ("a.b.txt.zst", "a.conllu", "README", ".txt")] == ["a.b", "a", "README", ".txt"]


@pytest.fixture
def folder(tmp_path):
    for name in ("b.txt", "a.jsonl", "sub/c.conllu", "notes.md", "sub/d.txt.gz"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    return tmp_path


def names(found, folder):
    return [file.path.removeprefix(f"{folder}/") for file in found]


def test_folders_patterns_and_files_each_file_once(folder):
    assert names(find_files([str(folder)]), folder) == ["a.jsonl", "b.txt", "sub/c.conllu", "sub/d.txt.gz"]
    assert names(find_files([str(folder / "*.txt"), str(folder / "a.jsonl"), str(folder)]), folder) == [
        "b.txt",
        "a.jsonl",
        "sub/c.conllu",
        "sub/d.txt.gz",
    ]
    assert names(find_files([str(folder / "**/*.gz")]), folder) == ["sub/d.txt.gz"]


@pytest.mark.parametrize(
    "name, message",
    [
        ("missing.txt", "there is no such file"),
        ("*.parquet", "no file matches"),
        ("notes.md", "is a file of another kind"),
        ("*.md", "names no files of these kinds"),
    ],
)
def test_what_is_no_input_is_an_error(folder, name, message):
    with pytest.raises(CorpusError, match=message):
        find_files([str(folder / name)])


def test_urls(folder):
    pytest.importorskip("fsspec", reason="URLs need the extra `remote`")
    url = f"file://{folder}"
    for scheme in ("file", "local"):  # the same files under the same names, so that what is the same is known to be
        assert find_files([f"{scheme}://{folder}"]) == find_files([str(folder)])
    assert [file.name for file in find_files([f"{url}/*.txt", f"{url}/a.jsonl"])] == ["b.txt", "a.jsonl"]
    with open_source(f"{url}/b.txt") as file:
        assert file.read() == b"b.txt"
    assert digest_of(f"{url}/b.txt") == digest_of(str(folder / "b.txt"))
    with pytest.raises(CorpusError, match="there is no such file"):
        find_files([f"{url}/missing.txt"])
    with pytest.raises(CorpusError, match="there is nothing there"):
        find_files(["memory://missing.txt"])
    with pytest.raises(CorpusError, match="can't be listed"):
        find_files(["no-such-store://bucket/a*.txt"])


def test_a_corpus_in_a_store(model, tmp_path):
    """Parsed from a URL, as from a folder: the same bytes, and the same number of shards."""
    fsspec = pytest.importorskip("fsspec", reason="URLs need the extra `remote`")
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    local = tmp_path / "corpus"
    local.mkdir()
    (local / "a.txt").write_text("\n".join(texts(30)), "utf8")
    (local / "b.txt.gz").write_bytes(gzip.compress("\n".join(texts(5)).encode()))
    parquet.write_table(pa.table({"text": texts(20)}), local / "c.parquet", row_group_size=4)
    store = fsspec.filesystem("memory")
    store.put(str(local), "/corpus", recursive=True)
    try:
        ours = parse_corpus(model, local, tmp_path / "ours", shard_words=60)
        theirs = parse_corpus(model, "memory://corpus", tmp_path / "theirs", shard_words=60)
    finally:
        store.rm("/corpus", recursive=True)
    assert (theirs.parsed, theirs.failed, theirs.documents) == (ours.shards, 0, 55) and ours.shards > 8
    found = [re.sub(r"newdoc id = .*/", "newdoc id = ", union(tmp_path / name).decode()) for name in ("ours", "theirs")]
    assert found[0] == found[1]


def test_without_fsspec_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(CorpusError, match=r"spacy-mindroot\[remote\]"):
        find_files(["s3://bucket/a.txt"])


def test_frames_and_long_windows_of_zstd(tmp_path):
    text = b"A line of text.\n" * 20_000
    long = {zstd.CompressionParameter.window_log: 30, zstd.CompressionParameter.enable_long_distance_matching: 1}
    (tmp_path / "a.txt.zst").write_bytes(zstd.compress(text) + zstd.compress(text, options=long))
    with open_source(str(tmp_path / "a.txt.zst"), compressed=True) as file:
        assert file.read() == text * 2


def test_zstd_without_its_package(tmp_path, monkeypatch):
    (tmp_path / "a.txt.zst").write_bytes(zstd.compress(b"text"))
    monkeypatch.setitem(sys.modules, zstd.__name__, None)
    with (
        pytest.raises(CorpusError, match=r"spacy-mindroot\[zstd\]"),
        open_source(str(tmp_path / "a.txt.zst"), compressed=True),
    ):
        pass


def test_what_can_not_be_read_says_why(tmp_path):
    for opened in (lambda: digest_of(str(tmp_path / "a")), lambda: open_source(str(tmp_path / "a")).__enter__()):
        with pytest.raises(UnreadableInputError, match="No such file"):
            opened()
    whole, other = gzip.compress(b"text " * 10_000), zstd.compress(bytes(range(256)) * 500)
    for damaged in (
        *(whole[:-20], b"no gzip at all", whole[:10] + b"\xff" * 50),
        *(other[:-20], other[:8] + b"\xff" * 50),
    ):
        (tmp_path / "a.txt.gz").write_bytes(damaged)
        with (
            pytest.raises(UnreadableInputError, match="damaged"),
            open_source(str(tmp_path / "a.txt.gz"), compressed=True) as f,
        ):
            f.read()


def test_the_digest_is_of_size_and_both_ends(tmp_path):
    path = tmp_path / "a"
    digests = set()
    for content in (b"", b"a", b"a" * 200_000, b"b" + b"a" * 199_999, b"a" * 199_999 + b"b", b"a" * 200_001):
        path.write_bytes(content)
        os.utime(path, ns=(0, 0))
        size, digest, first = digest_of(str(path))
        assert (size, first) == (len(content), content[: 1 << 16])
        digests.add(digest)
    assert len(digests) == 6


@pytest.mark.parametrize(("size", "same"), [(1 << 17, True), ((1 << 17) + 1, False)])
def test_the_digest_of_what_is_not_read_completely_is_of_its_time(size, same, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(bytes(size))
    before = digest_of(str(path))
    os.utime(path, ns=(0, 1))
    assert (digest_of(str(path)) == before) is same


def test_the_digest_of_a_url_is_of_the_time_in_its_store():
    fsspec = pytest.importorskip("fsspec", reason="URLs need the extra `remote`")
    digests = set()
    for _ in range(2):
        with fsspec.open("memory://large.txt", "wb") as file:
            file.write(bytes(200_000))
        digests |= {digest_of("memory://large.txt"), digest_of("memory://large.txt")}
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("url", "files"),
    [
        ("zip://*.txt::{}", ["zip://a.txt::{}"]),
        ("zip://::{}", ["zip://a.txt::{}", "zip://d/b.txt::{}"]),
        ("zip::{}", ["zip://a.txt::{}", "zip://d/b.txt::{}"]),
        ("zip://d/b.txt::{}", ["zip://d/b.txt::{}"]),
        ("simplecache::zip://*.txt::{}", ["simplecache::zip://a.txt::{}"]),
    ],
)
@pytest.mark.parametrize("scheme", ["file://", ""])
def test_chained_urls_stay_chained(url, files, scheme, tmp_path):
    pytest.importorskip("fsspec", reason="URLs need the extra `remote`")
    if "://" not in url + scheme:
        pytest.skip("no URL")
    archive = f"{scheme}{tmp_path / 'corpus.zip'}"
    with zipfile.ZipFile(tmp_path / "corpus.zip", "w") as file:
        for name in ("a.txt", "d/b.txt", "notes.md"):
            file.writestr(name, name)
    found = find_files([url.format(archive)])
    assert [file.path for file in found] == [name.format(archive) for name in files]
    for file in found:
        with open_source(file.path) as text:
            assert text.read().decode().endswith(file.name) and file.format == "text"
    assert str(tmp_path / "corpus.zip") in local_paths([url.format(archive)])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_what_is_no_regular_file_is_left_out_with_a_word(folder):
    os.mkfifo(folder / "c.txt")
    os.symlink("c.txt", folder / "d.txt")
    os.symlink("nowhere", folder / "gone.txt")  # which fails when it is read: it might have been a part of the corpus
    for given in (folder, folder / "*"):
        warned = []
        found = names(find_files([str(given)], warned.append), folder)
        assert found[:2] == ["a.jsonl", "b.txt"] and "gone.txt" in found and not {"c.txt", "d.txt"} & set(found)
        left_out = [message.split()[0] for message in warned if message.startswith(str(folder))]
        assert left_out == [str(folder / "c.txt"), str(folder / "d.txt")]
    for name in ("c.txt", "d.txt"):
        with pytest.raises(CorpusError, match=f"{name} is a pipe or a device"):
            find_files([str(folder / name)])


def test_what_runs_have_written_is_left_out(folder):
    before = names(find_files([str(folder)]), folder)
    for place in ("out", "sub/out", "sub/deep/er"):
        (folder / place / ".mindroot" / "parts").mkdir(parents=True)
        for name in ("000000.000000.b.conllu", "manifest.jsonl", "rejected.jsonl", ".mindroot/parts/manifest.jsonl"):
            (folder / place / name).touch()
    warned = []
    assert names(find_files([str(folder)], warned.append), folder) == before and "12 files" in warned[0]
    assert names(find_files([str(folder / "**/*")]), folder) == before
    for given in ("out", "out/*", "sub/deep/er/*.*"):  # named, so that their parses are meant
        found = names(find_files([str(folder / given)]), folder)
        assert [name.rpartition("/")[2] for name in found] == ["000000.000000.b.conllu"]
    assert names(find_files([str(folder / "out" / "manifest.jsonl")]), folder) == ["out/manifest.jsonl"]


def test_files_of_other_kinds_are_named_once(tmp_path):
    for name in ("a.txt", "b.conllx", "c.md", "sub/d.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("They left.\n")
    said = []
    assert len(find_files([str(tmp_path)], said.append)) == 1
    assert said == ["3 files of other kinds left out: b.conllx, c.md, d.xml."]
    assert find_files([str(tmp_path / "a.txt")], said.append) and len(said) == 1
    with pytest.raises(CorpusError, match=r"b\.conllx: this is a file of another kind.* let its name end in \.conllu"):
        find_files([str(tmp_path / "b.conllx")])
    with pytest.raises(CorpusError, match=r"c\.md: this is a file of another kind(?!.*CoNLL-U:)"):
        find_files([str(tmp_path / "c.md")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog\nbarks at\nthe man.\n\nHe left\nthe house,\nand went.\n", True),
        ("The dog barks.\nHe left.\n\nAnd then?\nNo one knew.\nNo one.\n", False),
        ("A title\nanother\na third\na fourth\n", False),  # one document a line, and no empty line
        ("A title\n\nanother\n\na third\n\na fourth\n", False),
        ("", False),
    ],
)
def test_texts_whose_lines_are_parts_of_paragraphs(tmp_path, text, expected):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert looks_wrapped(Found(str(path), "text", True)) == expected
    path.write_bytes(b"no gzip")
    assert not looks_wrapped(Found(str(path), "text", True))
