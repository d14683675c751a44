"""The model by itself: what it takes, and what comes out."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import fix_random_seed

from scorer_helpers import DeviceOps, randomise, small, to_ops
from spacy_mindroot.arc_scorer.model import ArcGradient, ArcInput


@pytest.fixture
def model():
    model = spacy.registry.resolve(small())["model"]
    model.set_dim("nO", 3)
    model.get_ref("tag_features").set_dim("nT", 4)
    return model


@pytest.fixture
def docs():
    vocab = spacy.blank("en").vocab
    return [
        Doc(vocab, words=list("abcde"), sent_starts=[True, False, True, False, False]),
        Doc(vocab),
        Doc(vocab, words=list("fgh")),
    ]


def test_a_list_of_docs_is_as_good_as_an_arc_input(model, docs):
    fix_random_seed(0)
    model.initialize(X=docs)
    given, expected = model.predict(docs), model.predict(ArcInput(docs, [2, 3, 3]))
    assert given.batch.lengths.tolist() == [2, 3, 3]
    for one, other in zip(given.arcs, expected.arcs, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(given.tags, expected.tags)
    for group, same in zip(given.batch.groups, expected.batch.groups, strict=True):
        for one, other in zip(given.labels.of_all_arcs(group), expected.labels.of_all_arcs(same), strict=True):
            np.testing.assert_array_equal(one, other)


def test_arcs_that_do_not_exist(model, docs, rng):
    """Self arcs and arcs from padding are -inf, on the host and on other devices; all others are the same on both."""
    model.initialize(X=docs)
    for node in model.walk():
        randomise(node, rng)
    on_host = model.predict(ArcInput(docs, [2, 3, 3]))
    on_device = to_ops(model, DeviceOps()).predict(ArcInput(docs, [2, 3, 3]))
    assert any((group.lengths < group.real.shape[1]).any() for group in on_host.batch.groups)
    for group, one, other in zip(on_host.batch.groups, on_host.arcs, on_device.arcs, strict=True):
        np.testing.assert_array_equal(np.isneginf(one), ~group.allowed)
        np.testing.assert_array_equal(np.isneginf(other), ~group.allowed)
        for row, n in enumerate(group.lengths):
            np.testing.assert_allclose(one[row, :n], other[row, :n], rtol=1e-4, atol=1e-3)


def test_a_doc_without_a_token(model, docs):
    model.initialize(X=docs)
    output = model.predict([Doc(docs[0].vocab)])
    assert output.arcs == [] and output.batch.groups == [] and output.tags.shape == (0, 4)


def test_gradients_of_all_parameters_are_set(model, docs):
    heads = np.array([0, 1, 2, 0, -1, 0, 1, 1])
    inputs = ArcInput(docs, [2, 3, 3], heads)
    model.initialize(X=inputs)
    output, backprop = model.begin_update(inputs)
    backprop(
        ArcGradient([np.ones_like(a) for a in output.arcs], np.ones_like(output.labels), np.ones_like(output.tags))
    )
    for node in model.walk():
        for name in node.param_names:
            assert node.has_grad(name), (node.name, name)


def test_without_parts_of_speech(docs):
    config = small()
    config["model"]["tag_width"] = 0
    model = spacy.registry.resolve(config)["model"]
    model.set_dim("nO", 3)
    model.initialize(X=docs)
    assert model.predict(docs).tags is None
