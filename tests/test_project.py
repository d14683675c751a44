"""The demo, from the treebank to the last picture, and the README's Python examples with the parser that it trains."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
import srsly
from readme import blocks, run_example

STEPS = 200  # a few seconds, and enough for the sentences of the README


@pytest.fixture(scope="module")
def project(checkout, tmp_path_factory):
    """A copy of the files of the project, at a path with spaces, with the output of a demo with few training steps."""
    folder = tmp_path_factory.mktemp("a path with spaces")
    shutil.copy(checkout / "project.yml", folder)
    for name in ("assets", "configs", "scripts"):
        shutil.copytree(checkout / name, folder / name)
    return folder, run_demo(folder)


def run_demo(folder):
    variables = {"--vars.steps": STEPS, "--vars.eval_frequency": STEPS}
    command = [sys.executable, "-m", "spacy", "project", "run", "demo", "."]
    command += [str(part) for variable in variables.items() for part in variable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def last_step(output):
    return output[output.index("1. The parser that was just trained") :]


def test_the_demo_reports_on_the_parser_it_trained(project):
    _, output = project
    numbers = dict(re.findall(r"^ {4}(\S.*?) {2,}([\d.]+)", last_step(output), flags=re.M))
    assert float(numbers["heads right (UAS)"]) > 60
    assert numbers["trees with exactly one root"] == "18"
    assert "18 sentences (226 tokens)" in output


def test_it_parses_a_new_sentence_with_probabilities(project):
    folder, output = project
    assert re.search(r"^└─ found \(root >?\d+%\)$", output, flags=re.M)
    drawn = (folder / "output" / "parse.svg").read_text("utf8")
    assert all(word in texts(drawn) for word in ["Tom", "found", "the", "old", "key", "in", "the", "garden", "."])
    assert len([text for text in texts(drawn) if text.endswith("%")]) == 2 * 9


def test_it_shows_a_sentence_that_the_constraint_changes(project):
    folder, output = project
    assert re.search(r"^without the constraint: [2-9] roots +with the constraint: 1 root$", output, flags=re.M)
    below = texts((folder / "output" / "constraint.svg").read_text("utf8"))
    assert below.count("root") >= 3


def test_it_counts_what_the_constraint_changes_in_eight_treebanks(project):
    _, output = project
    rows = re.findall(r"^(\S+) +([\d,]+) +([\d,]+) \( *([\d.]+)%\) +([\d.]+) +([\d.]+) +(\S+) \[", output, flags=re.M)
    assert len(rows) == 9
    counts = [int(row[1].replace(",", "")) for row in rows]
    assert rows[-1][0] == "all" and counts[-1] == sum(counts[:-1]) == 4185
    for *_, without, with_constraint, difference in rows:
        assert float(with_constraint) - float(without) == pytest.approx(float(difference), abs=0.011)
    assert "raises   heads right (UAS); whole trees right; root right and the only one\n" in output


def test_a_second_run_repeats_only_the_report(project):
    folder, first = project
    output = run_demo(folder)
    assert [name for name in ("convert", "train", "evaluate") if f"Skipping '{name}'" not in output] == []
    assert last_step(output) == last_step(first)


def test_the_readme_prints_what_it_says(project, checkout, monkeypatch):
    folder, _ = project
    monkeypatch.chdir(folder)
    namespace = {}
    examples = blocks((checkout / "README.md").read_text("utf8"), "python")
    assert len(examples) == 5
    for example in examples:
        pairs = run_example(example, namespace)
        assert [promised for promised, _ in pairs] == [found for _, found in pairs]


def test_the_project_names_files_that_exist(checkout):
    project = srsly.read_yaml(checkout / "project.yml")
    made = {output for command in project["commands"] for output in command.get("outputs", [])}
    needed = {path for command in project["commands"] for path in command.get("deps", [])} - made
    assert len(needed) > 5
    assert [path for path in sorted(needed) if not (checkout / path).is_file()] == []


def texts(svg):
    """The texts of a picture."""
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
