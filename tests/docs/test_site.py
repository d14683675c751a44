"""The site builds without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("furo", reason="the site needs the extra `docs`")
    command = [sys.executable, "-m", "sphinx", "-E", "-q", "-W", "--keep-going", "-d", tmp_path / "doctrees"]
    done = subprocess.run([*command, DOCS, tmp_path / "site"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    settings = (tmp_path / "site/reference/settings.html").read_text("utf8")
    assert "spacy-mindroot.Biaffine.v1" in settings
    assert "fallback_label" in settings
    index = (tmp_path / "site/index.html").read_text("utf8")
    assert '<meta content="Graph-based dependency parsing' in index and "favicon.svg" in index
    assert "https://github.com/spacy-mindroot/spacy-mindroot" in index and index.count("<svg") > 1
    api = (tmp_path / "site/reference/api/spacy_mindroot.html").read_text("utf8")
    assert 0 < api.index('href="#spacy_mindroot.decode"') < api.index('id="spacy_mindroot.MindRootError"')
