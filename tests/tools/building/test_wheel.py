"""Wheels of pipelines."""

import time
import zipfile

import pytest
import spacy

from spacy_mindroot.tools.building import wheel
from spacy_mindroot.tools.building.card import Description
from spacy_mindroot.tools.building.wheel import (
    PackagingError,
    build_wheel,
    check_description,
    check_tools,
    package_name,
    wheel_name,
)


@pytest.mark.parametrize("name", ["", "a b", "a-b", "_a", "a_", "a__b", "ä", "a.b", "a/b"])
def test_names(name):
    with pytest.raises(PackagingError, match="can't be the name"):
        check_description(Description(name))


@pytest.mark.parametrize("name", ["a", "gum_sm", "2x"])
def test_good_names(name):
    assert check_description(Description(name)) == Description(name)


@pytest.mark.parametrize("version", ["", "one", "1.0-x", "1..0", "v", "1.0 final"])
def test_versions(version):
    with pytest.raises(PackagingError, match="can't be the version"):
        check_description(Description("a", version))


@pytest.mark.parametrize("version, spelled", [("1.0-beta", "1.0b0"), ("v2", "2"), ("1.0+x", "1.0+x")])
def test_a_version_is_spelled_as_in_the_name_of_the_wheel(version, spelled):
    assert check_description(Description("a", version)).version == spelled


@pytest.mark.parametrize("field", ["version", "description", "author", "email", "url", "licence"])
@pytest.mark.parametrize("text", ["a\nLicense: MIT", "a\x00", "\udcff"])
def test_texts_are_one_line(field, text):
    with pytest.raises(PackagingError, match=f"The {field.replace('licence', 'license')} is "):
        check_description(Description("a", **{field: text}))


@pytest.mark.parametrize(
    "name, lang, package",
    [
        ("en_mine", "en", "mine"),
        ("en_en_x", "en", "x"),
        ("en", "en", "en"),
        ("xx_plain", "xx", "plain"),
        ("entity", "en", "entity"),
        ("de_x", "en", "de_x"),
        ("en_mine", "de", "en_mine"),
    ],
)
def test_the_language_is_not_part_of_the_name(name, lang, package):
    assert package_name(name, lang) == package


def test_a_wheel_has_the_card_and_the_licence(tmp_path):
    lexicon = {"@callbacks": "spacy-mindroot.set_lexicon.v1", "files": ["/of/this/machine/words.tsv"]}
    nlp = spacy.blank("en", config={"initialize": {"before_init": lexicon}})
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "licence").write_text("the licence")
    meta = nlp.meta | {"name": "xy", "version": "1.0.0", "requirements": []}
    before = (tmp_path / "model" / "meta.json").read_bytes()
    path = build_wheel(tmp_path / "model", tmp_path / "dist", meta, "# the card\n", tmp_path / "licence")
    assert path == tmp_path / "dist" / wheel_name("en", Description("xy", "1.0.0"))
    time.sleep(2.1)  # zip files count time in steps of two seconds
    again = build_wheel(tmp_path / "model", tmp_path / "again", meta, "# the card\n", tmp_path / "licence")
    assert again.read_bytes() == path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name).decode("utf8", "replace") for name in archive.namelist()}
    assert files["en_xy/en_xy-1.0.0/README.md"] == "# the card\n"
    assert "/of/this/machine" in (tmp_path / "model" / "config.cfg").read_text("utf8")
    assert "before_init = null" in files["en_xy/en_xy-1.0.0/config.cfg"]
    assert not any("/of/this/machine" in text for text in files.values())
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
