"""The page on the architecture agrees with the code: imports, files and names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_architecture import MAY_IMPORT, NUMPY, PARSER

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "spacy_mindroot"
PAGE = (ROOT / "docs/architecture.md").read_text("utf8")
ROWS = [[cell.strip() for cell in row[1:-1].split("|")] for row in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)]
CHANGES = [row for row in ROWS if len(row) == 2 and row[0] not in ("change", "---")]


def quoted(text):
    return re.findall(r"`([^`]+)`", text)


def files(name):
    """Return the files that a path stands for: NAME is any name, and a name without a folder may be anywhere."""
    pattern = name.replace("NAME", "*")
    return [*PACKAGE.glob(pattern), *ROOT.glob(pattern)] or [*PACKAGE.rglob(pattern)]


def test_the_last_column_of_the_folders_is_what_the_tests_check():
    table = {
        row[0].strip("`/").replace("/", "."): row[2]
        for row in ROWS
        if len(row) == 3 and row[0] not in ("folder", "---")
    }
    table[""] = table.pop("top level")
    assert {*table} == {*MAY_IMPORT}
    for folder, cell in table.items():
        found = {name.replace("/", ".") for name in quoted(cell)}
        for words, folders in (("top level", {""}), ("*NumPy*", NUMPY), ("*parser*", PARSER)):
            found |= folders if words in cell else set()
        assert found == MAY_IMPORT[folder] or (folder == "cli" and cell.startswith("everything")), folder


@pytest.mark.parametrize(("change", "place"), CHANGES, ids=[row[0] for row in CHANGES])
def test_the_place_to_change_something_exists(change, place):
    """Every file is there, and each function, class or constant is in one of the files of its row."""
    paths = [name for name in quoted(place) if "/" in name or re.search(r"\.(py|hh|cfg)$", name)]
    assert paths, change
    for path in paths:
        assert files(path), path
    text = "".join(file.read_text("utf8") for path in paths for file in files(path) if file.is_file())
    for name in {*quoted(place)} - {*paths}:
        if re.fullmatch(r"[A-Za-z_]\w+(\.\w+)?", name):
            assert name.rpartition(".")[2] in text, name
