"""Wheels of pipelines."""

import zipfile

import pytest
import spacy

from spacy_mindroot.building import wheel
from spacy_mindroot.building.wheel import PackagingError, build_wheel, check_name, check_tools


@pytest.mark.parametrize("name", ["", "a b", "a-b", "_a", "a_", "a__b", "ä", "a.b", "a/b"])
def test_names(name):
    with pytest.raises(PackagingError, match="can't be the name"):
        check_name(name)


@pytest.mark.parametrize("name", ["a", "gum_sm", "2x"])
def test_good_names(name):
    check_name(name)


def test_a_wheel_has_the_card_and_the_licence(tmp_path):
    nlp = spacy.blank("en")
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "licence").write_text("the licence")
    meta = nlp.meta | {"name": "xy", "version": "1.0.0", "requirements": []}
    before = (tmp_path / "model" / "meta.json").read_bytes()
    path = build_wheel(tmp_path / "model", tmp_path / "dist", meta, "# the card\n", tmp_path / "licence")
    assert path == tmp_path / "dist" / "en_xy-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name).decode("utf8", "replace") for name in archive.namelist()}
    assert files["en_xy/en_xy-1.0.0/README.md"] == "# the card\n"
    assert files["en_xy/en_xy-1.0.0/LICENSES_SOURCES"] == "the licence"
    assert "# the card" in files["en_xy-1.0.0.dist-info/METADATA"]
    assert (tmp_path / "model" / "meta.json").read_bytes() == before


def test_what_spacy_says_is_in_the_message(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "model")
    with pytest.raises(PackagingError, match="made no wheel:\n"):
        build_wheel(tmp_path / "model", tmp_path / "dist", {"name": "xy", "lang": 3, "version": []}, "")
    assert not list((tmp_path / "dist").iterdir())


def test_missing_tools_are_named(monkeypatch):
    check_tools()
    monkeypatch.setattr(wheel, "has_build", lambda: False)
    with pytest.raises(PackagingError, match=r"pip install 'spacy-mindroot\[build\]'"):
        check_tools()
