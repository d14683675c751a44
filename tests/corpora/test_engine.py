"""Shards on a Dask cluster: workers that die, and a command that is killed."""

import os
import random
import signal
import subprocess
import time

import pytest
from corpora_helpers import command, environment, lines, make_model, make_trouble, run, shard_files, texts, union
from spacy.cli import app
from typer.testing import CliRunner

from spacy_mindroot.corpora import parse_corpus
from spacy_mindroot.corpora.engine import DaskEngine, Engine, local_client, open_engine, remote_client
from spacy_mindroot.corpora.jobs import Job, Record, Settings
from spacy_mindroot.corpora.output import OutputError
from spacy_mindroot.corpora.shards import Shard
from spacy_mindroot.errors import CorpusError

dask = pytest.importorskip("dask", reason="clusters need the extra `dask`")
distributed = pytest.importorskip("distributed", reason="clusters need the extra `dask`")
psutil = pytest.importorskip("psutil", reason="clusters need the extra `dask`")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask, about its own


@pytest.fixture(scope="module")
def client():
    with local_client(2, 1) as found:
        yield found


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A pipeline that takes its time with some documents, or kills its process; and the environment that it needs."""
    folder = tmp_path_factory.mktemp("slow")
    site = make_trouble(folder / "site")
    return make_model(folder / "model", trouble=site), environment(site)


def write(path, documents):
    path.write_text("\n".join(documents) + "\n")
    return path


def test_the_same_as_in_one_process(client, model, tmp_path):
    corpus = write(tmp_path / "a.txt", texts(200))
    parse_corpus(model, corpus, tmp_path / "one", shard_words=200)
    summary = parse_corpus(model, corpus, tmp_path / "two", shard_words=200, client=client)
    assert union(tmp_path / "one") == union(tmp_path / "two")
    assert summary.parsed == summary.shards > 10 and 1 <= len(summary.workers) <= 2
    assert parse_corpus(model, corpus, tmp_path / "two", shard_words=200, client=client).parsed == 0


def test_workers_have_one_thread_and_free_no_memory_too_eagerly(client):
    for found in client.run(lambda: dict(os.environ)).values():
        assert "MALLOC_TRIM_THRESHOLD_" not in found
        assert found["OMP_NUM_THREADS"] == found["OPENBLAS_NUM_THREADS"] == "1"
    assert set(client.run(lambda: signal.getsignal(signal.SIGINT)).values()) == {signal.SIG_IGN}
    assert set(client.nthreads().values()) == {1}


def test_a_worker_that_is_slow_to_come_back_is_not_given_up(client):
    """Dask closes it if it has died and is not back after this time. Without any worker, the command never ends."""
    assert dask.utils.parse_timedelta(dask.config.get("distributed.deploy.lost-worker-timeout")) > 10**6  # seconds


def test_at_most_two_shards_per_worker_are_ahead(client, model, tmp_path):
    taken = []

    class Counting(DaskEngine):
        def run(self, jobs, tick):
            def counted():
                for job in jobs:
                    taken.append(job)
                    yield job

            for done, outcome in enumerate(super().run(counted(), tick)):
                assert len(taken) - done <= 2 * max(1, self.workers), done
                yield outcome

    from spacy_mindroot.corpora.parse import run_parse

    corpus = write(tmp_path / "a.txt", texts(100))
    run_parse(Counting(client), str(model), [str(corpus)], tmp_path / "out", Settings(shard_words=100))
    assert len(taken) == len(shard_files(tmp_path / "out"))


def test_by_address(client, model, tmp_path):
    corpus = write(tmp_path / "a.txt", texts(20))
    out = tmp_path / "out"
    arguments = [model, corpus, "-o", out, "--scheduler", client.scheduler.address, "--metrics", tmp_path / "m.json"]
    done = CliRunner().invoke(app, ["mindroot", "parse", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    assert lines(out / "manifest.jsonl")[0]["documents"] == 20 and (tmp_path / "m.json").exists()


def test_no_scheduler_there(monkeypatch):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(CorpusError, match="There is no Dask scheduler"),
        remote_client("tcp://127.0.0.1:9"),
    ):
        pass


def test_without_dask_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(CorpusError, match=r"spacy-mindroot\[dask\]"), local_client(1, 1):
        pass


def test_output_that_can_not_be_written_ends_the_run(client, model, tmp_path):
    out = tmp_path / "out"
    shards = [Shard(f"{k:06}.000000", "/no/a.txt", "text", False, 0, 1, 1) for k in range(3)]
    jobs = [Job(shard, str(model), Settings(), str(out), "x.conllu", None) for shard in shards]
    for engine in (DaskEngine(client, 0), Engine()):
        with pytest.raises(OutputError, match="All workers need this folder"):
            list(engine.run(jobs, lambda: None))


def test_input_that_can_not_be_read_fails_alone(client, model, tmp_path):
    pytest.importorskip("fsspec")
    corpus = tmp_path / "in"
    corpus.mkdir()
    (corpus / "a.txt.gz").write_bytes(b"no gzip")
    write(corpus / "b.txt", texts(5))
    for number, found in enumerate([None, client]):
        out = tmp_path / str(number)
        summary = parse_corpus(model, corpus, out, client=found)
        assert (summary.failed, summary.documents) == (1, 5)
        assert "damaged" in lines(out / "failed.jsonl")[0]["reason"]


def test_a_pipeline_that_a_worker_can_not_load(client, tmp_path):
    with pytest.raises(CorpusError, match="no-such-pipeline is not a pipeline that spaCy can load"):
        DaskEngine(client, 0).identify("no-such-pipeline", Settings(), str(tmp_path))
    with pytest.raises(
        CorpusError, match=r"A worker can't load 3 \(AttributeError\).*All workers need the same packages"
    ):
        DaskEngine(client, 0).identify(3, None, str(tmp_path))


def test_whatever_goes_wrong_with_one_shard_the_others_are_parsed(model, tmp_path, monkeypatch):
    from spacy_mindroot.corpora import engine

    parse_shard = engine.parse_shard

    def fails(job):
        if job.shard.start:
            return parse_shard(job)
        raise RuntimeError("never seen before")

    monkeypatch.setattr(engine, "parse_shard", fails)
    summary = parse_corpus(model, write(tmp_path / "a.txt", texts(40)), tmp_path / "out", shard_words=100)
    assert summary.failed == 1 and summary.parsed == summary.shards - 1 > 1
    assert lines(tmp_path / "out/failed.jsonl")[0]["reason"] == "RuntimeError: never seen before"


def test_a_lost_connection(client, model):
    class Lost:
        status = "closed"

    with pytest.raises(CorpusError, match="connection to Dask's scheduler is lost"):
        DaskEngine(Lost()).run([], lambda: None).__next__()


def test_a_shard_that_kills_its_worker(slow, tmp_path):
    model, env = slow
    documents = texts(60)
    corpus = write(tmp_path / "a.txt", [*documents[:30], "This is POISON.", *documents[30:]])
    out = tmp_path / "out"
    arguments = (model, corpus, "-o", out, "--shard-words", 200, "--workers", 1, "--retries", 0)
    done = run(*arguments, env=env)
    assert done.returncode == 1 and "1 shard failed" in done.stderr
    (failed,) = lines(out / "failed.jsonl")
    assert failed["start"] <= corpus.read_text().index("This is POISON") < failed["stop"]
    assert failed["reason"] == "its worker died 1 time in a row, perhaps for lack of memory"
    complete = lines(out / "manifest.jsonl")
    assert len(complete) > 2 and failed["shard"] not in {line["shard"] for line in complete}


def kill_a_worker(command_pid, rng):
    """Kill a process that parses: a child of a child would be one of spaCy's."""
    children = psutil.Process(command_pid).children(recursive=True)
    workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    if workers:
        os.kill(rng.choice(workers).pid, signal.SIGKILL)


