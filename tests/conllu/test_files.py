"""CoNLL-U files: which a folder holds, gzip, and text that is not UTF-8."""

import gzip
import io
import lzma
import os
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from conllu_samples import FULL, PLAIN
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_mindroot import text_files
from spacy_mindroot.conllu import conllu_files, read_conllu, read_pieces, sentence
from spacy_mindroot.conllu.files import is_conllu
from spacy_mindroot.errors import ConlluError, CorpusError
from spacy_mindroot.text_files import is_gzip


def test_the_files_of_a_folder(tmp_path):
    names = ["a.conllu", "b.conllup", "c.cupt", "d.conllu.gz", "e.conllup.gz", "f.cupt.gz", "sub/a.conllu"]
    others = ["x.txt", "conllu", "y.conllu.xz", "z.conllu.bak", "w.gz", ".a.conllu.mindroot-1-x.part"]
    (tmp_path / "sub").mkdir()
    (tmp_path / "folder.conllu").mkdir()
    os.symlink("loop.conllu", tmp_path / "loop.conllu")
    for name in names + others:
        (tmp_path / name).touch()
    assert [str(file.relative_to(tmp_path)) for file in conllu_files(tmp_path)] == names
    assert conllu_files(tmp_path / "x.txt") == [tmp_path / "x.txt"]


def test_what_parse_has_written_is_left_out_unless_it_is_named(tmp_path, monkeypatch):
    for name in ("a.conllu", "out/.mindroot/b.conllu", "out/000000.000000.a.conllu", "o/p/.mindroot/b", "o/p/b.conllu"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert conllu_files(tmp_path) == [tmp_path / "a.conllu"]
    assert conllu_files(tmp_path / "out") == [tmp_path / "out" / "000000.000000.a.conllu"]
    monkeypatch.chdir(tmp_path)
    assert conllu_files(Path(".")) == [Path("a.conllu")] and conllu_files(Path("o/p")) == [Path("o/p/b.conllu")]


def test_links_in_a_folder(tmp_path):
    """Links to files in the folder are read. Those out of it would be files that nobody has named."""
    (tmp_path / "own" / "sub").mkdir(parents=True)
    for name in ("own/a.conllu", "b.conllu"):
        (tmp_path / name).touch()
    (tmp_path / "own" / "sub" / "c.conllu").symlink_to("../a.conllu")
    (tmp_path / "link").symlink_to("own")
    for folder in (tmp_path / "own", tmp_path / "link"):
        assert [file.name for file in conllu_files(folder)] == ["a.conllu", "c.conllu"]
    (tmp_path / "own" / "sub" / "d.conllu").symlink_to(tmp_path / "b.conllu")
    for folder in (tmp_path / "own", tmp_path / "link", tmp_path / "own" / "sub"):
        with pytest.raises(CorpusError, match="is a symbolic link out of its folder"):
            conllu_files(folder)
    assert conllu_files(tmp_path / "own" / "sub" / "d.conllu") == [tmp_path / "own" / "sub" / "d.conllu"]  # named


def test_there_are_none(tmp_path):
    (tmp_path / "a.txt").touch()
    with pytest.raises(ConlluError, match=r"has no files \*.conllu, \*.conllup, \*.cupt, .* [.]gz"):
        conllu_files(tmp_path)
    with pytest.raises(ConlluError, match="no such file or folder"):
        conllu_files(tmp_path / "nowhere")


def test_a_spacy_file_is_named(tmp_path):
    DocBin(docs=[Doc(Vocab(), ["They", "left"])]).to_disk(tmp_path / "a.spacy")
    with pytest.raises(ConlluError, match=r"a\.spacy: this file is a \.spacy file, not text\. Give the file"):
        list(read_conllu(tmp_path / "a.spacy"))


@pytest.mark.parametrize("name", ["a.conllu.gz", "a.conllu"])
def test_gzip_is_read_whatever_the_name(name, tmp_path):
    data = gzip.compress(("\ufeff" + FULL).encode()) + gzip.compress((PLAIN * 3000).encode())  # two members
    (tmp_path / name).write_bytes(data)
    assert [len(sentence) for sentence in read_conllu(tmp_path / name)] == [6] + [2] * 3000
    assert is_gzip(tmp_path / name)
    (tmp_path / "empty").touch()
    assert not is_gzip(tmp_path / "empty") and list(read_conllu(tmp_path / "empty")) == []
    (tmp_path / "empty").write_bytes(gzip.compress(b""))
    assert list(read_conllu(tmp_path / "empty")) == []


def archive():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("a.conllu", PLAIN)
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (PLAIN.encode("utf-16"), "is UTF-16.*iconv -f UTF-16"),
        (PLAIN.encode("utf-16-be"), "UTF-16.*iconv"),
        (PLAIN.encode("utf-16-le"), "UTF-16.*iconv"),
        (("\ufeff" + PLAIN).encode("utf-16-be"), "is UTF-16"),
        (PLAIN.encode("utf-32"), "is UTF-32.*iconv -f UTF-32"),
        (gzip.compress(PLAIN.encode("utf-16"), mtime=0), "is UTF-16"),
        (archive(), "is a zip archive. Unpack it"),
        (lzma.compress(PLAIN.encode()), "is compressed with xz. Unpack it"),
        (b"BZh91AY", "is compressed with bzip2"),
        (b"\x28\xb5\x2f\xfd\x00", "is compressed with zstd"),
    ],
)
def test_files_of_other_kinds_are_refused_by_name(data, says):
    for on_fault in (None, lambda error: None):  # there is no sentence to skip
        with pytest.raises(ConlluError, match=f"f: this file .*{says}"):
            list(read_pieces(io.BytesIO(data), "f", on_fault))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("longest", ["line", "sentence"])
def test_lines_and_sentences_without_end_take_no_memory(pack, longest, monkeypatch, tmp_path):
    for module in (text_files, sentence):
        monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    endless = b"# " + b"x" * (20 << 20) if longest == "line" else b"# comment\n" * (2 << 20)
    (tmp_path / "a.conllu").write_bytes(pack(PLAIN.encode() + endless))
    begin = len(PLAIN.splitlines()) + 1
    tracemalloc.start()
    with pytest.raises(ConlluError, match=f"a.conllu:{begin}: .*line {begin} has more than 65,536 bytes, the limit"):
        list(read_conllu(tmp_path / "a.conllu"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a", PLAIN.encode(), True),
        ("a.txt", FULL.encode(), True),
        ("a.txt", ("\ufeff\n# a comment\r\n" + PLAIN).encode(), True),
        ("a.gz", gzip.compress(PLAIN.encode(), mtime=0), True),
        ("a", b"1-2\tdu\t_\n", True),
        ("a", b"0.1\tdu\t_\n", True),
        ("a.txt", b"1 They left.\n", False),
        ("a.txt", b"# A heading\nThey left.\n", False),
        ("a", b"", False),
        ("a", b"12\t3\n", False),
        ("a.conllx", b"They left.\n", True),
        ("a.conll.gz", b"", True),
        ("a.cupt", b"They left.\n", True),
    ],
)
def test_what_is_conllu(tmp_path, name, content, found):
    (tmp_path / name).write_bytes(content)
    assert is_conllu(tmp_path / name) is found
