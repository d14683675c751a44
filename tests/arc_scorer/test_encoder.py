"""The encoder of the CPU configs."""

import numpy as np
import pytest
import spacy
from thinc.api import fix_random_seed

from scorer_helpers import ENCODERS, make_docs
from spacy_mindroot.arc_scorer.encoder import build_cnn_bilstm
from spacy_mindroot.errors import MindRootError


def test_shapes():
    """With empty texts among others, with empty texts alone, and with several layers."""
    for depth, lstm_depth in ((1, 1), (0, 1), (1, 2), (1, 0)):
        encoder = build_cnn_bilstm(8, depth=depth, lstm_depth=lstm_depth)
        encoder.initialize(X=[np.ones((4, 8), dtype="f")])
        vectors = [np.ones((n, 8), dtype="f") for n in (4, 0, 2)]
        outputs, backprop = encoder.begin_update(vectors)
        assert [v.shape for v in outputs] == [v.shape for v in backprop(outputs)] == [(4, 8), (0, 8), (2, 8)]
        assert [v.shape for v in encoder.predict([np.zeros((0, 8), dtype="f")] * 2)] == [(0, 8)] * 2


def test_the_two_parts_one_after_the_other():
    """A convolution alone and a BiLSTM alone, with the weights of an encoder that has both."""
    rng = np.random.default_rng(0)
    texts = [rng.normal(size=(n, 8)).astype("f") for n in (4, 0, 2)]
    both, convolution, bilstm = (
        build_cnn_bilstm(8, depth=depth, lstm_depth=lstm_depth) for depth, lstm_depth in ((2, 2), (2, 0), (0, 2))
    )
    for encoder in (both, convolution, bilstm):
        encoder.initialize(X=texts)
    convolution.layers[0].from_bytes(both.layers[0].to_bytes())
    for own, other in zip(bilstm.layers, both.layers[1:], strict=True):
        own.from_bytes(other.to_bytes())
    expected, backprop = both.begin_update(texts)
    between, backprop_convolution = convolution.begin_update(texts)
    found, backprop_bilstm = bilstm.begin_update(between)
    gradient = [rng.normal(size=text.shape).astype("f") for text in texts]
    d_found = backprop_convolution(backprop_bilstm(gradient))
    for one, other in zip([*found, *d_found], [*expected, *backprop(gradient)], strict=True):
        np.testing.assert_array_equal(one, other)


def test_settings_that_do_not_fit():
    for wrong in ({"width": 7}, {"width": 8, "depth": 0, "lstm_depth": 0}, {"width": 8, "lstm_depth": -1}):
        with pytest.raises(MindRootError, match="a convolutional or a BiLSTM layer"):
            build_cnn_bilstm(**wrong)
    assert build_cnn_bilstm(7, lstm_depth=0).get_dim("nO") == 7


@pytest.mark.parametrize(
    ("ours", "spacys"),
    [("spacy-mindroot.Tagger.v1", "spacy.Tagger.v2"), ("spacy-mindroot.Biaffine.v1", "spacy-mindroot.Biaffine.v1")],
    ids=["tagger", "scorer"],
)
def test_layers_on_top_of_the_token_vectors(ours, spacys):
    """`encode` makes the same model as a `spacy.Tok2Vec.v2` with these layers."""
    embed, encode = ENCODERS["ours"]["embed"], ENCODERS["ours"]["encode"]
    both = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    settings = [
        {"@architectures": ours, "nO": 3, "tok2vec": embed, "encode": encode},
        {"@architectures": spacys, "nO": 3, "tok2vec": both},
    ]
    models = [spacy.registry.resolve({"model": own})["model"] for own in settings]
    for model in models:
        if model.maybe_get_ref("tag_features"):
            model.get_ref("tag_features").set_dim("nT", 2)
        fix_random_seed(0)
        model.initialize(X=make_docs())
    assert "cnn_bilstm" in [node.name for node in models[0].walk()]
    own, others = ([node.get_param(name) for node in model.walk() for name in node.param_names] for model in models)
    for one, other in zip(own, others, strict=True):
        np.testing.assert_array_equal(one, other)
