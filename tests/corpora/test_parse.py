"""Whole corpora from Python: the union of the outputs is the same, however often a run begins anew."""

import gzip
import io
import json
import os
import re
import shutil
import sys
from collections import Counter

import pytest
from corpora_helpers import lines, make_model, shard_files, texts, union

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.corpora import ParseSummary, parse, parse_corpus
from spacy_mindroot.corpora.engine import Engine
from spacy_mindroot.corpora.folder import OutputFolder
from spacy_mindroot.corpora.parse import Progress
from spacy_mindroot.corpora.reading import Columns
from spacy_mindroot.corpora.sources import UnreadableInputError
from spacy_mindroot.errors import CorpusError, CountError

ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(texts(120)) + "\n")
    rows = [json.dumps({"id": f"d{k}", "text": text}) for k, text in enumerate(texts(40))]
    (folder / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    return folder


@pytest.fixture
def whole(tmp_path, corpus, model):
    out = tmp_path / "whole"
    return out, parse_corpus(model, corpus, out, shard_words=300)


def test_a_corpus(whole, corpus):
    out, summary = whole
    assert (summary.documents, summary.rejected, summary.failed, summary.complete_before) == (160, 0, 0, 0)
    assert summary.parsed == summary.shards == len(shard_files(out)) == len(lines(out / "manifest.jsonl")) > 5
    text = union(out).decode()
    ids = [line.split(" = ")[1] for line in text.splitlines() if line.startswith("# newdoc")]
    assert len(ids) == len(set(ids)) == 160 and ids[-1] == "d39"
    assert text.count("# sent_id = ") == summary.sentences
    assert sum(line["words"] for line in lines(out / "manifest.jsonl")) == summary.words
    assert summary.to_json()["words_per_second"] > 0
    assert sum(w.shards for w in summary.workers.values()) == summary.parsed
    header = json.loads((out / "manifest.json").read_text())
    assert header["pipeline"]["model"] == "en_tiny" and [s["size"] for s in header["sources"]][0] == os.path.getsize(
        corpus / "a.txt"
    )


def test_it_does_not_matter_where_it_is_cut(whole, corpus, model, tmp_path):
    out, summary = whole
    again = parse_corpus(model, [corpus / "a.txt", corpus / "b.jsonl.gz"], tmp_path / "again", shard_words=10**6)
    assert again.shards == 2 and union(tmp_path / "again") == union(out)


def test_a_run_goes_on(whole, corpus, model, tmp_path, monkeypatch):
    """Stopped after each shard in turn, and once with files that are gone."""
    out, _ = whole
    other = tmp_path / "other"
    run, calls = Engine.run, 0

    def stops_after_one(self, jobs, tick):
        yield next(iter(run(self, jobs, tick)))
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "run", stops_after_one)
    while True:
        calls += 1
        try:
            summary = parse_corpus(model, corpus, other, shard_words=300)
        except (KeyboardInterrupt, RuntimeError):  # a generator that has nothing to yield
            if len(lines(other / "manifest.jsonl")) == len(shard_files(out)):
                break
    assert calls >= len(shard_files(out))
    monkeypatch.setattr(Engine, "run", run)
    shard_files(other)[2].unlink()
    shard_files(other)[3].write_text("damaged")
    summary = parse_corpus(model, corpus, other, shard_words=300)
    assert summary.parsed == 2 and summary.complete_before == summary.shards - 2
    assert union(other) == union(out)
    assert parse_corpus(model, corpus, other, shard_words=300).parsed == 0


def test_rejected_documents_and_failed_shards(tmp_path, model, corpus, monkeypatch):
    (corpus / "a.txt").write_bytes(b"A good one.\n\xff\n" + b"word " * 300 + b"\nAnother one.\n")
    (corpus / "c.jsonl.gz").write_bytes(b"no gzip")
    out = tmp_path / "out"
    summary = parse_corpus(model, corpus, out)
    assert (summary.documents, summary.rejected, summary.failed, summary.parsed) == (43, 1, 1, 2)
    assert summary.notes == 1
    assert [line["id"] for line in lines(out / "rejected.jsonl")] == ["a.txt:12", "a.txt:14"]
    (line,) = lines(out / "failed.jsonl")
    assert "the compressed data is damaged" in line["reason"] and line["input"].endswith("c.jsonl.gz")
    again = parse_corpus(model, corpus, out)
    assert again.failed == 1 and again.parsed == 0 and len(lines(out / "rejected.jsonl")) == 2


