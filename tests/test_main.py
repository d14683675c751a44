"""`python -m spacy_mindroot` and what `spacy mindroot` itself can do."""

import subprocess
import sys
from importlib.metadata import version

import pytest


def run(*args):
    done = subprocess.run([sys.executable, "-m", *args], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", [("spacy_mindroot",), ("spacy", "mindroot")], ids=" ".join)
def test_version_and_help(command):
    assert run(*command, "--version") == (0, f"spacy-mindroot {version('spacy-mindroot')}\n", "")
    code, output, _ = run(*command, "--help")
    assert code == 0 and f"Usage: python -m {' '.join(command)} " in output
    for name in ("decode", "audit", "score", "init-config", "repair", "parse", "vote"):
        assert f"\n  {name} " in output
    assert run(*command, "nonsense")[0] == 2


def test_a_command(checkout):
    code, output, _ = run("spacy_mindroot", "decode", str(checkout / "assets" / "demo.npz"))
    assert code == 0 and "Sentences" in output
