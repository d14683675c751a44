"""The demo, from the treebank to the last picture, and the README's Python examples with the parser that it trains."""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
import spacy
import srsly
from readme import blocks, run_example

from spacy_mindroot import read_score_file
from spacy_mindroot.arc_scorer.products import products_in_use

FOLDS, FOLD_STEPS = 2, 60
STEPS = 400  # some ten seconds, and enough for the sentences of the README


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
    variables |= {"--vars.folds": FOLDS, "--vars.fold_steps": FOLD_STEPS}
    command = [sys.executable, "-m", "spacy", "project", "run", "demo", "."]
    command += [str(part) for variable in variables.items() for part in variable]
    # Unbuffered: the output of `spacy project run` and of the commands that it runs is then in the order of time.
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, env=environment)
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
    titles = [element.text for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}title")]
    assert sum("%" in title for title in titles) >= 2 * 9  # of each word, and of the arc to it


def test_it_shows_a_sentence_that_the_constraint_changes(project):
    folder, output = project
    assert re.search(r"^without the constraint: [2-9] roots +with the constraint: 1 root$", output, flags=re.M)
    below = texts((folder / "output" / "constraint.svg").read_text("utf8"))
    assert below.count("root") >= 3


def test_the_folds_hold_each_sentence_of_the_treebank_once(project):
    folder, output = project
    files = sorted((folder / "output" / "folds").iterdir())
    assert [file.name for file in files] == ["fold-1.npz", "fold-2.npz"]
    scored = [sentence for file in files for sentence in read_score_file(file)]
    trees = [(sentence.words, sentence.gold_heads.tolist(), sentence.gold_labels) for sentence in scored]
    gold = [
        (words, heads, labels)
        for part in ("train", "dev", "test")
        for words, heads, labels in gold_trees(folder / "assets" / "treebank" / f"{part}.conllu")
    ]
    assert len(gold) == 130 and sorted(trees) == sorted(gold)


def test_it_counts_what_the_constraint_changes_in_each_fold(project):
    _, output = project
    rows = re.findall(r"^(fold \d+|all) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([-+][\d.]+)$", output, flags=re.M)
    assert [(name, int(size)) for name, size, *_ in rows] == [("fold 1", 65), ("fold 2", 65), ("all", 130)]
    assert int(rows[-1][2]) == sum(int(row[2]) for row in rows[:-1]) > 0
    for *_, without, with_constraint, difference in rows:
        assert float(with_constraint) - float(without) == pytest.approx(float(difference), abs=0.011)


def test_it_claims_only_what_the_intervals_support(project):
    _, output = project
    number = r"([-+]?[\d.]+)"
    row = rf"^(\S.*?) {{2,}}{number} +{number} +{number} \[{number}, {number}\] +(\d+), (\d+)$"
    rows = re.findall(row, output, flags=re.M)
    names = ["heads right (UAS)", "heads and labels right (LAS)", "exact match (UEM)", "root accuracy"]
    assert [name for name, *_ in rows] == [*names, "multi-rooted sentences"]
    intervals = {}
    for name, without, with_constraint, difference, low, high, _, _ in rows:
        assert float(with_constraint) - float(without) == pytest.approx(float(difference), abs=0.011)
        assert float(low) <= float(difference) <= float(high)
        intervals[name] = float(low), float(high)
    found = [
        re.search(pattern, output, flags=re.M)[1].split("; ")
        for pattern in (r"^    raises   (.*)$", r"^    lowers   (.*)$", r"include zero, .*\n +(.*)$")
    ]
    higher = [name for name, (low, _) in intervals.items() if low > 0]
    lower = [name for name, (_, high) in intervals.items() if high < 0]
    unknown = [name for name in intervals if name not in higher + lower]
    assert found == [higher or ["nothing"], lower or ["nothing"], unknown or ["none"]]
    assert "multi-rooted sentences" in lower
    assert rows[-1][2] == "0.00" and int(rows[-1][7]) == round(1.3 * float(rows[-1][1]))


def test_a_second_run_repeats_only_the_report(project):
    folder, first = project
    output = run_demo(folder)
    assert [name for name in ("convert", "train", "evaluate", "folds") if f"Skipping '{name}'" not in output] == []
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


@pytest.mark.parametrize("products", ["numpy", "blis"])
def test_what_the_readme_promises_is_no_close_call(project, checkout, products):
    """With other matrix products, steps or seeds, the parser is another one, and has to keep the promise as well."""
    (text,) = re.findall(r'^doc = nlp\("(.*)"\)', (checkout / "README.md").read_text("utf8"), flags=re.M)
    model = project[0] / "training" / "model-best"
    nlp = spacy.load(model, config={"nlp.after_pipeline_creation.products": products})
    assert products_in_use(nlp) == products
    nlp.get_pipe("mind_root").confidence = True
    assert min(token._.head_prob for token in nlp(text)) > 0.8


def test_the_project_names_files_that_exist(checkout):
    project = srsly.read_yaml(checkout / "project.yml")
    made = {output for command in project["commands"] for output in command.get("outputs", [])}
    needed = {path for command in project["commands"] for path in command.get("deps", [])} - made
    assert len(needed) > 5
    assert [path for path in sorted(needed) if not (checkout / path).is_file()] == []


def gold_trees(path):
    """The words, heads and labels of the sentences of a CoNLL-U file, read without the package."""
    for block in path.read_text("utf8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if re.match(r"\d+\t", line)]
        yield [row[1] for row in rows], [int(row[6]) for row in rows], [row[7] for row in rows]


def texts(svg):
    """The texts of a picture."""
    elements = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [(element.text or "") + "".join(child.tail or "" for child in element) for element in elements]
