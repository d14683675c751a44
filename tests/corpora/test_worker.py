"""Parsing one shard: complete or not there at all, with flat memory, whatever the documents are."""

import json
import signal
import threading
from dataclasses import replace

import pytest
import spacy
from corpora_helpers import job, left_over, texts, write
from spacy.language import Language
from spacy.tokens import DocBin

from spacy_mindroot.corpora import worker
from spacy_mindroot.corpora.jobs import Record, Settings
from spacy_mindroot.corpora.output import RECORDS
from spacy_mindroot.corpora.pipelines import loaded
from spacy_mindroot.corpora.sources import UnreadableInputError
from spacy_mindroot.corpora.worker import identify, parse_shard
from spacy_mindroot.corpora.writing import JsonWriter


def test_a_shard_and_its_record(tmp_path, model, out):
    record = parse_shard(job(write(tmp_path / "a.txt", texts(20)), model, out))
    data = (out / "a.conllu").read_bytes()
    assert record.bytes == len(data) and record.sha256 == __import__("hashlib").sha256(data).hexdigest()
    assert (record.documents, record.sentences, record.words) == (20, 39, 39 * 8)
    assert record.rejected == [] and record.model == "en_tiny 1.0.0" and record.rss > 0 and record.seconds > 0
    assert Record(**json.loads((out / RECORDS / "000000.000000.json").read_text())) == record
    assert "mismatch" not in record.manifest_line() and record.manifest_line()["rejected"] == 0
    assert left_over(out) == []


def test_documents_that_fail_are_rejected_alone(tmp_path, model, out, monkeypatch):
    documents = texts(60)
    documents[10] = "word " * 300  # longer than max_length of the scorer
    documents[11] = "x" * 2000  # longer than max_length of the pipeline
    documents[40] = "word " * 250
    with loaded(str(model)) as pipeline:
        monkeypatch.setattr(pipeline.nlp, "max_length", 1900)
        record = parse_shard(job(write(tmp_path / "a.txt", documents), model, out))
    assert record.documents == 59
    ((name, reason),) = record.rejected
    assert reason.startswith("ValueError: ")
    text = "\n".join(documents)
    assert [text[int(n.partition(":")[2]) :][:4] for n, _ in record.notes] == ["word"] * 2
    assert text[int(name.partition(":")[2]) :].startswith("xxxx")
    assert all("max_length is 200: no tree" in note for _, note in record.notes)
    whole = parse_shard(job(write(tmp_path / "a.txt", texts(10)), model, out))
    assert whole.documents == 10


def test_a_document_that_can_not_be_written_is_rejected(tmp_path, model, out, monkeypatch):
    add = JsonWriter.add

    def failing(self, document, doc, cells):
        if document.id.endswith(":0"):
            raise RuntimeError("x" * 5000)
        add(self, document, doc, cells)

    monkeypatch.setattr("spacy_mindroot.corpora.writing.JsonWriter.add", failing)
    record = parse_shard(job(write(tmp_path / "a.txt", texts(3)), model, out, format="jsonl"))
    ((name, reason),) = record.rejected
    assert name == "a.txt:0" and reason.startswith("RuntimeError: xxx") and len(reason) < 1100


@Language.component("mindroot_drop_one")
def drop_one(doc):
    return doc


def test_documents_that_a_pipeline_drops_are_rejected(tmp_path, model, out, monkeypatch):
    """spaCy's pipelines may be told to log errors and to go on."""
    with loaded(str(model)) as pipeline:
        pipe = pipeline.nlp.pipe
        monkeypatch.setattr(pipeline.nlp, "pipe", lambda docs: (d for d in pipe(docs) if "dog number 1." not in d.text))
        record = parse_shard(job(write(tmp_path / "a.txt", ["The dog number 1.", "The cat."]), model, out))
    assert record.documents == 1 and "has dropped" in record.rejected[0][1]


def test_a_model_of_its_own_for_each_process_must_be_the_same(tmp_path, model, out):
    path = write(tmp_path / "a.txt", texts(3))
    identity = identify(str(model), Settings(), str(out)).identity
    assert parse_shard(replace(job(path, model, out), identity=identity)).mismatch == ""
    (out / "a.conllu").unlink()
    other = replace(identity, version="2.0.0")
    record = parse_shard(replace(job(path, model, out), identity=other))
    assert record.mismatch == "model: en_tiny 2.0.0 and en_tiny 1.0.0" and not (out / "a.conllu").exists()


def test_facts_of_a_worker(model, out, monkeypatch):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    facts = identify(str(model), Settings(), str(out))
    assert facts.sees_output and not facts.malloc_trim
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    facts = identify(str(model), Settings(), str(out / "elsewhere"))
    assert not facts.sees_output


def test_unreadable_input_leaves_nothing(tmp_path, model, out):
    (tmp_path / "a.txt.gz").write_bytes(b"\x1f\x8b\x08\x00")
    for path in (tmp_path / "missing.txt", tmp_path / "a.txt.gz"):
        with pytest.raises(UnreadableInputError):
            parse_shard(job(path, model, out))
    assert left_over(out) == [] and not (out / "a.conllu").exists()


def test_the_vocabulary_does_not_grow(tmp_path, model, out, monkeypatch):
    monkeypatch.setattr(worker, "_ZONE_WORDS", 100)
    path = write(tmp_path / "a.txt", [f"Word{k} and other{k} things{k}." for k in range(500)])
    with loaded(str(model)) as pipeline:
        vocab = pipeline.nlp.vocab
        parse_shard(job(path, model, out))
        before = sum(1 for _ in vocab), len(vocab.strings)  # len(vocab) counts what was freed, too
        parse_shard(job(write(path, [f"New{k} and newer{k}." for k in range(500)]), model, out))
        assert (sum(1 for _ in vocab), len(vocab.strings)) == before


def test_an_interruption_leaves_no_zone_open(tmp_path, model, out, monkeypatch):
    path = write(tmp_path / "a.txt", texts(3))
    with loaded(str(model)) as pipeline:
        monkeypatch.setattr(pipeline.nlp, "pipe", lambda docs: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            parse_shard(job(path, model, out))
        assert not pipeline.nlp.vocab.in_memory_zone
    assert left_over(out) == []


def test_all_inputs(tmp_path, model, words_model, out):
    """Zones do not come between the Docs of a file and their strings."""
    nlp = spacy.blank("en")
    DocBin(docs=[nlp(text) for text in texts(400)]).to_disk(tmp_path / "a.spacy")
    record = parse_shard(job(tmp_path / "a.spacy", model, out))
    assert record.documents == 400 and not record.rejected
    first = (out / "a.conllu").read_text("utf8")
    write(tmp_path / "a.txt", texts(400))
    parse_shard(job(tmp_path / "a.txt", model, out))
    second = (out / "a.conllu").read_text("utf8")
    assert [x for x in first.splitlines() if x[:1] != "#"] == [x for x in second.splitlines() if x[:1] != "#"]
    (tmp_path / "a.conllu").write_text(second, "utf8")
    again = parse_shard(job(tmp_path / "a.conllu", words_model, out))
    assert again.sentences == again.documents == record.sentences


def test_workers_ignore_an_interrupt():
    before = signal.getsignal(signal.SIGINT)
    try:
        thread = threading.Thread(target=worker.dask_setup, args=(None,))  # as in a test of Dask's own
        thread.start()
        thread.join()
        assert signal.getsignal(signal.SIGINT) is before
        worker.dask_setup(None)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
