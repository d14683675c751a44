"""Corpora with the tokens that a pipeline was trained on."""

import pytest
import spacy

from spacy_mindroot.cli.corpora import read_for, warn

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
