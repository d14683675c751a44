"""Files as all commands read and write them: nothing is lost, nothing is left behind, every error is a message."""

import gzip
import io
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import typer

from spacy_mindroot.cli.files import (
    PathsError,
    check_label,
    check_paths,
    errors_as_messages,
    model_folder,
    opened_to_read,
    opened_to_write,
    outputs,
    printable,
    read_text,
    rules_file,
)
from spacy_mindroot.errors import LabelsError, MindRootError

WRITER = """
import sys, time
from pathlib import Path
from spacy_mindroot.cli.files import outputs
with outputs() as opened:
    with opened(Path(sys.argv[1])) as first:
        first.write(b"half")
        first.flush()
        with opened(Path(sys.argv[2])) as second:
            second.write(b"half")
        print("ready", flush=True)
        time.sleep(60)
"""


def start_writer(folder):
    """A process in the middle of writing one file, with another one complete but not in its place."""
    command = [sys.executable, "-c", WRITER, str(folder / "one.conllu"), str(folder / "two.conllu")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.fixture
def folder(tmp_path):
    """A folder with a file that is about to be replaced."""
    (tmp_path / "one.conllu").write_text("precious")
    return tmp_path


def names(folder):
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_leaves_everything_as_it_was(folder, name):
    process = start_writer(folder)
    assert len(names(folder)) == 3
    process.send_signal(getattr(signal, name))
    _, errors = process.communicate(timeout=600)
    assert names(folder) == ["one.conllu"] and (folder / "one.conllu").read_text() == "precious"
    if name != "SIGINT":  # of which click makes "Aborted!"; here there is no command
        assert process.returncode == 128 + getattr(signal, name) and b"Traceback" not in errors


def test_a_signal_that_is_ignored_stays_ignored(folder):
    """As under nohup."""
    code = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        + WRITER.replace('print("ready", flush=True)', "os.kill(os.getpid(), signal.SIGHUP)")
    ).replace("time.sleep(60)", "pass")
    done = subprocess.run([sys.executable, "-c", code, str(folder / "one.conllu"), str(folder / "two.conllu")])
    assert done.returncode == 0 and names(folder) == ["one.conllu", "two.conllu"]


def test_the_next_run_removes_what_a_killed_process_left(folder):
    process = start_writer(folder)
    process.kill()
    process.communicate(timeout=600)
    left = [name for name in names(folder) if name != "one.conllu"]
    assert len(left) == 2 and all(".mindroot-" in name and name.endswith(".part") for name in left)
    foreign = [".one.conllu.mindroot-x-y.part", ".one.conllu.mindroot-1", ".other.conllu.mindroot-99999999-a.part"]
    for name in foreign:
        (folder / name).touch()
    with opened_to_write(folder / "one.conllu") as file:
        file.write(b"new")
    assert (folder / "one.conllu").read_text() == "new"
    assert [name for name in left if name in names(folder)] == [name for name in left if ".two." in name]
    assert all(name in names(folder) for name in foreign)


def test_what_a_running_process_writes_stays(folder):
    process = start_writer(folder)
    try:
        with opened_to_write(folder / "one.conllu") as file:
            file.write(b"new")
        with opened_to_write(folder / "two.conllu") as file:
            file.write(b"new")
        assert sum(".part" in name for name in names(folder)) == 2
    finally:
        process.kill()
        process.communicate(timeout=600)


