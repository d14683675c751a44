"""New folders for pipelines."""

import os
import signal

import pytest

from spacy_mindroot.cli.files import PathsError
from spacy_mindroot.cli.folders import check_new_folder, new_folder, refuse_links_out


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


def test_other_folders_are_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / ".hidden").touch()
    with pytest.raises(PathsError, match="--output is .*full, which is not empty"):
        check_new_folder(tmp_path / "full", "--output")
    with pytest.raises(PathsError, match="which is a file"):
        check_new_folder(tmp_path / "full" / ".hidden", "--output")
    check_new_folder(tmp_path / "new", "--output")


@pytest.mark.parametrize("name", ["file", "sub/file", "sub/new/file"])
def test_no_link_is_followed_out_of_a_folder(tmp_path, name):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    out = tmp_path / "link"
    out.symlink_to("out")  # as it is named
    refuse_links_out(out, [out / name])
    (out / "inside").mkdir()
    first = out / name.partition("/")[0]
    first.symlink_to("inside/x" if first.name == "file" else "inside")
    refuse_links_out(out, [out / name])
    first.unlink()
    first.symlink_to("../elsewhere/x" if first.name == "file" else "../elsewhere")
    with pytest.raises(PathsError, match=f"{name} leads out of its folder"):
        refuse_links_out(out, [out / name])


@pytest.mark.parametrize("existed", [True, False])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, "SIGTERM"])
def test_an_error_leaves_nothing(tmp_path, existed, error):
    path = tmp_path / "a" / "b"
    if existed:
        path.mkdir(parents=True)
    before = tree(tmp_path)
    with pytest.raises(SystemExit if error == "SIGTERM" else error), new_folder(path) as folder:
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
