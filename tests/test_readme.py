"""The README: short, with two commands first, absolute links that lead somewhere, and commands that exist."""

import pytest
from readme import REPOSITORY, blocks, file_of, links, run_example
from spacy.cli import app
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def text(checkout):
    return (checkout / "README.md").read_text("utf8")


def test_it_is_short(text):
    lines = text.splitlines()
    assert len(lines) <= 150
    too_long = [line for line in lines if len(line) > 140 and "https://" not in line]
    assert too_long == []


def test_the_first_two_blocks_are_the_main_job_and_the_tests(text):
    first, second = blocks(text, r"\w*")[:2]
    assert len(first.splitlines()) == len(second.splitlines()) == 1
    assert first.startswith("python3 -m venv .venv && ") and first.endswith("-m spacy project run demo\n")
    assert second.startswith("python3 -m venv .venv && ")
    assert second.endswith(".venv/bin/pytest -q -n auto --dist loadfile\n")


def test_links_and_pictures_are_absolute_and_lead_to_files(checkout, text):
    targets = links(text)
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith("https://")] == []
    files = [file_of(target, checkout) for target in targets]
    assert sum(file is not None for file in files) > 10
    assert [str(file) for file in files if file is not None and not file.is_file()] == []
    unmapped = [target for target, file in zip(targets, files, strict=True) if file is None and REPOSITORY in target]
    assert unmapped == []


def test_the_pictures_stand_alone(checkout, text):
    pictures = [file_of(target, checkout) for target in links(text) if target.endswith(".svg")]
    assert [picture.name for picture in pictures] == ["two-roots.svg", "parse.svg"]
    for picture, roots in zip(pictures, (3, 1), strict=True):  # two roots above the words and one below; one root
        svg = picture.read_text("utf8")
        assert svg.startswith("<svg ") and "<rect" in svg
        assert svg.count(">root</text>") == roots


def test_its_commands_exist(text):
    lines = [line for block in blocks(text, "sh") for line in block.splitlines() if "spacy mindroot" in line]
    commands = {line.split("spacy mindroot ")[1].split()[0] for line in lines}
    assert commands == {"init-config", "repair", "show", "rank", "suspect", "audit"}
    for line in lines:
        command, *words = line.split("spacy mindroot ")[1].split()
        shown = CliRunner().invoke(app, ["mindroot", command, "--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0, shown.output
        assert [word for word in words if word.startswith("--") and word not in shown.output] == []


@pytest.mark.parametrize(
    ("code", "pairs"),
    [
        ("1 + 1  # 3", [("3", "2")]),
        ("x = 2\nprint(x)\n# 2", [("2", "2")]),
    ],
)
def test_a_false_promise_shows(code, pairs):
    assert run_example(code, {}) == pairs


def test_an_expression_without_a_promise_is_an_error():
    with pytest.raises(KeyError):
        run_example("1 + 1", {})
