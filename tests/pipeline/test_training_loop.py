"""The loop of `spacy train`, step by step."""

from itertools import islice

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import Config

from spacy_mindroot.pipeline.training_loop import averaged_bytes, resolve_training, training_steps, with_gold_tokens

CONFIG = """
[nlp]
lang = "xx"
pipeline = ["senter"]

[components]

[components.senter]
factory = "senter"

[training]
eval_frequency = 4
dropout = 0.1

[training.optimizer]
@optimizers = "Adam.v1"
use_averages = true
"""


@pytest.fixture
def nlp():
    return spacy.util.load_model_from_config(Config().from_str(CONFIG), auto_fill=True)


def corpus(nlp):
    doc = spacy.tokens.Doc(nlp.vocab, words=["a", ".", "b", "."], sent_starts=[True, False, True, False])
    return [Example(nlp.make_doc(doc.text), doc)]


def run(nlp, **limits):
    settings = resolve_training(nlp)
    nlp.initialize(lambda: corpus(nlp), sgd=settings["optimizer"])
    return settings, training_steps(nlp, settings, corpus, corpus, **limits)


def test_steps_are_evaluated_as_the_config_says(nlp):
    _, steps = run(nlp)
    evaluated = [info["step"] for info, is_best in islice(steps, 9) if is_best is not None]
    assert evaluated == [0, 4, 8]


def test_limits(nlp):
    _, steps = run(nlp, max_steps=3, eval_frequency=2)
    found = [(info["step"], is_best is not None) for info, is_best in steps]
    assert found[:3] == [(0, True), (1, False), (2, True)] and found[-1][0] <= 3


def test_averages_are_saved_and_weights_stay(nlp):
    settings, steps = run(nlp)
    list(islice(steps, 3))

    def weights(pipeline):
        return pipeline.get_pipe("senter").model.get_ref("softmax").get_param("W").copy()

    before = weights(nlp)
    nlp.from_bytes(averaged_bytes(nlp, settings["optimizer"]))
    averaged = weights(nlp)
    assert np.abs(averaged - before).max() > 0
    settings["optimizer"].averages.clear()
    nlp.from_bytes(averaged_bytes(nlp, settings["optimizer"]))
    assert np.array_equal(weights(nlp), averaged)


def test_no_tokenizer_is_learnt_where_tokens_are_gold():
    config = Config().from_str(CONFIG)
    assert with_gold_tokens(config) == config
    config["nlp"]["tokenizer"] = {"@tokenizers": "spacy-mindroot.Tokenizer.v1"}
    found = with_gold_tokens(config)
    assert found["nlp"]["tokenizer"] == {"@tokenizers": "spacy.Tokenizer.v1"} and found != config
