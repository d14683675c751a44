"""A pipeline that was trained and saved by an earlier version loads unchanged and parses as it did then.

tests/data/pipeline-0.1.0a was trained for 400 steps on assets/treebank with the config of
`init-config --lang en --pipeline senter,tagger,morphologizer`, with `kbest = 2`, `confidence = true`, and all widths
reduced. The .json file is what it said of a text, and the .bin file its `to_bytes(exclude=["vocab", "tokenizer"])`.
"""

import json

import pytest
import spacy


@pytest.fixture(scope="module")
def saved(checkout):
    return checkout / "tests" / "data" / "pipeline-0.1.0a"


def check(doc, expected):
    assert [t.text for t in doc] == expected["words"]
    assert [t.head.i for t in doc] == expected["heads"]
    assert [t.dep_ for t in doc] == expected["deps"]
    assert [t.tag_ for t in doc] == expected["tags"]
    assert [t.pos_ for t in doc] == expected["pos"]
    assert [bool(t.is_sent_start) for t in doc] == expected["starts"]
    assert [t._.head_prob for t in doc] == pytest.approx(expected["head_prob"], abs=1e-4)
    for span, trees in zip(doc.sents, expected["trees"], strict=True):
        assert [heads.tolist() for heads, _ in span._.trees] == [heads for heads, _ in trees]
        assert [weight for _, weight in span._.trees] == pytest.approx([weight for _, weight in trees], abs=1e-3)


def test_from_disk(saved):
    expected = json.loads((saved.parent / f"{saved.name}.json").read_text("utf8"))
    check(spacy.load(saved)(expected["text"]), expected)


def test_from_bytes(saved):
    expected = json.loads((saved.parent / f"{saved.name}.json").read_text("utf8"))
    nlp = spacy.load(saved)
    nlp.from_bytes((saved.parent / f"{saved.name}.bin").read_bytes(), exclude=["vocab", "tokenizer"])
    check(nlp(expected["text"]), expected)


def test_its_config_makes_a_pipeline(saved):
    config = spacy.util.load_config(saved / "config.cfg")
    assert spacy.util.load_model_from_config(config, auto_fill=False).pipe_names == config["nlp"]["pipeline"]