def test_kill_a_worker_and_kill_the_command(slow, tmp_path):
    """The same bytes as from an undisturbed run, and no shard twice but those that were being parsed."""
    model, env = slow
    corpus = write(tmp_path / "a.txt", [f"{text} SLOW" for text in texts(40)])
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert run(model, corpus, "-o", whole, "--shard-words", 60, env=env).returncode == 0
    arguments = command(model, corpus, "-o", out, "--shard-words", 60, "--workers", 1, "--retries", 9)
    rng = random.Random(1)
    for kill in ("worker", "command", None):
        process = subprocess.Popen(
            arguments, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        before = len(shard_files(out)) if out.exists() else 0
        if kill is not None:
            while len(shard_files(out)) < before + 2 if out.exists() else True:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.05)
            if kill == "worker":
                kill_a_worker(process.pid, rng)
            else:
                process.kill()
        if kill != "command":
            _, errors = process.communicate(timeout=600)
            assert process.returncode == 0, errors
            if kill == "worker":
                assert union(out) == union(whole)
                for path in shard_files(out)[3:]:  # as if the command had been killed before
                    path.unlink()
        process.wait()
        process.stderr.close()
    assert union(out) == union(whole)
    assert [line["sha256"] for line in lines(out / "manifest.jsonl")] == [
        line["sha256"] for line in lines(whole / "manifest.jsonl")
    ]


def test_an_interruption_can_be_resumed(slow, tmp_path):
    model, env = slow
    corpus = write(tmp_path / "a.txt", [f"{text} SLOW" for text in texts(30)])
    out = tmp_path / "out"
    arguments = (model, corpus, "-o", out, "--shard-words", 60)
    process = subprocess.Popen(
        command(*arguments, "--workers", 1), env=env, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (out.exists() and shard_files(out)):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    assert errors.strip() == "Interrupted. What is complete stays; run the same command again to parse the rest."
    done = run(*arguments, env=env)
    assert done.returncode == 0
    assert len(shard_files(out)) == len(lines(out / "manifest.jsonl"))


def test_records_go_through_dask(client):
    """Counts only: small, whatever the shard was."""
    record = Record("a", "b", "c", 0, 1)
    assert client.submit(lambda: record).result() == record


def test_one_engine_is_opened():
    with open_engine() as engine:
        assert type(engine) is Engine
    with open_engine(client="theirs", retries=0) as engine:
        assert isinstance(engine, DaskEngine) and engine.client == "theirs" and engine.retries == 0
    for named in ({"workers": 1, "scheduler": "tcp://h:1"}, {"scheduler": "tcp://h:1", "client": "theirs"}):
        with pytest.raises(CorpusError, match="not both"), open_engine(**named):
            pass
