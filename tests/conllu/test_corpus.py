"""spacy-mindroot.ConlluCorpus.v1: `spacy train` from CoNLL-U."""

import logging

import pytest
import spacy
from spacy.cli import app
from typer.testing import CliRunner

from spacy_mindroot.doc.words import word_forms
from spacy_mindroot.errors import ConlluError

SENTENCE = (
    "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tde\tde\tADP\t_\t_\t2\tcase\t_\t_\n"
    "2\tle\tle\tDET\t_\t_\t0\troot\t_\t_\n"
    "2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)
PARTIAL = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n2\tb\tb\tX\t_\t_\t_\t_\t_\tSpaceAfter=No\n\n"


@pytest.fixture
def read(tmp_path):
    def read(text=SENTENCE + PARTIAL * 2, **settings):
        if text is not None:
            (tmp_path / "b.conllu").write_text(text)
        corpus = spacy.registry.resolve(
            {"corpus": {"@readers": "spacy-mindroot.ConlluCorpus.v1", "path": str(tmp_path)} | settings}
        )["corpus"]
        return list(corpus(spacy.blank("xx")))

    return read


def test_one_sentence_a_doc(read):
    examples = read()
    for part in ("reference", "predicted"):
        assert [word_forms(getattr(e, part)) for e in examples] == [["de", "le"], ["a", "b"], ["a", "b"]]
    assert examples[0].reference.text == "du "
    assert [token.dep_ for token in examples[0].reference] == ["case", "ROOT"]
    assert [token.dep_ for token in examples[1].reference] == ["ROOT", ""]
    for example in examples:
        assert not example.predicted.has_annotation("DEP") and not example.predicted.user_data
        assert example.predicted.text == example.reference.text


def test_several_sentences_a_doc_a_limit_and_a_folder(read, tmp_path):
    assert [len(list(e.reference.sents)) for e in read(sentences_per_doc=2)] == [2, 1]
    assert len(read(limit=2)) == 2
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.conllu").write_text(SENTENCE)
    (tmp_path / "c.txt").write_text("not this")
    assert [len(list(e.reference.sents)) for e in read(sentences_per_doc=2)] == [2, 1, 1]


def test_surface_tokens(read):
    assert [token.text for token in read(surface_tokens=True)[0].reference] == ["du"]


def test_what_is_not_in_the_trees_is_logged_once(tmp_path, caplog):
    (tmp_path / "b.conllu").write_text(SENTENCE + PARTIAL)
    with caplog.at_level(logging.INFO, logger="spacy"):
        corpus = spacy.registry.readers.get("spacy-mindroot.ConlluCorpus.v1")(tmp_path)
        list(corpus(spacy.blank("xx")))
        list(corpus(spacy.blank("xx")))
    assert [r.getMessage().partition(": ")[2] for r in caplog.records] == [
        "2 sentences, 4 words, 1 multiword tokens, 1 empty nodes, 1 words without a head"
    ]


@pytest.mark.parametrize(
    ("text", "settings", "says"),
    [
        (PARTIAL.replace("_\t_\t_\tSpace", "0\troot\t_\tSpace"), {}, "b.conllu:2: line 2 is the second root"),
        ("1\ta\n\n", {}, "b.conllu:1: line 1 has 2 columns"),
        (PARTIAL, {"sentences_per_doc": 0}, "sentences_per_doc is 0"),
        (PARTIAL, {"path": "nowhere"}, "nowhere: there is no such file"),
        (None, {}, "no files \\*.conllu"),
    ],
)
def test_faults(read, text, settings, says):
    with pytest.raises(ConlluError, match=says):
        read(text, **settings)


def test_spacy_train_reads_it(tmp_path, checkout):
    """The parser that `init-config` gives, trained for a few steps on the treebank of the demo."""
    runner = CliRunner()
    arguments = ["mindroot", "init-config", str(tmp_path / "c.cfg"), "--optimize", "efficiency"]
    assert runner.invoke(app, arguments).exit_code == 0
    config = spacy.util.load_config(tmp_path / "c.cfg")
    for name in ("train", "dev"):
        config["corpora"][name] = {
            "@readers": "spacy-mindroot.ConlluCorpus.v1",
            "path": str(checkout / "assets" / "treebank" / f"{name}.conllu"),
            "limit": 10,
        }
    config["training"].update(max_steps=2, eval_frequency=1)
    config["training"]["logger"] = {"@loggers": "spacy.ConsoleLogger.v1", "progress_bar": False}
    config.to_disk(tmp_path / "c.cfg")
    result = runner.invoke(app, ["train", str(tmp_path / "c.cfg"), "--output", str(tmp_path / "model")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "model" / "model-last").is_dir()
