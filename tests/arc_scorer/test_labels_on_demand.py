"""Labels that are scored for the arcs of the tree alone agree with those of all arcs, and make an array on request."""

import copy
import pickle

import numpy as np
import pytest
import srsly
from spacy.tokens import Doc, DocBin

from scorer_helpers import OPS, DeviceOps, gold_docs, make_nlp, parse, to_ops, trees, vectors, with_sentences
from spacy_mindroot.arc_scorer.batching import batch_sentences
from spacy_mindroot.arc_scorer.label_biaffine import LabelBiaffine, LabelScores
from spacy_mindroot.arc_scorer.labels_on_demand import LabelsOnDemand
from spacy_mindroot.pipeline.arc_labels import ArcLabels


@pytest.fixture(scope="module")
def docs():
    return gold_docs()


@pytest.fixture(scope="module")
def nlp(docs):
    return make_nlp(docs, steps=30)


def scored(nlp, docs):
    return list(nlp.get_pipe("arc_scorer").pipe([with_sentences(nlp, doc) for doc in docs]))


def test_labels_of_a_tree_are_those_of_its_arcs_among_all(nlp, docs, rng):
    for doc in scored(nlp, docs):
        for labels in doc._.arc_labels:
            assert isinstance(labels, LabelsOnDemand)
            n = len(labels)
            array = np.asarray(labels)
            assert array.shape == labels.shape == (n, n + 1) and array.dtype == labels.dtype == np.uint8
            assert (array[:, 0] == 0).all() and (array[:, 1:] > 0).all()
            heads = rng.integers(0, n + 1, n)
            assert labels.of_tree(heads).tolist() == array[np.arange(n), heads].tolist()
            scores = labels.scores_of_tree(heads)
            assert scores.argmax(axis=1).tolist() == labels.of_tree(heads).tolist()
            assert scores.shape == (n, len(nlp.get_pipe("arc_scorer").labels))
            assert ((scores[:, 0] == 0) == (heads == 0)).all() and np.isneginf(scores[heads == 0, 1:]).all()
            assert labels[0, 1] == array[0, 1]
            of_all = labels.scores_of_all_arcs()
            dependents, heads = np.nonzero(rng.random((n, n + 1)) < 0.5)
            some = labels.scores_of_arcs(dependents, heads)
            assert some.dtype == np.float32 and some.flags.c_contiguous and (some <= 0).all()
            np.testing.assert_allclose(some, of_all[dependents, heads], rtol=1e-4, atol=1e-5)
            assert labels.scores_of_arcs(dependents[:0], heads[:0]).shape == (0, scores.shape[1])


def test_the_first_of_equal_labels_is_the_best(rng):
    batch = batch_sentences(OPS, [3])
    model = LabelBiaffine(4, nO=6)
    model.initialize(X=(vectors(rng, 3, 4), vectors(rng, 3, 4), batch, None, None))  # all weights are 0
    scores = model.predict((vectors(rng, 3, 4), vectors(rng, 3, 4), batch, None, None))
    labels = LabelsOnDemand(scores, 0, np.uint8)
    assert labels.of_tree(np.array([0, 1, 2])).tolist() == [0, 1, 1]


def test_a_parse_scores_the_labels_of_its_arcs_alone(nlp, docs, monkeypatch):
    expected = trees(parse(nlp, docs))
    monkeypatch.setattr(LabelScores, "of_all_arcs", None)
    assert trees(parse(nlp, docs)) == expected


def test_a_scorer_on_another_device_leaves_the_same_labels_on_the_host(nlp, docs):
    """With their scores, which calibration, rules and probabilities of labels need."""
    scorer = nlp.get_pipe("arc_scorer")
    expected = [labels for doc in scored(nlp, docs) for labels in doc._.arc_labels]
    to_ops(scorer.model, DeviceOps())
    try:
        found = [labels for doc in scored(nlp, docs) for labels in doc._.arc_labels]
    finally:
        to_ops(scorer.model, OPS)
    for own, other in zip(expected, found, strict=True):
        heads = np.arange(len(own))
        assert own.of_tree(heads).tolist() == other.of_tree(heads).tolist()
        np.testing.assert_array_equal(np.asarray(own), np.asarray(other))
        np.testing.assert_allclose(other.scores_of_all_arcs(), own.scores_of_all_arcs(), rtol=1e-3, atol=1e-4)


def test_those_who_keep_the_scores_have_arrays(nlp, docs):
    mind_root = nlp.get_pipe("mind_root")
    mind_root.keep_scores = True
    try:
        (doc,) = parse(nlp, docs[:1])
    finally:
        mind_root.keep_scores = False
    assert all(type(labels) is np.ndarray for labels in doc._.arc_labels)
    names = doc._.arc_label_names
    for sentence, labels in zip(doc.sents, doc._.arc_labels, strict=True):
        for i, token in enumerate(sentence):
            head = 0 if token.head == token else token.head.i - sentence.start + 1
            assert names[labels[i, head]] == token.dep_


def restored(doc):
    yield copy.deepcopy(doc.user_data)["._.", "arc_labels", None, None]
    yield pickle.loads(pickle.dumps(doc))._.arc_labels
    yield Doc(doc.vocab).from_bytes(doc.to_bytes())._.arc_labels
    yield next(DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab))._.arc_labels
    yield srsly.msgpack_loads(srsly.msgpack_dumps(doc._.arc_labels))


def test_stored_labels_are_arrays(nlp, docs):
    (doc,) = scored(nlp, docs[:1])
    for labels in restored(doc):
        assert len(labels) == len(doc._.arc_labels)
        for own, other in zip(doc._.arc_labels, labels, strict=True):
            assert not isinstance(other, ArcLabels)
            np.testing.assert_array_equal(own, other)


def test_scores_of_all_labels_are_log_probabilities_with_the_best_label_on_top(nlp, docs):
    for doc in scored(nlp, docs):
        for labels in doc._.arc_labels:
            n = len(labels)
            scores = labels.scores_of_all_arcs()
            assert scores.shape == (n, n + 1, len(doc._.arc_label_names))
            own = np.ones((n, n + 1), dtype=bool)
            own[np.arange(n), np.arange(1, n + 1)] = False
            assert (scores.argmax(axis=2) == np.asarray(labels))[own].all()
            assert np.allclose(np.exp(scores).sum(axis=2), 1, atol=1e-5)
            assert (scores[:, 0, 0] == 0).all() and np.isneginf(scores[:, 1:, 0]).all()


def test_trees_under_rules(nlp, docs):
    mind_root = nlp.get_pipe("mind_root")
    mind_root.rules = "ud"
    try:
        parsed = parse(nlp, docs)
    finally:
        mind_root.rules = None
    for doc in parsed:
        for token in doc:
            assert sum(child.dep_ == "obj" for child in token.children) < 2
            assert token.dep_ != "punct" or not any(child.dep_ != "punct" for child in token.children)
