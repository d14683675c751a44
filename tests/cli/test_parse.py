"""`spacy mindroot parse`: messages, exit status, and the state of the folder after whatever goes wrong."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from corpora_helpers import command, environment, lines, make_model, shard_files, texts, union
from spacy.cli import app
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(texts(60)) + "\n")
    return path


def invoke(*args):
    return CliRunner().invoke(app, ["mindroot", "parse", *map(str, args)])


def test_a_table_and_the_metrics(model, corpus, tmp_path):
    found = invoke(model, corpus, "-o", tmp_path / "out", "--shard-words", 200, "--metrics", tmp_path / "m.json")
    assert found.exit_code == 0, found.output
    rows = dict(
        line.rsplit(None, 1) for line in found.stdout.splitlines() if line.strip() and not line.startswith("Time")
    )
    assert rows["Documents"] == "60" and rows["Rejected documents"] == rows["Failed shards"] == "0"
    metrics = json.loads((tmp_path / "m.json").read_text())
    assert metrics["words"] == int(rows["Words"]) and metrics["shards"] == int(rows["Shards"]) > 2
    again = invoke(model, corpus, "-o", tmp_path / "out", "--shard-words", 200)
    assert again.exit_code == 0 and "Words per second" not in again.stdout


def test_all_options_reach_the_run(model, tmp_path):
    rows = [{"key": "k1", "body": "A cat sleeps.\nIt dreams."}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = ["--text-column", "body", "--id-column", "key", "--format", "jsonl", "--confidence", "--kbest", 2]
    assert invoke(model, tmp_path / "a.jsonl", "-o", tmp_path / "out", *options).exit_code == 0
    (line,) = map(json.loads, union(tmp_path / "out").splitlines())
    assert line["id"] == "k1" and len(line["sentences"][0]["trees"]) == 2 and "head_prob" in line["sentences"][0]
    (tmp_path / "b.txt").write_text("A cat\nsleeps.\n\nIt dreams.\n")
    assert invoke(model, tmp_path / "b.txt", "-o", tmp_path / "two", "--paragraphs").exit_code == 0
    assert lines(tmp_path / "two/manifest.jsonl")[0]["documents"] == 2


def test_parts_counts_and_columns(model, tmp_path):
    rows = [{"text": text, "lang": "en" if k % 2 else "nl"} for k, text in enumerate(texts(80))]
    corpus = tmp_path / "a.jsonl"
    corpus.write_text("\n".join(map(json.dumps, rows)))
    options = ["--shard-words", 200, "--where", "lang=en", "--count", "relations"]
    assert invoke(model, corpus, "-o", tmp_path / "whole", *options).exit_code == 0
    for part in ("1/2", "2/2"):
        assert invoke(model, corpus, "-o", tmp_path / "out", "--part", part, *options).exit_code == 0
    assert invoke(model, corpus, "-o", tmp_path / "out", "--merge", *options).exit_code == 0
    assert union(tmp_path / "out") == union(tmp_path / "whole") != b""
    for wrong, message in (
        (["--where", "lang"], "NAME=VALUE"),
        (["--count", "relations", "--format", "jsonl"], "Choose one"),
        (["--part", "3/2"], "17/1000"),
        (["--part", "1/2", "--merge"], "--merge"),
    ):
        found = invoke(model, corpus, "-o", tmp_path / "wrong", *wrong)
        assert found.exit_code in (1, 2) and message in " ".join(found.stderr.split()), found.stderr
        assert not (tmp_path / "wrong").exists()


def test_shards_that_drift_are_named(model, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_mindroot.corpora.drift._LEAST_WORDS", 1)
    monkeypatch.setattr("spacy_mindroot.corpora.drift._LEAST", 0.0)
    monkeypatch.setattr("spacy_mindroot.corpora.drift._DEVIATIONS", 1)
    found = invoke(
        *(model, corpus, "-o", tmp_path / "out", "--shard-words", 50, "--confidence", "--metrics", tmp_path / "m.json")
    )
    drifting = json.loads((tmp_path / "m.json").read_text())["drifting"]
    assert drifting and f"{len(drifting)} shards drift from the others" in " ".join(found.stderr.split())
    assert next(iter(drifting)) in found.stderr and found.exit_code == 0


@pytest.mark.parametrize("given, warned", [(["lang=en", "lang=nl"], True), (["lang=no"], True), (["lang=en"], False)])
def test_values_that_no_document_has_are_named(given, warned, model, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "A cat.", "lang": "en"}\n{"text": "Een kat.", "lang": "nl"}\n')
    options = [word for pair in given for word in ("--where", pair)]
    found = invoke(model, tmp_path / "a.jsonl", "-o", tmp_path / "out", *options)
    assert found.exit_code == 0, found.output
    assert (f"no document was parsed that has {' and '.join(given)}" in " ".join(found.stderr.split())) == warned


def test_rejected_documents_are_no_failure(model, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Good.\n\xff\xfe\n")
    found = invoke(model, tmp_path / "a.txt", "-o", tmp_path / "out")
    assert found.exit_code == 0 and "1 document rejected" in found.output and "rejected.jsonl" in found.output


def test_if_all_are_rejected_something_is_wrong(model, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "A"}\n{"text": "B"}\n')
    found = invoke(model, tmp_path / "a.jsonl", "-o", tmp_path / "out", "--text-column", "body")
    assert found.exit_code == 1 and "every document was rejected" in found.output
    assert "has no 'body' (--text-column); has 'text'" in lines(tmp_path / "out/rejected.jsonl")[0]["reason"]


def test_a_failed_shard_is_a_failure(model, corpus, tmp_path):
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"text\n" * 1000)[:-10])
    found = invoke(model, corpus, tmp_path / "b.txt.gz", "-o", tmp_path / "out")
    assert found.exit_code == 1 and "Error: 1 shard failed" in found.output
    assert len(shard_files(tmp_path / "out")) == 1  # nothing of the damaged file
    assert "damaged or incomplete" in lines(tmp_path / "out/failed.jsonl")[0]["reason"]


@pytest.mark.parametrize(
    "args, message",
    [
        (["-w", 1, "--scheduler", "tcp://x:1"], "Choose one of them"),
        (["--merge", "--workers", 2], "neither with --workers nor"),
        (["--merge", "--scheduler", "tcp://x:1"], "neither with --workers nor"),
        (["--format", "csv"], "must be one of conllu"),
        (["--force", "--kbest", 2, "missing.txt"], "there is no such file"),
    ],
)
def test_errors_are_messages(model, corpus, tmp_path, args, message):
    found = invoke(model, corpus, "-o", tmp_path / "out", *args)
    assert found.exit_code == 1 and message in found.output and "Traceback" not in found.output


def test_force_removes_nothing_that_is_not_from_this_command(model, corpus, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifest.json").write_text('{"name": "App", "version": "1.0", "icons": []}')
    (out / "202411.123456.backup.tar").write_text("precious")
    for force in ([], ["--force"]):
        found = invoke(model, corpus, "-o", out, *force)
        assert found.exit_code == 1 and "not from this command" in found.output and "--force" not in found.output
    assert {path.name for path in out.iterdir()} == {"manifest.json", "202411.123456.backup.tar"}


def test_a_document_of_half_a_million_tokens(model, tmp_path):
    (tmp_path / "a.txt").write_text("A cat sleeps.\n" + "a " * 600_000 + "\nIt dreams.\n")
    found = invoke(model, tmp_path / "a.txt", "-o", tmp_path / "out")
    assert found.exit_code == 0
    assert "Warning: 3 notes on texts or sentences that are too long, or empty: see" in found.output
    whole, *parts = lines(tmp_path / "out/rejected.jsonl")
    assert whole["id"] == "a.txt:14" and "has 1,200,000 characters" in whole["reason"]
    assert [line["id"] for line in parts] == [f"a.txt:14-part-{k}" for k in (1, 2)]
    assert all("tokens, max_length is 200: no tree" in line["reason"] and line["kept"] for line in parts)
    assert sum(line["documents"] for line in lines(tmp_path / "out/manifest.jsonl")) == 4


def unprivileged(arguments, **kwargs):
    """Run a command as a user who may not do everything."""
    if os.geteuid() != 0:
        return subprocess.run(arguments, capture_output=True, text=True, check=False, **kwargs)
    if shutil.which("setpriv") is None:
        pytest.skip("root may read and write everything, and there is no setpriv")
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--reuid=0", "--"]
    return subprocess.run([*drop, *arguments], capture_output=True, text=True, check=False, **kwargs)


def test_a_folder_that_can_not_be_written(model, corpus, tmp_path):
    """Before the run, and after its first half: what is complete stays, and a rerun completes it."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    done = unprivileged(command(model, corpus, "-o", closed / "out"))
    assert done.returncode == 1 and "Permission denied" in done.stderr and "Traceback" not in done.stderr
    assert list(closed.iterdir()) == []
    out = tmp_path / "out"
    assert invoke(model, corpus, "-o", out, "--shard-words", 200).exit_code == 0
    whole, removed = union(out), shard_files(out)[2]
    removed.unlink()
    parts = out / ".mindroot/parts"
    shutil.rmtree(parts, ignore_errors=True)
    (out / ".mindroot").chmod(0o555)
    done = unprivileged(command(model, corpus, "-o", out, "--shard-words", 200))
    assert done.returncode == 1 and "Permission denied" in done.stderr
    (out / ".mindroot").chmod(0o755)
    assert invoke(model, corpus, "-o", out, "--shard-words", 200).exit_code == 0
    assert union(out) == whole


