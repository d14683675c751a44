"""The benchmark of pipelines as installed, at a small size: every task gives its figures."""

import json
import sys

import pytest
from typer.testing import CliRunner

from scorer_helpers import TREEBANK


@pytest.fixture(scope="module")
def pipelines():
    return __import__("benchmarks.pipelines", fromlist=["pipelines"])


@pytest.fixture
def treebank(tmp_path):
    """A small treebank whose test set has words for a long sentence."""
    sentences = (TREEBANK / "train.conllu").read_text("utf8").strip().split("\n\n")
    for part, some in (("train", sentences[:6]), ("test", sentences[:12] * 3)):
        (tmp_path / f"xx-ud-{part}.conllu").write_text("\n\n".join(some) + "\n\n", "utf8")
    return tmp_path


@pytest.fixture
def small(pipelines, monkeypatch):
    for name, value in (("UPDATES", 2), ("BATCH", 2), ("LONG_DOC", 5), ("LONG_SENTENCE", 60), ("SHORT", 8)):
        monkeypatch.setattr(pipelines, name, value)
    config = pipelines.spacy_parser_config()
    config["components"]["parser"]["min_action_freq"] = 1  # six sentences have few arcs of each label
    monkeypatch.setattr(pipelines, "spacy_parser_config", lambda: config.copy())
    return pipelines


@pytest.mark.parametrize(("config", "parser"), [("cpu-small", "own"), ("cpu-small", "spacy"), ("spacy", "own")])
def test_a_pipeline_is_trained_and_measured(small, treebank, checkout, config, parser):
    path = config if config == "spacy" else str(checkout / "configs" / f"{config}.cfg")
    model = str(treebank / "model")
    figures = small.train(path, treebank, model, parser)
    figures |= small.measure(model, treebank, repeats=1)
    memory = small.measure_memory(model, treebank)
    assert all(value > 0 for value in figures.values())
    assert ("mind_root, % of CPU time" in figures) == (config != "spacy" and parser == "own")
    assert len(memory) == 2


def test_udpipe_is_trained_and_measured(small, treebank):
    pytest.importorskip("ufal.udpipe")
    model = str(treebank / "model")
    figures = small.train("udpipe", treebank, model, "own")
    figures |= small.measure(model, treebank, repeats=1)
    assert figures["sentences, words per CPU second"] > 0 and figures["training, words per CPU second"] > 0
    assert small.measure_memory(model, treebank).keys() == {"peak for the test set, whole process, MB"}


def test_processes_have_no_variables_that_set_threads(pipelines, monkeypatch, tmp_path):
    """But for contestants with numpy's products or on one thread."""
    seen = []

    class Done:
        returncode, stdout = 0, 'noise\n{"figure": 1.5}\n'

    def run(command, env, **kwargs):
        seen.append(({name: value for name, value in env.items() if name.startswith("OPENBLAS_")}, command))
        return Done

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.setattr(pipelines.subprocess, "run", run)
    chosen = [pipelines.Contestant("a", "spacy"), pipelines.Contestant("b", "spacy", one_thread=True)]
    found = list(pipelines.measure_pipelines(chosen, tmp_path, rounds=2, repeats=1))
    assert found == [(k, name, {"figure": 1.5}) for k in range(2) for name in "ab"]
    assert [variables for variables, _ in seen] == [{}] * 3 + [{"OPENBLAS_NUM_THREADS": "1"}] * 3 + [{}] * 3 + [
        {"OPENBLAS_NUM_THREADS": "1"}
    ] * 3
    assert [command[4] for _, command in seen[:3]] == ["train", "measure", "memory"]
    assert all(command[:2] == [sys.executable, "-P"] for _, command in seen)


def test_another_installation(pipelines, tmp_path):
    names = [contestant.name for contestant in pipelines.contestants()]
    found = pipelines.contestants(tmp_path / "python", tmp_path)
    assert len(names) == len(set(names)) and [c.name for c in found[: len(names)]] == names
    for contestant in found[len(names) :]:
        assert contestant.python == str(tmp_path / "python") and contestant.config.startswith(str(tmp_path))
        assert contestant.numpy or contestant.one_thread


def test_a_process_that_fails_is_named(pipelines, tmp_path):
    with pytest.raises(RuntimeError, match="nobody: train .*failed"):
        list(pipelines.measure_pipelines([pipelines.Contestant("nobody", "spacy")], tmp_path, rounds=1, repeats=1))


def test_the_table(pipelines, tmp_path):
    """It is printed from the figures of a run."""
    main = __import__("benchmarks.__main__", fromlist=["app"])
    figures = {"ours": {"sentences, words per CPU second": [1000.0, 3000.0, 2000.0], "loading, CPU seconds": [0.25]}}
    (tmp_path / "found.json").write_text(json.dumps(figures), "utf8")
    result = CliRunner().invoke(main.app, ["pipeline", "--no-run", "--results", str(tmp_path / "found.json")])
    assert result.exit_code == 0
    assert [line.split() for line in result.output.splitlines() if line.startswith("ours")] == [
        ["ours", "2,000", "1,000", "3,000"],
        ["ours", "0.25", "0.25", "0.25"],
    ]
