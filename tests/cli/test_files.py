"""Files as all commands read and write them: nothing is lost, nothing is left behind, every error is a message."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from spacy_mindroot.cli.files import made_folders, new_folder, opened_to_read, opened_to_write, outputs
from spacy_mindroot.cli.running import errors_as_messages, raised_signals
from spacy_mindroot.escapes import printable

WRITER = """
import sys, time
from pathlib import Path
from spacy_mindroot.cli.files import outputs
from spacy_mindroot.cli.running import raised_signals
with raised_signals(), outputs() as opened:
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


def test_a_full_device_is_a_message():
    code = (
        "from spacy_mindroot.cli.running import errors_as_messages\nimport typer\n"
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


def test_folders_go_again_after_an_error(tmp_path):
    with made_folders(tmp_path / "a" / "b", tmp_path / "a"):
        pass
    assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(KeyboardInterrupt), made_folders(tmp_path / "a" / "c" / "d", tmp_path / "e"):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["a"] and os.listdir(tmp_path / "a") == ["b"]


def make(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "file").write_text("a")
    (folder / "meta.json").write_text("b")
    (folder / "z").write_text("c")


def tree(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.parametrize("place", ["new", "new/and/deep", "empty", "link", "."])
def test_what_is_made_is_there(tmp_path, monkeypatch, place):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    monkeypatch.chdir(tmp_path / "empty")
    path = tmp_path / place if place != "." else tmp_path / "empty"
    with new_folder(path if place != "." else type(path)(".")) as folder:
        make(folder)
        assert not (path / "meta.json").exists()
    assert tree(path) == {"sub", "sub/file", "meta.json", "z"}


@pytest.mark.parametrize("existed", [True, False])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, "SIGTERM"])
def test_an_error_leaves_nothing(tmp_path, existed, error):
    path = tmp_path / "a" / "b"
    if existed:
        path.mkdir(parents=True)
    before = tree(tmp_path)
    with pytest.raises(SystemExit if error == "SIGTERM" else error), raised_signals(), new_folder(path) as folder:
        make(folder)
        if error == "SIGTERM":
            os.kill(os.getpid(), signal.SIGTERM)
        raise error
    assert tree(tmp_path) == before


@pytest.mark.parametrize("number", range(3))
def test_a_move_that_fails(tmp_path, monkeypatch, number):
    rename, calls = os.rename, []

    def fails(*args):
        calls.append(args)
        if len(calls) > number:
            raise OSError("no")
        rename(*args)

    monkeypatch.setattr("os.rename", fails)
    with pytest.raises(OSError, match="no"), new_folder(tmp_path / "out") as folder:
        make(folder)
    assert calls[-1][1].name == ("sub", "z", "meta.json")[number]  # without meta.json, the rest can't be loaded
    assert tree(tmp_path) == set()
