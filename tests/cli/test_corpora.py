"""Corpora with the tokens that a pipeline was trained on."""

import gzip
import io
import sys
from pathlib import Path

import pytest
import spacy

from spacy_mindroot.cli.corpora import corpus_or_text, read_for, read_text
from spacy_mindroot.cli.paths import PathsError
from spacy_mindroot.cli.running import warn
from spacy_mindroot.errors import MindRootError

TEXT = "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\tADP\t_\t_\t2\tcase\t_\t_\n2\tle\t_\tDET\t_\t_\t0\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("config", "option", "words", "warns"),
    [
        (None, None, ["de", "le"], True),
        (None, True, ["du"], False),
        (None, False, ["de", "le"], False),
        (True, None, ["du"], False),
        (True, False, ["de", "le"], False),
        (False, None, ["de", "le"], False),
    ],
)
def test_the_config_decides_and_the_option_before_it(tmp_path, capsys, config, option, words, warns):
    (tmp_path / "a.conllu").write_text(TEXT, encoding="utf8")
    nlp = spacy.blank("fr")
    if config is not None:
        nlp.config["corpora"] = {"dev": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "surface_tokens": config}}
    (sentence,) = read_for(nlp, tmp_path / "a.conllu", option)
    assert sentence.words == words
    assert ("1 multiword tokens" in capsys.readouterr().err) == warns


def test_no_warning_where_words_and_tokens_are_the_same(tmp_path, capsys):
    (tmp_path / "a.conllu").write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n", encoding="utf8")
    assert len(list(read_for(spacy.blank("fr"), tmp_path / "a.conllu", None))) == 1
    assert capsys.readouterr().err == ""
    warn("something")
    assert capsys.readouterr().err == "Warning: something\n"


def test_text_of_a_file(tmp_path):
    path = tmp_path / "a.txt"
    for content in ("Größe\n".encode(), "\ufeffGröße\n".encode(), gzip.compress("Größe\n".encode())):
        path.write_bytes(content)
        assert read_text(path) == "Größe\n"
    for content, message in (
        (b"a\nb\xff", "line 2 is not UTF-8: it has the byte 0xff"),
        ("a".encode("utf-16"), "UTF-16"),
        (b"ab\x00", "binary"),
    ):
        path.write_bytes(content)
        with pytest.raises(MindRootError, match=message):
            read_text(path)


def test_conllu_from_standard_input_is_no_text(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    with pytest.raises(PathsError, match="Standard input is CoNLL-U"):
        read_text(Path("-"))


def test_what_an_input_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("They left.\n")
    Path("b.txt").write_text(TEXT)
    for given, expected in [
        ("They left.", (None, False)),
        ("-", (None, False)),
        ("a.txt", (Path("a.txt"), False)),
        ("b.txt", (Path("b.txt"), True)),  # by its content
        (".", (Path("."), True)),
    ]:
        assert corpus_or_text(given) == expected
    for given in ("c.txt", "c.conllx"):
        with pytest.raises(PathsError, match=f"{given}: there is no such file"):
            corpus_or_text(given)
    Path("d.jsonl").touch()
    with pytest.raises(PathsError, match="d.jsonl is jsonl"):
        corpus_or_text("d.jsonl")
