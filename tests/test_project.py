"""The demo, and the README whose commands people copy."""

import re
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def project(checkout, tmp_path_factory):
    """A copy of what the project needs, at a path with spaces, that has run once with few steps."""
    folder = tmp_path_factory.mktemp("a path with spaces")
    shutil.copy(checkout / "project.yml", folder)
    for name in ("assets", "configs", "scripts"):
        shutil.copytree(checkout / name, folder / name)
    return folder, run_demo(folder)


def run_demo(folder):
    command = [
        sys.executable,
        "-m",
        "spacy",
        "project",
        "run",
        "demo",
        ".",
        "--vars.steps",
        "20",
        "--vars.eval_frequency",
        "10",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_demo_runs_from_treebank_to_table(project):
    folder, output = project
    table = dict(re.findall(r"^(\S.*?) {2,}(\S.*)$", output, flags=re.M))
    assert (table["Sentences"], table["Tokens"]) == ("18", "226")
    assert float(table["UAS, single root"]) > 20
    assert "Unconstrained optimum has more than one root" in table
    trees = (folder / "output" / "test.conllu").read_text("utf8")
    assert trees.count("\t0\troot\t") == 18


def test_it_does_not_do_again_what_is_unchanged(project):
    folder, _ = project
    output = run_demo(folder)
    assert [name for name in ("convert", "train", "evaluate", "score") if f"Skipping '{name}'" not in output] == []
    assert "Tokens per second" in output


def test_the_first_two_blocks_of_the_readme_are_the_job_and_the_tests(checkout):
    blocks = re.findall(r"^```\w*\n(.*?)^```", (checkout / "README.md").read_text("utf8"), flags=re.M | re.S)
    assert [len(block.splitlines()) for block in blocks[:2]] == [1, 1]
    assert "-m venv" in blocks[0] and blocks[0].rstrip().endswith("project run demo")
    assert "-m venv" in blocks[1] and blocks[1].rstrip().endswith("pytest -q")


def test_the_python_of_the_docs_runs(checkout):
    """But for the example that needs a trained model."""
    texts = [path.read_text("utf8") for path in [checkout / "README.md", *(checkout / "docs").glob("*.md")]]
    blocks = [block for text in texts for block in re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)]
    assert len(blocks) == 11
    for block in blocks:
        if "spacy.load" in block:
            continue
        done = subprocess.run([sys.executable, "-c", block], cwd=checkout, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        promised = re.findall(r"^# (\[.*\])$", block, flags=re.M)
        assert done.stdout.splitlines() == promised
