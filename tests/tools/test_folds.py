"""Folds: every sentence in one, documents whole; and training for a number of steps."""

import numpy as np
import pytest
import spacy
from spacy.util import load_config_from_str

from spacy_mindroot.conllu import sentence_to_doc
from spacy_mindroot.errors import CorpusError
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.folds import (
    find_documents,
    new_parser,
    split_documents,
    train,
    with_steps,
)
from spacy_mindroot.tools.gold import GoldSentence, read_corpus


@pytest.mark.parametrize("folds", [0, 1, 24])
def test_impossible_folds(folds):
    with pytest.raises(CorpusError, match=f"{folds} folds for 23 documents"):
        split_documents([[k] for k in range(23)], folds, seed=1)


def test_documents_stay_together():
    documents = [[0, 1, 2, 3], [4], [5, 6], [7, 8], [9], [10, 11, 12]]
    folds = split_documents(documents, 3, seed=0)
    assert sorted(number for fold in folds for number in fold) == list(range(13))
    for document in documents:
        assert sum(set(document) <= set(fold) for fold in folds) == 1
    assert max(map(len, folds)) - min(map(len, folds)) <= 1
    assert folds == split_documents(documents, 3, seed=0)


def corpus(tmp_path, starts, n=40):
    text = "".join(
        f"{'# newdoc id = d' if k in starts else '# x = newdoc'}\n# sent_id = {k}\n1\tw\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
        for k in range(n)
    )
    (tmp_path / "corpus.conllu").write_text(text, "utf8")
    return list(read_corpus(tmp_path / "corpus.conllu", spacy.blank("xx").vocab))


def test_documents_are_found(tmp_path):
    documents, kind = find_documents(corpus(tmp_path, {0, 10, 15, 25, 35}), folds=4)
    assert kind == "documents" and [document[0] for document in documents] == [0, 10, 15, 25, 35]
    # too few documents, or one that is too long
    for starts in ({0, 20}, {0, 1, 2, 3}):
        documents, kind = find_documents(corpus(tmp_path, starts), folds=4)
        assert kind == "single sentences" and len(documents) == 40
    blocks, kind = find_documents(corpus(tmp_path, set(), n=170), folds=4)
    assert kind == "blocks of 4 sentences" and blocks[0] == [0, 1, 2, 3] and blocks[-1] == [168, 169]
    words = GoldSentence(["a"], [True], np.array([0]), ["root"], "s")
    assert find_documents([words] * 3, folds=2) == ([[0], [1], [2]], "single sentences")


def test_steps_in_the_learning_rate():
    config = load_config_from_str(make_config("xx", "efficiency", [], None))
    assert with_steps(config, 60)["training"]["optimizer"]["learn_rate"]["warmup_steps"] == 10
    rate = with_steps(config, 5000)["training"]["optimizer"]["learn_rate"]
    assert (rate["warmup_steps"], rate["total_steps"]) == (100, 5000)
    assert config["training"]["optimizer"]["learn_rate"]["total_steps"] == 4000  # the config itself stays
    config["training"]["optimizer"]["learn_rate"] = 0.001
    assert with_steps(config, 60) == config


def test_training_with_a_few_heads_is_the_same_each_time(checkout):
    """Words without a head or label are left out of the losses."""
    config = with_steps(load_config_from_str(make_config("xx", "efficiency", [], None)), 4)
    weights = []
    for _ in range(2):
        nlp = new_parser(config, seed=1)
        sentences = list(read_corpus(checkout / "assets/treebank/dev.conllu", nlp.vocab))[:8]
        for sentence in sentences:
            for word in range(1, len(sentence.words), 2):
                sentence.conllu.replace(word, 6, "_")
        docs = [sentence_to_doc(nlp.vocab, sentence.conllu) for sentence in sentences]
        assert all(not doc[0].dep for doc in docs)
        done = []
        averages = train(nlp, docs, 4, 1, lambda: done.append(1))  # noqa: B023
        assert len(done) == 4 and averages
        weights.append(nlp.get_pipe("arc_scorer").model.get_ref("arc_biaffine").get_param("W"))
        assert np.isfinite(weights[-1]).all()
    np.testing.assert_array_equal(*weights)


def test_training_is_as_the_config_says(checkout):
    """Not only with its batches and dropout: components can be frozen."""
    config = with_steps(load_config_from_str(make_config("xx", "efficiency", ["senter"], None)), 2)
    config["training"] |= {"frozen_components": ["senter"], "accumulate_gradient": 2}
    nlp = new_parser(config, seed=1)
    sentences = read_corpus(checkout / "assets/treebank/dev.conllu", nlp.vocab)
    docs = [sentence_to_doc(nlp.vocab, sentence.conllu) for sentence in sentences]
    weights = {name: [] for name in nlp.config["training"]["frozen_components"] + ["arc_scorer"]}

    def keep():
        for name, seen in weights.items():
            seen.append(nlp.get_pipe(name).model.to_bytes())

    train(nlp, docs[:8], 3, 1, keep)
    assert [len(set(seen)) for seen in weights.values()] == [1, 3]