def test_a_file_that_can_not_be_read(model, corpus, tmp_path):
    other = tmp_path / "b.txt"
    other.write_text("Text.\n")
    other.chmod(0)
    done = unprivileged(command(model, corpus, other, "-o", tmp_path / "out"))
    assert done.returncode == 1, done.stderr
    (line,) = lines(tmp_path / "out/failed.jsonl")
    assert line["reason"] == f"{other} can't be read: Permission denied."
    assert len(shard_files(tmp_path / "out")) == 1
    other.chmod(0o644)
    found = invoke(model, corpus, other, "-o", tmp_path / "out")
    assert found.exit_code == 0 and not (tmp_path / "out/failed.jsonl").exists()
    assert b"# text = Text.\n" in union(tmp_path / "out")


def test_a_full_disk(model, tmp_path):
    """On a small file system of its own, where that may be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a file system can't be mounted")
    try:
        corpus = tmp_path / "a.txt"
        corpus.write_text("\n".join(texts(300)) + "\n")
        done = invoke(model, corpus, "-o", disk / "out", "--shard-words", 200)
        assert done.exit_code == 1 and "No space left on device. Free some space" in done.output
        complete = lines(disk / "out/manifest.jsonl")
        assert complete and len(shard_files(disk / "out")) == len(complete)
        assert list((disk / "out/.mindroot/parts").iterdir()) == []
        subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
        for out in (disk / "out", tmp_path / "whole"):
            assert invoke(model, corpus, "-o", out, "--shard-words", 200).exit_code == 0
        assert union(disk / "out") == union(tmp_path / "whole")
    finally:
        subprocess.run(["umount", disk], check=True)


def test_from_a_module_that_is_run(model, corpus, tmp_path):
    """Workers import the main module again; nothing may happen then."""
    pytest.importorskip("distributed", reason="clusters need the extra `dask`")
    script = tmp_path / "script.py"
    script.write_text(
        "from spacy_mindroot.corpora import parse_corpus\n"
        "if __name__ == '__main__':\n"
        f"    print(parse_corpus({str(model)!r}, {str(corpus)!r}, 'out', workers=1).documents)\n"
    )
    done = subprocess.run(
        [command()[0], script], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "60\n"), done.stderr


@pytest.fixture
def parsed(model, tmp_path, monkeypatch):
    """A folder with a corpus, a part of it in an archive, a pipeline, and what has been parsed."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(model, "model")
    os.mkdir("in")
    for name in ("in/a.txt", "in/b.txt"):
        with open(name, "w", encoding="utf8") as file:
            file.write("\n".join(texts(2)))
    os.rename(shutil.make_archive("in", "zip", "in"), "in.archive")
    assert invoke("model", "in", "-o", "out").exit_code == 0
    return tmp_path


