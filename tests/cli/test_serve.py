"""`spacy mindroot serve`, in a process of its own, asked over a socket. tests/web has the interface."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from corpora_helpers import make_model
from spacy.cli import app
from typer.testing import CliRunner

guard = pytest.importorskip("spacy_mindroot.web.guard", reason="the command needs the extra `annotate`")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("serve") / "model")


def test_a_client_is_answered_until_a_signal_ends_the_server(model):
    command = [sys.executable, "-m", "spacy_mindroot", "serve", str(model), "--port", "0"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        line = process.stdout.readline()
        assert line.startswith("Serving en_tiny-1.0.0 at http://127.0.0.1:")
        with urllib.request.urlopen(f"{line.split()[-1]}process?data=Go%20home.&tokenizer&parser") as answer:
            found = json.loads(answer.read())
        process.send_signal(signal.SIGTERM)
    assert found["model"] == "en_tiny-1.0.0" and "1\tGo\t" in found["result"]
    assert process.returncode == 0


def test_what_is_refused_is_explained(tmp_path, monkeypatch, model):
    result = CliRunner().invoke(app, ["mindroot", "serve", str(tmp_path / "none")])
    assert result.exit_code == 1 and "is not a pipeline" in " ".join(result.output.split())
    monkeypatch.setattr(guard, "run", lambda app, listening, started: (started(), listening.close()))
    result = CliRunner().invoke(app, ["mindroot", "serve", str(model), "--host", "0.0.0.0", "--port", "0"])
    assert result.exit_code == 0 and "Everyone who reaches 0.0.0.0" in result.output


def test_without_the_extra_the_remedy_is_named(monkeypatch, model):
    def missing(name):
        raise ImportError("No module named 'uvicorn'")

    monkeypatch.setattr("spacy_mindroot.cli.serve.import_module", missing)
    result = CliRunner().invoke(app, ["mindroot", "serve", str(model)])
    assert result.exit_code == 1 and "pip install 'spacy-mindroot[annotate]'" in " ".join(result.output.split())


def test_a_recommender_for_inception(monkeypatch, model):
    pytest.importorskip("cassis", reason="needs the extra `inception`")
    served = []
    monkeypatch.setattr(guard, "run", lambda app, listening, started: (served.append(app), listening.close()))
    for options, paths in ((["--inception"], {"/inception/predict", "/inception/train"}), ([], set())):
        result = CliRunner().invoke(app, ["mindroot", "serve", str(model), "--port", "0", *options])
        assert result.exit_code == 0, result.output
        assert {route.path for route in served.pop()._app.routes} == {"/models", "/process"} | paths