def test_an_input_that_can_be_read_later(tmp_path, model, corpus, monkeypatch):
    from spacy_mindroot.corpora import worker

    out, read = tmp_path / "out", worker.read_shard

    def fails(shard, columns, vocab):
        if shard.format == "jsonl":
            raise UnreadableInputError("not now")
        return read(shard, columns, vocab)

    monkeypatch.setattr(worker, "read_shard", fails)
    assert parse_corpus(model, corpus, out).failed == 1
    monkeypatch.setattr(worker, "read_shard", read)
    summary = parse_corpus(model, corpus, out)
    assert (summary.failed, summary.parsed, summary.complete_before) == (0, 1, 1)
    assert not (out / "failed.jsonl").exists()


def test_another_model_other_input_or_other_settings(whole, corpus, model, tmp_path):
    out, _ = whole
    before = union(out)
    other = make_model(tmp_path / "other", seed=1)
    arguments = {"model": model, "inputs": corpus, "out": out, "shard_words": 300}
    for change, message in [
        ({"model": other}, "parses of another pipeline: files of the model"),
        ({"inputs": corpus / "a.txt"}, "other input: 2 files then, 1 now; b.jsonl.gz is missing"),
        ({"format": "jsonl"}, "begun with format = 'conllu', and this run has 'jsonl'"),
        ({"shard_words": 301}, "shard_words = 300"),
        ({"id_column": "x"}, "columns = text 'text', id None"),
        ({"confidence": True}, "confidence = False"),
    ]:
        with pytest.raises(CorpusError, match=message):
            parse_corpus(**(arguments | change))
    assert union(out) == before
    parse_corpus(**(arguments | {"model": other, "force": True}))
    assert union(out) != before
    (corpus / "a.txt").write_text("Changed.\n")
    with pytest.raises(CorpusError, match="a.txt has changed"):
        parse_corpus(**(arguments | {"model": other}))


def test_a_corpus_and_a_model_that_have_moved(whole, corpus, model, tmp_path):
    out, _ = whole
    shard_files(out)[0].unlink()
    shutil.copytree(model, tmp_path / "moved")
    corpus.rename(tmp_path / "elsewhere")
    assert parse_corpus(tmp_path / "moved", tmp_path / "elsewhere", out, shard_words=300).parsed == 1


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"format": "csv"}, CorpusError, "must be one of conllu, conllu.gz, spacy, jsonl, parquet, tokens, relations"),
        ({"shard_words": 0}, CountError, "shard_words is 0"),
        ({"kbest": 0}, CountError, "kbest is 0"),
        ({"kbest": 2, "format": "relations"}, CorpusError, "relations has the best tree of each sentence only"),
        ({"kbest": 2, "format": "tokens"}, CorpusError, "tokens has the best tree of each sentence only"),
        ({"merge": True, "workers": 2}, CorpusError, "neither with workers nor with a client"),
        ({"retries": -1}, CountError, "retries is -1"),
        ({"workers": 0}, CountError, "workers is 0"),
        ({"workers": 1, "client": object()}, CorpusError, "not both"),
        ({"out": "s3://bucket/out"}, CorpusError, "is a URL"),
        ({"out": "IN"}, CorpusError, "is in --out"),
        ({"model": "no-such-model"}, CorpusError, "is not a pipeline"),
    ],
)
def test_what_can_not_be(tmp_path, corpus, model, change, error, message):
    arguments = {"model": model, "inputs": corpus, "out": tmp_path / "out"} | change
    if arguments["out"] == "IN":
        arguments["out"] = corpus
    with pytest.raises(error, match=message):
        parse_corpus(**arguments)


def test_all_outputs_of_all_inputs(tmp_path, model, corpus):
    """As many documents, whatever they come from and go to."""
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"text": texts(10), "id": list(map(str, range(10)))}), corpus / "c.parquet")
    parse_corpus(model, corpus / "c.parquet", tmp_path / "docs", format="spacy")
    shutil.copy(shard_files(tmp_path / "docs")[0], corpus / "d.spacy")
    for format in ("conllu", "conllu.gz", "spacy", "jsonl", "parquet", "tokens", "relations"):
        kbest = 1 if format in ("tokens", "relations") else 2
        summary = parse_corpus(model, corpus, tmp_path / format, format=format, confidence=True, kbest=kbest)
        assert summary.documents == 180 and summary.rejected == 0
        ending = {"tokens": ".tokens.parquet", "relations": ".relations.tsv"}.get(format, f".{format}")
        assert all(path.name.endswith(ending) for path in shard_files(tmp_path / format))


