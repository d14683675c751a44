"""Learning curves of distillation: the order of the jobs, runs that are not repeated, and a small run of each kind."""

import json
from concurrent.futures import Future

import numpy as np
import pytest

from benchmarks.runs import read_runs
from spacy_mindroot.pipeline.held_out import HeldOut


@pytest.fixture(scope="module")
def distillation():
    return __import__("benchmarks.distillation", fromlist=["distillation"])


class Inline:
    """An executor without processes."""

    def __init__(self, workers, mp_context):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, function, *args):
        future = Future()
        future.set_result(function(*args))
        return future


def test_students_wait_for_their_teachers(distillation):
    jobs = distillation.all_jobs(["A", "B"], [100, 20], 2)
    assert len(jobs) == 2 * 2 * (3 + 1 + 3 * 2 + 3) and [job.kind for job in jobs[:7]] == [*["one"] * 6, "mean"]
    assert [job.size for job in jobs] == [100] * 26 + [20] * 26
    done, order = set(), []
    while waiting := [job for job in jobs if job not in done]:
        found = distillation.ready(waiting, done)
        order.append({job.kind for job in found})
        done |= set(found)
    students = {kind for kind in distillation.KINDS if "student" in kind}
    assert order == [{"one", "small"}, {"mean"}, students] and len(students) == 5


def test_measures(distillation, rng):
    lengths = [4, 6, 5, 3]
    heads = [np.array([0, *[1] * (n - 1)], dtype=np.int32) for n in lengths]
    matrices = [np.where(np.arange(n + 1) == own[:, None], 3.0, 0.0) for n, own in zip(lengths, heads, strict=True)]
    gold = [own.copy() for own in heads]
    gold[0][3] = 2
    scores = [np.eye(4)[rng.integers(1, 4, n)] for n in lengths]
    labels = [own.argmax(axis=1) for own in scores]
    labels[1][2] = (labels[1][2] + 1) % 4
    labels[0][3] = (labels[0][3] + 1) % 4  # the head is wrong anyway
    found = distillation.measure(HeldOut(matrices, heads, gold, scores, labels))
    assert found["uas"] == pytest.approx(100 * 17 / 18) and found["las"] == pytest.approx(100 * 16 / 18)
    assert found["ece"] > 0 and found["calibrated_ece"] >= 0


def test_all_kinds_are_run_once(distillation, checkout, tmp_path, monkeypatch):
    folder = tmp_path / "ud" / "UD_X"
    folder.mkdir(parents=True)
    for part in ("train", "dev"):
        text = (checkout / "assets" / "treebank" / f"{part}.conllu").read_text("utf8")
        sentences = text.strip().split("\n\n")[:12]
        (folder / f"x-ud-{part}.conllu").write_text("\n\n".join(sentences) + "\n\n", "utf8")
    size_for = distillation.size_for
    monkeypatch.setattr(distillation, "size_for", lambda *args: size_for(*args)._replace(steps=3))
    monkeypatch.setattr(distillation, "ProcessPoolExecutor", Inline)
    monkeypatch.setattr("spacy_mindroot.tools.building.distilling._SWAPPED", 5)
    results, work = tmp_path / "runs.jsonl", tmp_path / "work"
    jobs = distillation.all_jobs(["X"], [5], 1)
    found = list(distillation.run_all(tmp_path, jobs, results, work))
    assert sorted(each.kind for each in found) == sorted(["one", "one", *distillation.KINDS])
    raw = {each.kind: each.raw for each in found}
    others = {"student of sure": 4, "student of labelled": 5, "student of swapped": 5}
    assert raw == dict.fromkeys(raw, 0) | {"mean": 7, "student": 7, "small student": 7} | others
    assert all(0 < each.uas <= 100 and 0 <= each.las <= each.uas for each in found)
    assert list(distillation.run_all(tmp_path, jobs, results, work)) == []

    # What is noted and needed no longer is not done again; what others need is.
    kept = [line for line in results.read_text("utf8").splitlines() if json.loads(line)["kind"] != "student"]
    results.write_text("\n".join(kept) + "\n", "utf8")
    (work / "X-5" / "raw.spacy").unlink()
    assert [each.kind for each in distillation.run_all(tmp_path, jobs, results, work)] == ["student"]
    assert (work / "X-5" / "raw.spacy").exists()
    mean, number = distillation.means(read_runs(results), "uas")["X", 5, False, "one"]
    assert number == 3 and mean == pytest.approx(np.mean([each.uas for each in found if each.kind == "one"]))

    # With a lexicon, parsers are others, and so are their teachers.
    (tmp_path / "X.txt").write_text("the\tthe\tDET\ncats\tcat\tNOUN\n", "utf8")
    jobs = distillation.all_jobs(["X"], [5], 1, lexicon=True)
    found = list(distillation.run_all(tmp_path, jobs, results, work, lexicons=tmp_path))
    assert sorted(each.kind for each in found) == ["mean", *["one"] * 3, "small", "small student", "student"]
    assert all(each.lexicon for each in found)
    assert (work / "X-5-lexicon" / "raw.spacy").exists()
    without, teacher = ((work / folder / "1.teacher").read_bytes() for folder in ("X-5", "X-5-lexicon"))
    assert b"mindroot_lexicon" in teacher and b"mindroot_lexicon" not in without


def test_the_curves_are_drawn_where_there_are_several_sizes(distillation, tmp_path):
    pytest.importorskip("matplotlib")

    def runs(*sizes):
        return [
            {"treebank": "X", "size": size, "kind": kind, "las": size + len(kind)}
            for size in sizes
            for kind in ("one", "mean", "student", "small")
        ]

    assert not distillation.plot(runs(20), tmp_path / "a.png") and not (tmp_path / "a.png").exists()
    assert distillation.plot(runs(20, 100), tmp_path / "a.png") and (tmp_path / "a.png").stat().st_size > 1000
