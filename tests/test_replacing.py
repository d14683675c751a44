"""Files that appear under their names only when they are complete. Killed processes: see `cli/test_files.py`."""

import errno
import os

import pytest

from spacy_mindroot.replacing import replacing


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old" and len(os.listdir(tmp_path)) == 2
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"half")
        1 / 0  # noqa: B018
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["a"]


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "a"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_links_are_followed_and_devices_written_to(tmp_path):
    (tmp_path / "link").symlink_to("a")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a").read_bytes() == b"new"
    (tmp_path / "null").symlink_to("/dev/null")
    with replacing(tmp_path / "null") as file:
        file.write(b"new")
        file.seek(0)
    assert (tmp_path / "null").is_symlink() and not os.path.isfile("/dev/null")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"), replacing(tmp_path / "loop"):
        pass


@pytest.mark.parametrize(("name", "code"), [("file/a", errno.ENOTDIR), ("b", errno.EISDIR)])
def test_errors_name_the_file_and_not_its_temporary_name(name, code, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError) as caught, replacing(tmp_path / name):
        pass
    assert caught.value.errno == code and caught.value.filename == str(tmp_path / name)
    with (
        pytest.raises(FileNotFoundError, match="no: there is no such folder to write a to"),
        replacing(tmp_path / "no/a"),
    ):
        pass
