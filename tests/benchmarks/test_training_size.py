"""Confidence against training size: measures, and runs that are not repeated."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from benchmarks.runs import read_runs
from spacy_mindroot import decode
from spacy_mindroot.inference import marginals
from spacy_mindroot.tools.gold import GoldSentence


@pytest.fixture(scope="module")
def training_size():
    return __import__("benchmarks.training_size", fromlist=["training_size"])


def test_measures(training_size, rng):
    scores = [rng.normal(0, 2, (n, n + 1)) for n in (4, 6)]
    heads = [decode(each).astype(np.int64) for each in scores]
    wrong = heads[0].copy()
    wrong[0] = (wrong[0] + 1) % 5 if (wrong[0] + 1) % 5 != 1 else 2
    gold = [GoldSentence(["w"] * len(own), [True] * len(own), own, [""] * len(own), "s") for own in (wrong, heads[1])]
    found = training_size.measure(scores, gold)
    assert found["uas"] == pytest.approx(90)
    prob = np.concatenate([marginals(s)[np.arange(len(h)), h] for s, h in zip(scores, heads, strict=True)])
    assert found["mean_prob"] == pytest.approx(100 * prob.mean())
    of_gold = [marginals(s)[np.arange(len(g.heads)), g.heads] for s, g in zip(scores, gold, strict=True)]
    assert found["log_loss"] == pytest.approx(-np.log(np.concatenate(of_gold)).mean())
    assert found["ece"] >= abs(found["uas"] - found["mean_prob"]) - 1e-9


def test_runs_that_are_noted_are_not_repeated(training_size, tmp_path, monkeypatch):
    called = []

    def run(folder, size, loss, seed, optimize):
        called.append((folder.name, size, loss, seed))
        values = dict.fromkeys(("uas", "mean_prob", "ece", "surer_half", "log_loss"), 1.0)
        return training_size.Trained(folder.name[3:], size, loss, seed, optimize, 1, 20, 1.0, **values)

    monkeypatch.setattr(training_size, "run", run)
    results = tmp_path / "runs.jsonl"
    settings = (tmp_path, ["A", "B"], [20], 2, "efficiency", results)
    found = list(training_size.run_all(*settings))
    assert len(found) == len(called) == 2 * 2 * 3
    assert [json.loads(line) for line in results.read_text("utf8").splitlines()] == list(map(asdict, found))
    results.write_text("".join(results.read_text("utf8").splitlines(keepends=True)[:-1]), "utf8")
    assert len(list(training_size.run_all(*settings))) == 1 and called[-1] == ("UD_B", 20, "both", 2)
    groups = list(training_size.means(read_runs(results)))
    assert [(of, n, loss, len(own)) for of, n, loss, own in groups[:3]] == [
        ("A", 20, "head", 2),
        ("A", 20, "tree", 2),
        ("A", 20, "both", 2),
    ]
