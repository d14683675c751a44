"""Pipelines whose scorer is the mean of several."""

import numpy as np
import pytest
import spacy
from numpy.testing import assert_allclose
from spacy.lookups import Table
from spacy.tokens import Doc

from scorer_helpers import gold_docs, make_examples, make_nlp, parse, small, trees, with_sentences
from spacy_mindroot import decode
from spacy_mindroot.arc_scorer.average import average_pipelines, build_average
from spacy_mindroot.arc_scorer.lexicon import TABLE
from spacy_mindroot.errors import TrainingError
from spacy_mindroot.inference import Calibration
from spacy_mindroot.pipeline.calibration import set_calibration


@pytest.fixture(scope="module")
def docs():
    return gold_docs()


def pipelines(docs, steps=10, **kwargs):
    """Two pipelines that differ."""
    return [make_nlp(docs, steps=steps, seed=seed, encoder="ours", **kwargs) for seed in (1, 2)]


def scored(nlp, docs):
    return list(nlp.get_pipe("arc_scorer").pipe([with_sentences(nlp, doc) for doc in docs]))


def log_softmax(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def test_scores_are_means_of_log_probabilities(docs):
    nlps = pipelines(docs)
    parts = [
        [part for doc in scored(nlp, docs) for part in zip(doc._.arc_scores, doc._.arc_labels, strict=True)]
        for nlp in nlps
    ]
    averaged = average_pipelines(nlps)
    found = scored(averaged, docs)
    assert found[0]._.arc_label_names == list(nlps[1].get_pipe("arc_scorer").labels)
    means = [part for doc in found for part in zip(doc._.arc_scores, doc._.arc_labels, strict=True)]
    for (scores, labels), (a, x), (b, y) in zip(means, *parts, strict=True):
        assert not np.allclose(a, b)
        assert_allclose(np.exp(scores).sum(axis=1), 1, rtol=1e-4)
        assert_allclose(scores, log_softmax((a + b) / 2), rtol=1e-3, atol=1e-4)
        heads = decode(scores)
        mean = (log_softmax(x.scores_of_tree(heads)) + log_softmax(y.scores_of_tree(heads))) / 2
        attached = heads > 0
        assert_allclose(
            log_softmax(labels.scores_of_tree(heads)[attached]), log_softmax(mean[attached]), rtol=1e-3, atol=1e-4
        )
        best = labels.of_tree(heads)
        assert best.tolist() == np.where(attached, mean.argmax(axis=1), 0).tolist()
        assert np.asarray(labels)[np.arange(len(heads)), heads].tolist() == best.tolist()
        some = labels.scores_of_arcs(np.flatnonzero(attached), heads[attached].astype(np.int64))
        assert_allclose(some, log_softmax(mean[attached]), rtol=1e-3, atol=1e-4)
        assert_allclose(np.exp(some).sum(axis=1), 1, rtol=1e-4)


@pytest.mark.parametrize("settings", [{"joint": True}, {"log_probabilities": False}], ids=["joint", "raw scores"])
def test_settings_are_kept(docs, settings):
    nlps = pipelines(docs, config=settings)
    averaged = average_pipelines(nlps)
    scorer = averaged.get_pipe("arc_scorer")
    assert all(getattr(scorer, name) == value for name, value in settings.items())
    expected = scored(averaged, docs)
    if settings.get("joint"):
        assert all(
            (scores <= 0).all() and np.exp(scores).sum() < scores.shape[0]
            for d in expected
            for scores in d._.arc_scores
        )
    assert all(doc.has_annotation("DEP") for doc in parse(averaged, docs))


def listening(docs, seed):
    """A pipeline whose scorer and tagger listen to one encoder."""
    from thinc.api import fix_random_seed

    fix_random_seed(seed)
    nlp = spacy.blank("en")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
    below = {"@architectures": "spacy-mindroot.CNNBiLSTM.v1", "width": 96, "depth": 0}
    nested = {"@architectures": "spacy.Tok2Vec.v2", "embed": listener, "encode": below}
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("morphologizer", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}})
    nlp.add_pipe("arc_scorer", name="scorer", config={"model": small()["model"] | {"tok2vec": nested}})
    nlp.add_pipe("mind_root")
    optimizer = nlp.initialize(lambda: make_examples(nlp, docs))
    for _ in range(3):
        nlp.update(make_examples(nlp, docs), sgd=optimizer)
    return nlp