@pytest.mark.parametrize(
    ("inputs", "metrics", "says"),
    [
        ("in/a.txt", "in/a.txt", "IN and --metrics are the same file"),
        ("in", "in/b.txt", "IN and --metrics are the same file"),
        ("in", "in/new.json", "in IN"),
        ("in/*.txt", "in/b.txt", "IN and --metrics are the same file"),
        ("file://{}/in/*.txt", "in/b.txt", "IN and --metrics are the same file"),
        ("zip://*.txt::file://{}/in.archive", "in.archive", "IN and --metrics are the same file"),
        ("in", "model/meta.json", "in MODEL"),
        ("in", "out/manifest.json", "in --out"),
        ("in", "out/new.json", "in --out"),
        ("in", "other/m.json", "other does not exist"),
    ],
)
def test_metrics_replace_nothing_that_is_read_or_parsed(parsed, inputs, metrics, says):
    before = {path: path.read_bytes() for path in parsed.rglob("*") if path.is_file()}
    result = invoke("model", inputs.format(parsed), "-o", "out", "--metrics", metrics)
    assert result.exit_code in (1, 2) and says in result.output, result.output
    assert {path: path.read_bytes() for path in parsed.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("given", ["in", "file://{}/in", "in/**/*.txt"])
def test_an_output_in_the_input_is_no_input(parsed, given):
    given = given.format(parsed)
    for _ in range(2):  # the second time, it is there
        result = invoke("model", given, "-o", "in/out", "--format", "jsonl")
        assert result.exit_code == 0, result.output
        assert [line["input"] for line in lines("in/out/manifest.jsonl")] == [f"{parsed}/in/{n}.txt" for n in "ab"]
    assert "in/out/" in result.stderr or "**" in given  # which it says
    result = invoke("model", given, "-o", "in/other")
    assert result.exit_code == 0 and union("in/other") == union("out")


def test_a_change_in_the_middle_of_a_large_file_is_another_input(model, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("A cat sleeps.\n" * 8 + "\n" * 200_000 + "A dog sleeps.\n")
    arguments = (model, path, "-o", tmp_path / "out")
    assert invoke(*arguments).exit_code == 0 and invoke(*arguments).exit_code == 0
    with open(path, "r+b") as file:
        file.seek(100_000)
        file.write(b"A")
    result = invoke(*arguments)
    assert result.exit_code == 1 and "a.txt has changed" in result.output


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_read_that_hangs_can_be_interrupted(model, corpus, tmp_path, name):
    """As in a network file system that is gone. It is read in a thread."""
    code = (
        "import runpy, threading\nfrom spacy_mindroot.corpora import shards\n"
        "shards.digest_of = lambda path: (print('reads', flush=True), threading.Event().wait())\n"
        "runpy.run_module('spacy_mindroot', run_name='__main__')\n"
    )
    arguments = [sys.executable, "-W", "ignore", "-c", code, "parse", str(model), str(corpus), "-o", "out"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "reads\n"
            process.send_signal(getattr(signal, name))
            _, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == 128 + getattr(signal, name) and errors.strip().startswith("Interrupted.")
    assert not (tmp_path / "out").exists()


def test_an_archive_is_parsed_as_its_files_are(parsed):
    result = invoke("model", f"zip://*.txt::file://{parsed}/in.archive", "-o", "new")
    assert result.exit_code == 0, result.output
    assert union("new") == union("out") and set(os.listdir("new")) == set(os.listdir("out"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipes_in_a_folder_are_left_out(parsed):
    os.mkfifo("in/c.txt")
    result = invoke("model", "in", "-o", "new")
    assert result.exit_code == 0 and "in/c.txt is left out: it is a pipe" in result.stderr
    assert union("new") == union("out")
