"""Without the compiled core nothing runs slowly in secret: importing says how to build it."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("extension", ["_core", "_inference"])
def test_import_says_how_to_build(extension, tmp_path):
    script = (
        f"import sys; sys.modules['spacy_mindroot.core.{extension}'] = None\n"
        "try:\n    import spacy_mindroot\n"
        "except ImportError as error:\n    print(error)\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert "pip install -e ." in printed and "C++17" in printed
