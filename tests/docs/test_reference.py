"""The reference has everything that it is to have, and the generators say what the code says."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from importlib.metadata import distribution
from pathlib import Path
from types import SimpleNamespace

import pytest
import spacy

import spacy_mindroot
from spacy_mindroot.doc import extensions

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference"

pytest.importorskip("docutils", reason="the generators need the extra `docs`")
pytest.importorskip("sphinx", reason="the generators need the extra `docs`")
sys.path.insert(0, str(DOCS / "_ext"))
import from_code  # noqa: E402
import spacy_docstrings  # noqa: E402

sys.path.remove(str(DOCS / "_ext"))


def test_everything_registered_is_in_the_reference():
    registered = {(point.group, point.name) for point in distribution("spacy-mindroot").entry_points}
    assert {(point.group, point.name) for point in from_code.entry_points()} >= {
        pair for pair in registered if pair[0].startswith(("spacy_", "thinc_"))
    }
    text = "\n".join(from_code.Settings.markdown(None))
    for group, name in registered:
        assert group == "spacy_cli" or f"\n### {name}\n" in text


def test_settings_have_the_defaults_of_the_code():
    found = {name: default for name, default, _, _ in from_code.settings("spacy_factories", "mind_root")}
    made = spacy.blank("en").create_pipe("mind_root")
    assert found["kbest"] == f"default `{made.kbest}`"
    assert found["root_label"] == f'default `"{made.root_label}"`'
    assert found["scores"] == "default `spacy-mindroot.doc_arc_scores.v1`"


@pytest.mark.parametrize("point", from_code.entry_points(), ids=lambda point: point.name)
def test_every_setting_is_described(point):
    if point.group == "spacy_cli":
        return
    for name, _, _, text in from_code.settings(point.group, point.name):
        assert len(text) > 10, name


def test_an_item_of_a_docstring_is_found_with_its_continuation():
    items = spacy_docstrings.items(
        "Do it.\n\nname (Optional[str]): The name\n    of it.\n"
        "a, b (list[int]): Two `lists`.\nRAISES (ValueError): Never."
    )
    assert items["name"].text == "The name of it."
    assert items["b"] == (("a", "b"), "list[int]", "Two `lists`.")
    assert spacy_docstrings.to_rst("Files *.conllu of `a_`.\n\nx (int): One.") == [
        r"Files \*.conllu of ``a_``.",
        "",
        ":param x: (``int``) One.",
    ]


def test_every_command_is_in_the_help():
    names = from_code.command_names()
    assert {"decode", "audit", "init-config", "repair", "vote"} <= set(names)
    for name in names:
        assert f"Usage: spacy mindroot {name}" in from_code.help_of(name)


def test_a_module_begins_with_a_table_of_its_functions():
    names = from_code.public_names("spacy_mindroot")
    assert {name for name, _ in names} == set(spacy_mindroot.__all__) and all(summary for _, summary in names)
    kinds = [isinstance(getattr(spacy_mindroot, name), type) for name, _ in names]
    assert kinds == sorted(kinds) and [name for name, _ in names][-2:] == ["MindRootError", "TangledTreeWarning"]
    table = from_code.PublicNames.markdown(SimpleNamespace(arguments=["spacy_mindroot"]))
    assert any(line.startswith("| {py:obj}`decode <spacy_mindroot.decode>` | Return the best tree") for line in table)


def test_every_attribute_is_described():
    page = (REFERENCE / "attributes.md").read_text("utf8")
    for owner, names in (
        ("doc", extensions.DOC_EXTENSIONS),
        ("token", extensions.TOKEN_ATTRIBUTES),
        ("span", extensions.SPAN_ATTRIBUTES),
    ):
        assert set(re.findall(rf"^\| `{owner}\._\.(\w+)`", page, re.MULTILINE)) == set(names)


def test_every_public_module_has_a_page():
    """Public are the top level, and what the page on stability names."""
    stability = (DOCS / "stability.md").read_text("utf8")
    named = {"spacy_mindroot", *re.findall(r"`(?:spacy_mindroot)?\.([a-z_]+)`", stability)}
    documented = set()
    for page in (REFERENCE / "api").glob("*.md"):
        documented |= set(re.findall(r"automodule:: spacy_mindroot(?:\.(\w+))?$", page.read_text("utf8"), re.MULTILINE))
    assert named - {"spacy_mindroot"} <= documented
    assert "" in documented
    for name in documented - {""}:
        assert importlib.import_module(f"spacy_mindroot.{name}").__doc__
    packages = {info.name for info in pkgutil.iter_modules(spacy_mindroot.__path__) if info.ispkg}
    assert documented - {""} <= packages | {"accuracy", "errors", "score_file", "scores"}
    public = [importlib.import_module(f"spacy_mindroot.{name}".removesuffix(".spacy_mindroot")) for name in named]
    assert sum(len(module.__all__) for module in public) <= 94  # each is a promise