def test_scorers_that_listen_to_an_encoder(docs, tmp_path):
    """The first goes on listening, so that its encoder is not there twice; the others have their own."""
    expected, own = [], []
    for seed in (1, 2, 3):
        nlp = listening(docs, seed)
        docs_ = list(nlp.pipe([with_sentences(nlp, doc) for doc in docs], disable=["mind_root"]))
        expected.append([scores for doc in docs_ for scores in doc._.arc_scores])
        own.append(nlp)
    tags = [[token.pos_ for token in own[0](with_sentences(own[0], doc))] for doc in docs]
    set_calibration(own[0], Calibration(arc_temperature=2.0))
    nlp = average_pipelines(own)
    assert nlp is own[0] and nlp.pipe_names == ["tok2vec", "morphologizer", "scorer", "mind_root"]
    assert nlp.get_pipe("tok2vec").listening_components == ["morphologizer", "scorer"]
    assert nlp.get_pipe("mind_root").calibration is None and not nlp.meta["calibration"]
    nlp.to_disk(tmp_path)
    for loaded in (nlp, spacy.load(tmp_path), spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())):
        found = list(loaded.pipe([with_sentences(loaded, doc) for doc in docs], disable=["mind_root"]))
        assert [[token.pos_ for token in doc] for doc in found] == tags
        flat = [scores for doc in found for scores in doc._.arc_scores]
        for scores, *parts in zip(flat, *expected, strict=True):
            assert_allclose(scores, log_softmax(sum(parts) / 3), rtol=1e-3, atol=1e-4)
        assert trees(parse(loaded, docs)) == trees(parse(nlp, docs))


def test_an_empty_doc_and_no_docs(docs):
    averaged = average_pipelines(pipelines(docs))
    found = list(averaged.pipe([Doc(averaged.vocab), with_sentences(averaged, docs[0])]))
    assert [len(doc) for doc in found] == [0, len(docs[0])]
    assert list(averaged.pipe([])) == []


def test_it_can_not_be_trained(docs):
    averaged = average_pipelines(pipelines(docs))
    with pytest.raises(TrainingError, match="can't be trained"):
        averaged.update(make_examples(averaged, docs))
    fresh = spacy.blank("en").from_config(averaged.config)
    with pytest.raises(TrainingError, match="can't be trained"):
        fresh.initialize(lambda: make_examples(fresh, docs))


def test_what_can_not_be_averaged(docs):
    one = make_nlp(docs, steps=0, encoder="ours")
    with pytest.raises(TrainingError, match="two pipelines or more, but there are 1"):
        average_pipelines([one])
    with pytest.raises(TrainingError, match="no scorers"):
        build_average()
    with pytest.raises(TrainingError, match=r"Pipeline 2 has 0 components arc_scorer.*Its components: none"):
        average_pipelines([one, spacy.blank("en")])
    fewer = make_nlp(docs[:1], steps=0, encoder="ours")
    with pytest.raises(TrainingError, match=r"Pipeline 2 has other labels than pipeline 1 \(.*advcl"):
        average_pipelines([one, fewer])
    limited = make_nlp(docs, steps=0, encoder="ours", config={"max_length": 99})
    with pytest.raises(TrainingError, match="Pipeline 3 has max_length = 99, and pipeline 1 has 1000"):
        average_pipelines([one, make_nlp(docs, steps=0, encoder="ours"), limited])
    other = make_nlp(docs, steps=0, encoder="ours")
    other.vocab.set_vector("cat", np.ones(3, dtype="f"))
    with pytest.raises(TrainingError, match="Pipeline 2 has other word vectors"):
        average_pipelines([one, other])
    with_lexicon = make_nlp(docs, steps=0, encoder="ours")
    with_lexicon.vocab.lookups.set_table(TABLE, Table(TABLE, {"forms": b""}))
    with pytest.raises(TrainingError, match="Pipeline 2 has another lexicon than pipeline 1"):
        average_pipelines([one, with_lexicon])
    german = spacy.blank("de").from_config(one.config | {"nlp": one.config["nlp"] | {"lang": "de"}})
    with pytest.raises(TrainingError, match="language 'de', and pipeline 1 for 'en'"):
        average_pipelines([one, german.from_bytes(one.to_bytes())])