def test_what_a_process_on_another_machine_writes_stays(folder, monkeypatch):
    """Its number means nothing here, so that the lock alone protects its file."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "getpid", lambda: 99999999)
        foreign = opened_to_write(folder / "one.conllu")
        foreign.__enter__().write(b"theirs")
    with opened_to_write(folder / "one.conllu") as file:
        file.write(b"ours")
    assert sum(".part" in name for name in names(folder)) == 1
    foreign.__exit__(None, None, None)
    assert (folder / "one.conllu").read_text() == "theirs"


def test_all_outputs_take_their_places_at_once(folder):
    with pytest.raises(ZeroDivisionError), outputs() as opened:
        with opened(folder / "one.conllu") as file:
            file.write(b"new")
        with opened(folder / "two.conllu") as file:
            file.write(b"new")
        1 / 0  # noqa: B018
    assert names(folder) == ["one.conllu"] and (folder / "one.conllu").read_text() == "precious"


def test_a_new_folder_goes_again_after_an_error(folder):
    with pytest.raises(ZeroDivisionError), outputs(folder / "a" / "b") as opened:
        with opened(folder / "a" / "b" / "x") as file:
            file.write(b"new")
        1 / 0  # noqa: B018
    assert names(folder) == ["one.conllu"]
    with outputs(folder / "a" / "b") as opened, opened(folder / "a" / "b" / "x") as file:
        file.write(b"new")
    with pytest.raises(ZeroDivisionError), outputs(folder / "a" / "b"):
        1 / 0  # noqa: B018
    assert (folder / "a" / "b" / "x").read_text() == "new"


def test_outputs_can_be_written_outside_the_main_thread(folder):
    """No signal handlers can be set there."""

    def write():
        with opened_to_write(folder / "one.conllu") as file:
            file.write(b"new")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert (folder / "one.conllu").read_text() == "new"
    before = signal.getsignal(signal.SIGTERM)
    write()
    assert signal.getsignal(signal.SIGTERM) is before


def test_links(folder):
    (folder / "link").symlink_to("one.conllu")
    (folder / "dangling").symlink_to("new.conllu")
    (folder / "loop").symlink_to("loop")
    for name, target in [("link", "one.conllu"), ("dangling", "new.conllu")]:
        with opened_to_write(folder / name) as file:
            file.write(b"text")
        assert (folder / name).is_symlink() and (folder / target).read_text() == "text"
    with pytest.raises(OSError, match="symbolic links"), opened_to_write(folder / "loop"):
        pass
    assert (folder / "loop").is_symlink()


@pytest.mark.parametrize("name", ["a" * 250, "語" * 80, os.fsdecode(b"x\xff" * 60), "with\nnewline", "-dash"])
def test_names_of_all_kinds(tmp_path, name):
    with opened_to_write(tmp_path / name) as file:
        file.write(b"text")
    assert names(tmp_path) == [name]
    printable(tmp_path / name).encode("utf8")


def test_errors_become_messages_that_are_true(folder, capsys):
    def fail(*paths, nothing_written=True):
        messages = errors_as_messages(nothing_written=nothing_written)
        with pytest.raises(typer.Exit) as exit_, messages, outputs() as opened:
            for path in paths:
                with opened(path) as file:
                    file.write(b"text")
            raise OSError("no luck")
        assert exit_.value.exit_code == 1
        return capsys.readouterr().err

    assert fail(nothing_written=False) == "Error: no luck\n"
    assert fail(folder / "x") == "Error: no luck\nNothing was written.\n"
    assert "What was written to /dev/null before that is incomplete" in fail(Path("/dev/null"))
    with pytest.raises(typer.Exit), errors_as_messages(nothing_written=True), outputs() as opened:
        for name in ("first", "second"):
            with opened(folder / name) as file:
                file.write(b"text")
        (folder / "second").mkdir()
    assert "1 of 2 files were written" in capsys.readouterr().err and (folder / "first").exists()


def test_what_is_in_its_place_has_been_written(folder, capsys):
    for names, says in ((["a"], f"{folder / 'a'} was written before that."), (["b", "c"], "2 files were written")):
        with pytest.raises(typer.Exit), errors_as_messages(nothing_written=True):
            with outputs() as opened:
                for name in names:
                    with opened(folder / name) as file:
                        file.write(b"text")
            raise OSError("the table can't be printed")
        assert says in (message := capsys.readouterr().err) and "Nothing" not in message
    with pytest.raises(typer.Exit), errors_as_messages(nothing_written=True):
        raise OSError("of the next command")
    assert "Nothing was written." in capsys.readouterr().err


def test_not_enough_memory_is_a_message(capsys):
    with pytest.raises(typer.Exit), errors_as_messages():
        raise MemoryError
    assert capsys.readouterr().err == "Error: not enough memory.\n"


def test_standard_streams_that_are_closed(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(OSError, match="standard input is closed"), opened_to_read(Path("-")):
        pass
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError, match="standard output is closed"), opened_to_write(Path("-")):
        pass
    with errors_as_messages():
        typer.echo("into nowhere")


@pytest.fixture
def places(folder, monkeypatch):
    """A corpus with links out of it, links to it, and a file that it has nothing to do with."""
    monkeypatch.chdir(folder)
    for name in ("corpus/sub", "real", "other"):
        Path(name).mkdir(parents=True)
    for name in ("corpus/a", "corpus/sub/b", "real/c", "free"):
        Path(name).touch()
    os.symlink("../real/c", "corpus/soft")
    os.symlink("../real", "corpus/folder")
    os.symlink("..", "corpus/sub/loop")
    os.symlink("corpus", "link")
    os.symlink("loop", "loop")
    os.link("corpus/sub/b", "hard")


@pytest.mark.parametrize(
    ("read", "written", "says"),
    [
        ("one.conllu", "one.conllu", "CORPUS and --out are the same file"),
        ("one.conllu", "other/../one.conllu", "CORPUS and --out are the same file"),
        ("link", "corpus", "CORPUS and --out are the same folder"),
        ("corpus/sub/b", "hard", "CORPUS and --out are the same file"),
        ("corpus", "corpus/a", "--out is corpus/a, in CORPUS, a folder that this command reads"),
        ("corpus", "corpus/new", "in CORPUS"),
        ("corpus", "link/sub/new/new", "in CORPUS"),
        ("link", "corpus/new", "in CORPUS"),
        (".", "free", "in CORPUS"),
        ("corpus", "hard", "the same file as corpus/sub/b, which is read"),
        ("corpus", "real/c", "the same file as corpus/folder/c, which is read"),
        ("corpus/a", "corpus", "CORPUS is corpus/a, in --out, a folder to write"),
        ("corpus", ".", "CORPUS is corpus, in --out, a folder to write"),
        ("new", "new/new", "in CORPUS"),  # a folder that another command makes meanwhile
        ("free", "nowhere/new", "--out is nowhere/new, but the folder nowhere does not exist"),
        ("corpus", "free/new", "--out is free/new, but free is not a folder"),
        ("corpus", "free", None),
        ("corpus", "real/new", None),
        ("corpus", "corpus/folder/new", None),  # which leads out of it
        ("-", "-", None),
        (None, "new", None),
        ("corpus", None, None),
        ("/dev/null", "/dev/null", None),
        ("one.conllu", "loop", None),  # opening it says what is wrong
    ],
)
def test_what_is_read_is_not_written(read, written, says, places):
    for reads, writes in ((read, written), (["/dev/null", read], [written]), ([read], {written: 0})):
        if says is None:
            check_paths({"CORPUS": reads}, {"--out": writes})
            continue
        with pytest.raises(PathsError) as caught:
            check_paths({"CORPUS": reads}, {"--out": writes})
        assert says in str(caught.value)


def test_nothing_is_written_twice(places):
    for paths, says in (
        (("new", "./new"), "OUT and --report are the same file"),
        (("link/new", "corpus/new"), "OUT and --report are the same file"),
        (("hard", "corpus/sub/b"), "OUT and --report are the same file"),
        (("-", "-"), "OUT and --report are both standard output"),
        (([Path("new"), Path("other/../new")], None), "new would be written twice"),
    ):
        with pytest.raises(PathsError, match=says):
            check_paths({}, {"OUT": paths[0], "--report": paths[1]})
    check_paths({}, {"OUT": "new", "--report": "new2"})
    check_paths({}, {"OUT": "/dev/null", "--report": "/dev/null"})
    check_paths({}, {"OUT": "nowhere/new"}, made="OUT")
    with pytest.raises(PathsError, match="OUT is free/new/new, but free is not a folder"):
        check_paths({}, {"OUT": "free/new/new"}, made="OUT")


def test_what_is_read_for_a_model_and_for_rules(tmp_path, monkeypatch):
    package = tmp_path / "xx_mine"
    package.mkdir()
    (package / "__init__.py").touch()
    (tmp_path / "xx_mine-1.0.dist-info").mkdir()
    (tmp_path / "xx_mine-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: xx_mine\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert model_folder("xx_mine") == package and model_folder("folder/model") == Path("folder/model")
    assert rules_file("folder/rules.json") == "folder/rules.json" and rules_file("ud") is rules_file(None) is None


@pytest.mark.parametrize("label", ["", "_", "a b", "root", "ROOT", "root:x"])
def test_labels_of_demoted_roots(label):
    with pytest.raises(LabelsError, match="--demoted-label"):
        check_label(label)
    check_label("parataxis")
    check_label(None)


def test_a_full_device_is_a_message():
    code = (
        "from spacy_mindroot.cli.files import errors_as_messages\nimport typer\n"
        "with errors_as_messages(): print('x' * 10)"
    )
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True)
    assert "No space left" in done.stderr and "Exception ignored" not in done.stderr


def test_reading_gives_bytes(tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"\xff")
    with opened_to_read(tmp_path / "x") as file:
        assert file.read() == b"\xff"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"abc")))
    with opened_to_read(Path("-")) as file:
        assert file.read() == b"abc"


def test_the_folder_of_an_output_must_exist(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="nowhere: there is no such folder to write a.conllu to") as raised,
        opened_to_write(tmp_path / "nowhere" / "a.conllu"),
    ):
        pass
    assert ".part" not in str(raised.value)


def test_text_of_a_file(tmp_path):
    path = tmp_path / "a.txt"
    for content in ("Größe\n".encode(), "\ufeffGröße\n".encode(), gzip.compress("Größe\n".encode())):
        path.write_bytes(content)
        assert read_text(path) == "Größe\n"
    for content, message in (
        (b"a\nb\xff", "line 2 is not UTF-8: it has the byte 0xff"),
        ("a".encode("utf-16"), "UTF-16"),
        (b"ab\x00", "binary"),
    ):
        path.write_bytes(content)
        with pytest.raises(MindRootError, match=message):
            read_text(path)
