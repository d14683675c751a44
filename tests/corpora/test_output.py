"""The file of a shard: complete, with its record, or not there at all."""

import errno
import os

import pytest
from corpora_helpers import job, left_over, texts, write

from spacy_mindroot.corpora import output, worker
from spacy_mindroot.corpora.output import RECORDS, OutputError, write_synced
from spacy_mindroot.corpora.worker import parse_shard


@pytest.mark.parametrize("format", ["conllu", "parquet", "spacy"])
def test_a_full_disk(tmp_path, model, out, monkeypatch, format):
    """/dev/full stands for the temporary file."""
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "a.txt", texts(10))
    part = worker.ShardFile

    class Full(part):
        def __init__(self, job):
            super().__init__(job)
            self._file.close()
            self._file = open("/dev/full", "wb", buffering=0)  # noqa: SIM115

    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    monkeypatch.setattr(worker, "ShardFile", Full)
    with pytest.raises(OutputError, match="No space left on device. Free some space"):
        parse_shard(job(path, model, out, format=format))
    assert left_over(out) == [] and not (out / "a.conllu").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_at_the_end(tmp_path, model, out, monkeypatch, number):
    path = write(tmp_path / "a.txt", texts(3))

    def fail(file):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(output, "_sync", fail)
    with pytest.raises(OutputError, match=os.strerror(number)):
        parse_shard(job(path, model, out))
    assert left_over(out) == [] and not (out / "a.conllu").exists()


def test_a_folder_that_is_not_there(tmp_path, model):
    with pytest.raises(OutputError, match="All workers need this folder"):
        parse_shard(job(write(tmp_path / "a.txt", texts(3)), model, tmp_path / "nowhere"))


def test_a_complete_shard_is_not_parsed_again(tmp_path, model, out, monkeypatch):
    """Dask runs it again if its worker dies before anybody has fetched the record."""
    first = job(write(tmp_path / "a.txt", ["A cat.", "word " * 300]), model, out)
    record = parse_shard(first)
    parse, calls = worker._parse, []
    monkeypatch.setattr(worker, "_parse", lambda *args: calls.append(1) or parse(*args))
    again = parse_shard(first)
    assert again.manifest_line() == record.manifest_line() and len(again.notes) == 1 and not calls
    (out / "a.conllu").write_bytes(b"damaged")
    assert parse_shard(first).sha256 == record.sha256 and len(calls) == 1
    (out / "a.conllu").unlink()
    assert parse_shard(first).sha256 == record.sha256 and len(calls) == 2
    (out / RECORDS / "000000.000000.json").write_text("{")
    assert parse_shard(first).sha256 == record.sha256 and len(calls) == 3


def test_a_file_keeps_what_it_has_until_the_new_text_is_on_the_disk(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write_synced(tmp_path / "part", path, "old\n")

    def fail(file):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(output, "_sync", fail)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        write_synced(tmp_path / "part", path, "new\n")
    assert path.read_text() == "old\n"
