"""The demo's cross-validation: its folds, and that no parser has seen the sentences that it scores."""

import sys

import pytest
import typer
from spacy.tokens import DocBin
from spacy.training.converters import conllu_to_docs

from spacy_mindroot import read_score_file


@pytest.fixture
def demo_folds(checkout, monkeypatch):
    monkeypatch.syspath_prepend(str(checkout))
    yield __import__("scripts.demo_folds", fromlist=["demo_folds"])
    for name in [name for name in sys.modules if name.split(".")[0] == "scripts"]:
        del sys.modules[name]


@pytest.fixture
def corpus(checkout, tmp_path):
    """The small treebank, 20 sentences of each part at most."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for part in ("train", "dev", "test"):
        text = (checkout / "assets" / "treebank" / f"{part}.conllu").read_text("utf8")
        docs = list(conllu_to_docs(text, n_sents=1, no_print=True))[:20]
        DocBin(docs=docs).to_disk(folder / f"{part}.spacy")
    return folder


def test_each_item_is_in_one_fold(demo_folds):
    folds = demo_folds.split(23, 5, seed=1)
    assert sorted(map(len, folds)) == [4, 4, 5, 5, 5]
    assert sorted(number for fold in folds for number in fold) == list(range(23))
    assert folds == demo_folds.split(23, 5, seed=1) != demo_folds.split(23, 5, seed=2)
    for count in (0, 1, 24):
        with pytest.raises(typer.BadParameter, match=f"{count} folds for 23 sentences"):
            demo_folds.split(23, count, seed=1)


def test_a_parser_scores_what_it_was_not_trained_on(demo_folds, corpus, checkout, tmp_path, monkeypatch):
    train, trained_on = demo_folds.train, []

    def recorded(nlp, gold, *args):
        trained_on.append([[token.text for token in doc] for doc in gold])
        return train(nlp, gold, *args)

    monkeypatch.setattr(demo_folds, "train", recorded)
    out = tmp_path / "folds"
    out.mkdir()
    (out / "fold-3.npz").write_text("of an earlier run with more folds")
    settings = {"folds": 2, "steps": 51, "lang": "en", "seed": 1, "jobs": 1}
    demo_folds.main(checkout / "configs" / "whole-doc-small.cfg", corpus, out, **settings)
    assert sorted(path.name for path in out.iterdir()) == ["fold-1.npz", "fold-2.npz"]
    scored = [[sentence.words for sentence in read_score_file(out / f"fold-{number}.npz")] for number in (1, 2)]
    assert sorted(scored[0]) == sorted(trained_on[1]) and sorted(scored[1]) == sorted(trained_on[0])
    assert [words for words in scored[0] if words in scored[1]] == []


def test_docs_of_several_sentences_are_refused(demo_folds, corpus, checkout, tmp_path):
    text = (checkout / "assets" / "treebank" / "dev.conllu").read_text("utf8")
    DocBin(docs=conllu_to_docs(text, n_sents=5, no_print=True)).to_disk(corpus / "dev.spacy")
    with pytest.raises(typer.BadParameter, match="-n 1"):
        demo_folds.main(
            checkout / "configs" / "whole-doc-small.cfg",
            corpus,
            tmp_path / "folds",
            folds=2,
            steps=51,
            lang="en",
            seed=1,
            jobs=1,
        )
