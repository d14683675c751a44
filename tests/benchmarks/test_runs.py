"""The runs that a benchmark has noted."""

from dataclasses import dataclass

from benchmarks.runs import note_run, read_runs


@dataclass
class Run:
    treebank: str
    uas: float


def test_runs_are_added_to_a_file(tmp_path):
    path = tmp_path / "results" / "runs.jsonl"
    assert read_runs(path) == []
    for run in (Run("Á", 1.5), Run("B", 2.0)):
        note_run(path, run)
    assert read_runs(path) == [{"treebank": "Á", "uas": 1.5}, {"treebank": "B", "uas": 2.0}]