def test_only_documents_with_a_value(tmp_path, model):
    rows = [{"text": text, "lang": "en" if k % 3 else "nl"} for k, text in enumerate(texts(30))]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    summary = parse_corpus(model, tmp_path / "a.jsonl", tmp_path / "out", where={"lang": "nl"}, format="jsonl")
    found = [json.loads(line) for line in union(tmp_path / "out").splitlines()]
    assert [own["text"] for own in found] == texts(30)[::3] and summary.documents == 10 and summary.rejected == 0
    assert [own["meta"] for own in found] == [{"lang": "nl"}] * 10
    with pytest.raises(CorpusError, match="begun with"):
        parse_corpus(model, tmp_path / "a.jsonl", tmp_path / "out", where={"lang": "en"}, format="jsonl")
    assert (
        parse_corpus(
            model, tmp_path / "a.jsonl", tmp_path / "out", where={"lang": "nl"}, format="jsonl"
        ).complete_before
        == 1
    )
    pairs = [("lang", "en"), ("a", "1")]
    assert Columns(where=tuple(pairs)) == Columns(where=tuple(reversed(pairs)))  # the same settings
    (tmp_path / "b.txt").write_text("A text.\n")
    with pytest.raises(CorpusError, match="b.txt has none"):
        parse_corpus(model, [tmp_path / "a.jsonl", tmp_path / "b.txt"], tmp_path / "other", where={"lang": "nl"})


@pytest.mark.parametrize("name, package", [("a.parquet", "pyarrow"), ("a.warc", "fastwarc"), ("a.txt.zst", ZSTD)])
def test_a_package_that_is_missing_is_named_before_any_shard(name, package, tmp_path, monkeypatch):
    (tmp_path / name).write_bytes(b"something")
    for module in [own for own in sys.modules if own == package or own.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CorpusError, match="pip install 'spacy-mindroot"):
        parse_corpus("no model", tmp_path / name, tmp_path / "out")


@pytest.mark.parametrize(
    "name, columns, message",
    [
        ("a.warc", {"id_column": "url"}, "are for JSON lines and Parquet"),
        ("a.conllu", {"text_column": "body"}, "are for JSON lines and Parquet"),
        ("a.jsonl", {"paragraphs": True}, "is for .txt files"),
    ],
)
def test_options_that_no_file_heeds(name, columns, message, tmp_path):
    (tmp_path / name).write_bytes(b"something")
    with pytest.raises(CorpusError, match=message):
        parse_corpus("no model", tmp_path / name, tmp_path / "out", **columns)


def test_relations_of_all_shards_add_up(tmp_path, model, corpus):
    parse_corpus(model, corpus, tmp_path / "trees", shard_words=200)
    parse_corpus(model, corpus, tmp_path / "counts", shard_words=200, format="relations")
    wanted, found = Counter(), Counter()
    for sentence in (each for path in shard_files(tmp_path / "trees") for each in read_conllu(path)):
        words = ["ROOT", *sentence.column(1)]
        pairs = zip(sentence.heads, sentence.column(7), words[1:], strict=True)
        wanted.update((words[head], label, word) for head, label, word in pairs)
    for path in shard_files(tmp_path / "counts"):
        lines_of_shard = path.read_bytes().splitlines()
        assert lines_of_shard == sorted(lines_of_shard, key=lambda line: line.rpartition(b"\t")[0])
        for line in lines_of_shard:
            *relation, count = line.decode().split("\t")
            found[tuple(relation)] += int(count)
    assert found == wanted and len(shard_files(tmp_path / "counts")) > 2


def test_the_expected_uas_of_a_shard_is_the_mean_probability(tmp_path, model, corpus):
    parse_corpus(model, corpus, tmp_path / "out", shard_words=200, confidence=True)
    parse_corpus(model, corpus, tmp_path / "counts", shard_words=200, confidence=True, format="relations")
    for line, other in zip(*(lines(tmp_path / name / "manifest.jsonl") for name in ("out", "counts")), strict=True):
        text = (tmp_path / "out" / line["output"]).read_text("utf8")
        probs = [float(prob) for prob in re.findall(r"HeadProb=([\d.]+)", text)]
        assert len(probs) == line["words"] and line["expected_uas"] == pytest.approx(sum(probs) / len(probs), abs=1e-4)
        assert other["expected_uas"] == line["expected_uas"]
    parse_corpus(model, corpus, tmp_path / "plain", shard_words=200)
    assert all("expected_uas" not in line for line in lines(tmp_path / "plain" / "manifest.jsonl"))


