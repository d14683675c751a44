"""The paper's experiment: its table as data, and a run on small treebanks of our own in place of those of UD."""

import re
import shutil
import subprocess
import sys
from statistics import mean

import pytest
import srsly
from spacy.util import logger
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def treebanks():
    """The package scripts.treebanks, which is not installed."""
    return __import__("scripts.treebanks.table", fromlist=["table"])


def run(checkout, out, command, *args):
    arguments = [sys.executable, "-m", "scripts.treebanks", command, "--out", out, *args]
    done = subprocess.run(list(map(str, arguments)), cwd=checkout, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


def command(out, name, *args):
    """Run a command in this process."""
    from scripts.treebanks.__main__ import app

    level = logger.level
    try:
        result = CliRunner().invoke(app, [name, "--out", *map(str, [out, *args])])
    finally:
        logger.setLevel(level)
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    return result.exit_code, result.output


QUICK = ("--steps", 10, "--small-steps", 10, "--small-seeds", 2)


@pytest.fixture(scope="module")
def repositories(checkout, tmp_path_factory):
    """Two git repositories with a release, under names that the paper knows; one of the treebanks is broken."""
    folder = tmp_path_factory.mktemp("repositories of treebanks")
    for name in ("UD_Marathi-UFAL", "UD_Kurmanji-MG", "UD_Livvi-KKPP"):
        (folder / name).mkdir()
        for part in ("train", "dev", "test"):
            if (name, part) != ("UD_Kurmanji-MG", "dev"):
                shutil.copy(checkout / "assets" / "treebank" / f"{part}.conllu", folder / name / f"x-ud-{part}.conllu")
    broken = folder / "UD_Livvi-KKPP" / "x-ud-train.conllu"
    broken.write_text(broken.read_text("utf8").replace("\t0\troot\t", "\t99\troot\t", 1), encoding="utf8")
    for repository in folder.iterdir():
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@y", "-C", str(repository)]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "release"], ["tag", "r2.5"]):
            subprocess.run([*git, *words], check=True)
    return folder


@pytest.fixture(scope="module")
def finished(checkout, repositories, tmp_path_factory):
    """A run on all three and on one that is not there, fetched by git."""
    out = tmp_path_factory.mktemp("treebanks")
    only = "Marathi-UFAL,UD_Kurmanji-MG,Livvi-KKPP,Tamil-TTB"
    config = checkout / "configs" / "whole-doc-small.cfg"
    args = (*QUICK, "--only", only, "--repositories", repositories, "--config", config)
    return out, args, run(checkout, out, "run", *args)


def test_the_papers_table_has_its_averages(treebanks):
    from scripts.treebanks.paper import GROUPS, read_paper

    rows = read_paper().values()
    assert len(rows) == 63
    assert round(mean(row.multi_rooted for row in rows), 2) == 1.80
    found = {
        group: tuple(
            round(mean(getattr(row, name) for row in rows if row.group == group), digits)
            for name, digits in (("multi_rooted", 2), ("exact_match", 2))
        )
        for group in GROUPS
    }
    assert found == {"high": (0.63, 0.15), "medium": (1.02, 0.22), "low": (6.21, 2.91)}
    assert [sum(row.group == group for row in rows) for group in GROUPS] == [20, 32, 11]


def test_the_papers_table_is_that_of_the_data(treebanks, data):
    from scripts.treebanks.paper import TABLE

    own, theirs = (path.read_text("utf8").splitlines()[1:] for path in (TABLE, data / "paper-table.tsv"))
    assert [[*map(str, line.split("\t"))] for line in own] == [line.split("\t") for line in theirs]


def test_each_treebank_is_trained_and_audited_and_failures_are_named(finished):
    out, _, (code, output) = finished
    assert code == 1
    for name, seeds in (("UD_Marathi-UFAL", 2), ("UD_Kurmanji-MG", 2)):  # both have less than 200 training sentences
        for seed in range(1, seeds + 1):
            audit = srsly.read_json(out / name / f"seed-{seed}" / "audit" / "audit.json")
            assert (audit["sentences"], audit["single_root"]) == (18, 1.0)
    assert not (out / "UD_Kurmanji-MG" / "corpus" / "dev.spacy").exists()
    assert re.search(r"UD_Livvi-KKPP.*?99", output, flags=re.S) and "UD_Tamil-TTB" in output
    assert not (out / "UD_Livvi-KKPP" / "seed-1").exists()
    assert "0 multiword tokens" in output


def test_what_is_done_is_not_done_again(finished, checkout):
    out, args, _ = finished
    times = {path: path.stat().st_mtime_ns for path in out.glob("*/seed-*/audit/audit.json")}
    assert len(times) == 4
    interrupted = out / "UD_Marathi-UFAL" / "seed-2"
    (interrupted / "run.json").write_text('{"facts"', encoding="utf8")  # as an interruption may leave it
    run(checkout, out, "run", *args)
    again = {path for path, time in times.items() if path.stat().st_mtime_ns != time}
    assert {path.parents[1] for path in again} == {interrupted}


def test_what_was_made_from_other_data_is_made_again(checkout, repositories, tmp_path, treebanks):
    """And training sets in several files are read as one."""
    from scripts.treebanks.prepare import prepare

    source = tmp_path / "UD_Kurmanji-MG"
    shutil.copytree(repositories / "UD_Kurmanji-MG", source, ignore=shutil.ignore_patterns(".git"))
    one = prepare(source, tmp_path / "corpus")
    assert one == prepare(source, tmp_path / "corpus")
    shutil.copy(checkout / "assets" / "treebank" / "dev.conllu", source / "x-ud-train-b.conllu")
    other = prepare(source, tmp_path / "corpus")
    assert other.train > one.train and other.digest != one.digest
    (source / "x-ud-test.conllu").unlink()
    with pytest.raises(RuntimeError, match="2 training and 0 test sets"):
        prepare(source, tmp_path / "corpus")


@pytest.mark.parametrize("size", [0, 1, 100, -1])
def test_a_truncated_corpus_is_made_again(repositories, tmp_path, treebanks, size):
    """Though its digest says that it is complete."""
    from scripts.treebanks.prepare import prepare

    source = repositories / "UD_Kurmanji-MG"
    one = prepare(source, tmp_path)
    corpus = tmp_path / "train.spacy"
    content = corpus.read_bytes()
    corpus.write_bytes(content[:size])
    assert prepare(source, tmp_path) == one
    assert corpus.read_bytes() == content
    corpus.unlink()
    (tmp_path / "digest.txt").write_bytes(b"\xff")
    assert prepare(source, tmp_path) == one and corpus.exists()


@pytest.mark.parametrize("file", ["run.json", "audit/audit.json"])
@pytest.mark.parametrize("content", [None, b"", b'{"facts"', b"[]", b"{}", b"\xff\x00", b"null"])
def test_damaged_results_are_named_and_made_again(finished, checkout, treebanks, tmp_path, file, content):
    from scripts.treebanks.prepare import Treebank
    from scripts.treebanks.run import Run

    out, _, _ = finished
    shutil.copytree(out / "UD_Marathi-UFAL" / "seed-1", tmp_path / "UD_Marathi-UFAL" / "seed-1")
    folder = tmp_path / "UD_Marathi-UFAL" / "seed-1"
    facts = srsly.read_json(folder / "run.json")["facts"]
    treebank = Treebank(tmp_path, tmp_path, facts["train"], facts["dev"], facts["digest"])
    config = checkout / "configs" / "whole-doc-small.cfg"
    done = Run("UD_Marathi-UFAL", treebank, facts["seed"], facts["steps"], config, folder)
    assert done.is_done
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    assert not done.is_done
    if (file, content) == ("run.json", None):  # the run has not finished: nothing to join
        assert treebanks.collect(tmp_path) == []
        return
    with pytest.raises(RuntimeError, match=file.rpartition("/")[2]):
        treebanks.collect(tmp_path)
    if content == b"":
        code, output = command(tmp_path, "table")
        assert code == 2 and "run" in output


def test_runs_with_different_settings_are_not_joined(finished, treebanks, tmp_path):
    out, _, _ = finished
    copy = tmp_path / "UD_Marathi-UFAL"
    shutil.copytree(out / "UD_Marathi-UFAL", copy)
    assert len(treebanks.collect(tmp_path)[0].audits) == 2
    path = copy / "seed-2" / "run.json"
    run_facts = srsly.read_json(path)
    run_facts["facts"]["steps"] += 1
    srsly.write_json(path, run_facts)
    with pytest.raises(RuntimeError, match="different data, settings or versions"):
        treebanks.collect(tmp_path)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    module = __import__("scripts.treebanks.run", fromlist=["run"])
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / "notes.txt").touch()
    (tmp_path / "link").symlink_to("seed-1")
    for name in ("seed-1", "link"):
        with pytest.raises(RuntimeError, match="not from an earlier run"):
            module._run(module.Run("x", None, 1, 2, tmp_path / "config.cfg", tmp_path / name))
    assert (tmp_path / "seed-1" / "notes.txt").exists()


