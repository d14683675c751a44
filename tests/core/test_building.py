"""Messages of a build that can't work. The message of an import afterwards is in `test_missing_extension`."""

import os
import shutil
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for Microsoft's compiler in places of its own")
def test_without_a_compiler(checkout, tmp_path):
    pytest.importorskip("Cython")
    if not (checkout / "setup.py").exists():
        pytest.skip("no checkout")
    for name in ("setup.py", "setup.cfg", "README.md", "LICENSE"):
        shutil.copy(checkout / name, tmp_path)
    shutil.copytree(
        checkout / "spacy_mindroot", tmp_path / "spacy_mindroot", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    build = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=tmp_path,
        env={**os.environ, "CC": "no-such-compiler", "CXX": "no-such-compiler", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert build.returncode != 0
    last = build.stderr.strip().splitlines()[-1]
    assert last.startswith("error: ") and "C++17 compiler" in last and "no-such-compiler" in last
    assert "Traceback" not in build.stderr
