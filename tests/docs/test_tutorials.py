"""The code on every page of the documentation runs and prints what the page says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import spacy
from thinc.api import Config

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "_build" not in path.parts)

_spec = importlib.util.spec_from_file_location("pages", Path(__file__).with_name("pages.py"))
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)

WITH_CODE = [page for page in PAGES if pages.blocks((DOCS / page).read_text("utf8"))]


@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_on_a_page_prints_what_the_page_says(page, tmp_path):
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    wrong = pages.run((DOCS / page).read_text("utf8"), tmp_path)
    assert not wrong, "\n".join(wrong)


def test_there_are_tutorials_with_results():
    for page in ("train", "repair", "own-scores", "correct", "confidence"):
        found = pages.blocks((DOCS / f"tutorials/{page}.md").read_text("utf8"))
        assert sum(block.printed is not None for block in found) >= 3, page


def test_what_a_block_prints_is_compared(tmp_path):
    page = (
        "```python\nx = 1\nprint(x)\n```\n\n```text\n{}\n```\n\n"
        "Text.\n\n```sh\necho $((1 + 1))\n```\n\n```text\n2\n```\n"
    )
    assert pages.run(page.format(1), tmp_path) == []
    (wrong,) = pages.run(page.format(3), tmp_path)
    assert wrong.startswith("line 2 prints\n1\n")
    with pytest.raises(AssertionError, match="NameError"):
        pages.run("```python\nunknown\n```\n", tmp_path)


def test_a_block_can_be_left_out():
    assert pages.blocks("% not run: no torch\n```python\nimport torch\n```\n") == []


@pytest.mark.parametrize("page", [page for page in PAGES if "```ini" in (DOCS / page).read_text("utf8")])
def test_the_configs_on_a_page_are_valid(page):
    """Components are made from the config, readers resolved."""
    for block in (DOCS / page).read_text("utf8").split("```ini\n")[1:]:
        text = block.partition("```")[0].replace("${paths.train}", '"train.conllu"')
        sections = "".join(f"[{name}]\n\n" for name in ("components", "corpora") if f"[{name}." in text)
        config = Config().from_str(sections + text)
        assert config.keys() <= {"components", "corpora", "nlp"}
        nlp = (
            spacy.util.load_model_from_config({"nlp": config["nlp"]}, auto_fill=True)
            if "nlp" in config
            else spacy.blank("en")
        )
        for name, settings in config.get("components", {}).items():
            factory = settings.pop("factory")
            nlp.add_pipe(factory, name=name, config=settings)
        for reader in config.get("corpora", {}).values():
            spacy.registry.resolve({"reader": reader})
