"""Repair of damaged treebanks."""

import numpy as np
import pytest
from corpora_helpers import make_model
from typer.testing import CliRunner

from spacy_mindroot import is_tree
from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.tools.gold import load_pipeline


@pytest.fixture(scope="module")
def repair():
    return __import__("benchmarks.repair", fromlist=["repair"])


def test_damage_is_of_the_share_and_of_all_kinds(repair, checkout, rng):
    path = checkout / "assets/treebank/dev.conllu"
    gold, damaged = list(read_conllu(path)), list(read_conllu(path))
    assert all(repair.damage(each, 0.0, rng) is None for each in damaged)
    assert [each.to_bytes() for each in damaged] == [each.to_bytes() for each in gold]
    for each in damaged:
        repair.damage(each, 0.5, rng)
        trees = repair.to_first_root(each.heads)
        assert is_tree(trees, single_root=True)
        assert each.labels == next(own for own in gold if own.line == each.line).labels
    pairs = [(head, len(each)) for each in damaged for head in each.heads]
    changed = np.mean(
        [a != b for x, y in zip(gold, damaged, strict=True) for a, b in zip(x.heads, y.heads, strict=True)]
    )
    assert 0.3 < changed < 0.6
    assert any(head == -1 for head, _ in pairs) and any(head > n for head, n in pairs)


@pytest.mark.parametrize(
    ("heads", "tree"), [([2, 0, 0, 9, -1], [2, 0, 2, 2, 2]), ([2, 3, 1], [0, 3, 1]), ([0, 3, 2], [0, 1, 2])]
)
def test_the_first_root(repair, heads, tree):
    assert repair.to_first_root(heads) == tree


def test_the_best_known_and_the_worst(repair, checkout, tmp_path):
    """Without damage, all is right but what the parser makes itself; with it, less is."""
    nlp = load_pipeline(str(make_model(tmp_path / "model", senter=False)))
    path = checkout / "assets/treebank/dev.conllu"
    malformed, uas = repair.measure(path, nlp, 0.0, 1)
    assert malformed == 0 and {name for name, value in uas.items() if value < 100} <= {"parser"}
    malformed, worse = repair.measure(path, nlp, 0.2, 1)
    assert malformed > 20 and worse["parser"] == uas["parser"] and worse["damaged"] < worse["repair"] < 100
    assert worse == repair.measure(path, nlp, 0.2, 1)[1]


def test_the_command_notes_each_run_once(checkout, tmp_path, monkeypatch):
    from benchmarks.__main__ import app

    folder = tmp_path / "ud" / "UD_Small"
    folder.mkdir(parents=True)
    for part in ("train", "test"):
        (folder / f"x-ud-{part}.conllu").write_bytes((checkout / "assets/treebank/dev.conllu").read_bytes())
    monkeypatch.setattr("benchmarks.commands.repair.DATA", tmp_path)
    options = ["repair", "--treebanks", "Small", "--shares", "0.1,0.3", "--steps", "2"]
    for _ in range(2):
        result = CliRunner().invoke(app, [*options, "--results", str(tmp_path / "runs.jsonl")])
        assert result.exit_code == 0, result.output
    assert len((tmp_path / "runs.jsonl").read_text("utf8").splitlines()) == 2
    assert "2 steps" in result.output and "30%" in result.output