def test_table_and_figures(finished, treebanks):
    out, _, _ = finished
    code, output = command(out, "table")
    assert code == 0
    written = (out / "table.md").read_text("utf8")
    for text in (output, written):
        assert re.search(r"Marathi-UFAL[ |]+373[ |]+18[ |]+2[ |]", text) and re.search(r"Kurmanji-MG.*23\.57", text)
        assert "low: 0 to 999, ours" in text and "high: 10,000 and more, paper, all" in text
    pytest.importorskip("matplotlib")
    code, output = command(out, "figures")
    assert code == 0, output
    for name in ("multi-rooted.png", "changes.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")


def test_a_local_folder_is_taken_as_it_is(repositories, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for args, says in [
        (("--folder", repositories, "--only", "Telugu-MTG"), "UD_Telugu-MTG"),
        (("--folder", tmp_path / "nowhere"), "there is no folder"),
        (("--folder", empty), "none of the paper's treebanks"),
        (("--jobs", 0), "--jobs"),
    ]:
        code, output = command(tmp_path, "run", *QUICK, *args)
        assert code and says in " ".join(re.sub("[│╭╮╰╯─]", " ", output).split()), output
    code, output = command(tmp_path, "run", "--only", "Klingon-X")
    assert code == 2 and "UD_Klingon-X" in output
    code, output = command(tmp_path, "table")
    assert code == 2 and "nothing has been audited" in output


def test_the_workflow_runs_all_steps(finished, checkout, tmp_path):
    """In a copy of the project, on one treebank in a local folder."""
    out, args, _ = finished
    shutil.copy(checkout / "project.yml", tmp_path)
    for name in ("assets", "configs", "scripts"):
        shutil.copytree(checkout / name, tmp_path / name)
    configs = tmp_path / "configs"
    shutil.copy(configs / "whole-doc-small.cfg", configs / "whole-doc-accurate.cfg")  # faster, and all the same here
    folder = tmp_path / "local folder"
    (folder / "UD_Kurmanji-MG").mkdir(parents=True)
    for path in (args[args.index("--repositories") + 1] / "UD_Kurmanji-MG").glob("*.conllu"):
        shutil.copy(path, folder / "UD_Kurmanji-MG")
    workflow = [sys.executable, "-m", "spacy", "project", "run", "treebanks", "."]
    variables = {"folder": folder, "small_seeds": 1, "small_steps": 10, "": "Kurmanji-MG"}
    options = [x for key, value in variables.items() for x in (f"--vars.treebanks_{key}".rstrip("_"), str(value))]
    done = subprocess.run([*workflow, *options], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Kurmanji-MG" in (tmp_path / "treebanks" / "table.md").read_text("utf8")
    assert (tmp_path / "treebanks" / "changes.png").exists()


def test_one_seed_shows_its_interval_and_several_their_range(treebanks):
    from scripts.treebanks.paper import read_paper

    def audit(relative, multi_rooted, interval, difference=0.0):
        score = {"relative": relative, "relative_interval": interval, "single_root": 0.5, "difference": difference}
        return {"multi_rooted_rate": multi_rooted, "sentences": 10, "scores": {"uas": score, "uem": score}}

    paper = read_paper()["UD_Kurmanji-MG"]
    one = treebanks.Found(paper, [audit(0.5, 0.1, [-1, 2])])
    several = treebanks.Found(paper, [audit(0.5, 0.1, None), audit(-0.1, 0.3, None)])
    nothing = treebanks.Found(paper, [audit(None, 0.1, None)])
    from_nothing = treebanks.Found(paper, [audit(None, 0.1, None, difference=0.2)])
    assert one.change("uas") == "+0.500 [-1.000, +2.000]"
    assert several.change("uas") == "+0.200 (-0.100 to +0.500)"
    assert nothing.change("uas") == "+0.000" and from_nothing.change("uas") == "-"
    assert treebanks.table_rows([several])[0][5] == "20.00 (10.00 to 30.00)"
    assert treebanks.group_rows([several])[2][:3] == ("low: 0 to 999, ours", "1", "20.00")