def test_progress_and_summary(tmp_path, model, corpus, capsys, monkeypatch):
    monkeypatch.setattr("spacy_mindroot.corpora.parse._LINE_SECONDS", 0)
    summary = parse_corpus(model, str(corpus), str(tmp_path / "out"), shard_words=300, progress=True)
    shown = capsys.readouterr().err.splitlines()
    assert shown[-1].startswith("100%") and f"{summary.words:,} words" in shown[-1]
    assert isinstance(summary, ParseSummary) and parse.parse_corpus is parse_corpus


def test_a_worker_with_another_pipeline_stops_the_run(tmp_path, model, corpus, monkeypatch):
    from spacy_mindroot.corpora import engine

    parse_shard = engine.parse_shard

    def other(job):
        record = parse_shard(job)
        record.mismatch = "model: a and b"
        return record

    monkeypatch.setattr(engine, "parse_shard", other)
    with pytest.raises(CorpusError, match="has another pipeline than this run: model: a and b"):
        parse_corpus(model, corpus, tmp_path / "out")


def test_workers_in_another_folder_find_the_model(tmp_path, model, corpus, monkeypatch):
    from spacy_mindroot.corpora import engine, pipelines

    parse_shard = engine.parse_shard

    def elsewhere(job):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(pipelines, "_pipelines", {})  # another process has loaded none
        return parse_shard(job)

    monkeypatch.setattr(engine, "parse_shard", elsewhere)
    monkeypatch.chdir(model.parent)
    summary = parse_corpus(model.name, corpus, tmp_path / "out")
    assert (summary.failed, summary.parsed) == (0, 2)


def test_facts_of_the_first_worker(tmp_path, model, corpus, monkeypatch):
    from dataclasses import replace

    from spacy_mindroot.corpora.jobs import Settings
    from spacy_mindroot.corpora.worker import identify

    warned = []

    class Elsewhere(Engine):
        def identify(self, *arguments):
            return replace(identify(*arguments), **self.change)

    engine = Elsewhere()
    engine.change = {"sees_output": False}
    with pytest.raises(CorpusError, match="does not see"):
        parse.run_parse(engine, str(model), [str(corpus)], tmp_path / "out", Settings())
    engine.change = {"malloc_trim": True}
    parse.run_parse(engine, str(model), [str(corpus)], tmp_path / "out", Settings(), warn=warned.append)
    assert "MALLOC_TRIM_THRESHOLD_" in warned[0]
    with OutputFolder(tmp_path / "out") as folder:
        assert folder.begun


class Clock:
    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    own = Clock()
    monkeypatch.setattr(parse, "time", own)
    return own


def test_a_line_a_minute_where_there_is_no_terminal(clock, capsys):
    summary = ParseSummary(shards=10, complete_before=5)
    progress = Progress(summary, 1000, 500)
    for second in range(0, 150, 10):
        clock.now = second
        summary.words, progress.done_size = second * 100, 500 + second
        progress.update(1)
    progress.close()
    first, second = capsys.readouterr().err.splitlines()
    assert first == " 56%  6,000 words, 100 words/s, 1 worker, 5 of 10 shards, 07:20 left"
    assert second.startswith(" 62%  12,000 words")


def test_failures_are_shown():
    progress = Progress(ParseSummary(shards=2, rejected=3, failed=1), 10)
    line = progress.line(2)
    assert line.endswith("2 workers, 1 of 2 shards, 3 rejected, 1 failed")


def test_a_bar_on_a_terminal(monkeypatch):
    summary, stream = ParseSummary(shards=2), Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    progress = Progress(summary, 100)
    progress.done_size, summary.words = 50, 1234
    progress.update(1)
    progress.close()
    assert " 50%|" in stream.getvalue() and "1,234 words" in stream.getvalue()


def test_nothing_if_nothing_is_wanted(clock, capsys):
    progress = Progress(ParseSummary(), shown=False)
    clock.now = 1000
    progress.update(1)
    progress.close()
    assert capsys.readouterr().err == ""
    progress = Progress(ParseSummary())
    clock.now = 2000
    progress.update(1)
    assert capsys.readouterr().err.startswith("100%")
