"""Without the compiled core nothing runs slowly in secret: importing says how to build it."""

import subprocess
import sys


def test_import_says_how_to_build(tmp_path):
    script = (
        "import sys; sys.modules['spacy_mindroot.core._core'] = None\n"
        "try:\n    import spacy_mindroot\n"
        "except ImportError as error:\n    print(error)\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert "pip install -e ." in printed and "C++17" in printed
