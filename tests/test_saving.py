"""Everything that is registered can be saved, copied and pickled, and then gives the same numbers.

The names come from the entry points of the package, so that a new one fails here until a pipeline below has it.
"""

import copy
import pickle
import subprocess
import sys
from functools import cache
from importlib.metadata import distribution

import numpy as np
import pytest
import spacy
from spacy import util
from thinc.api import Config, fix_random_seed

from scorer_helpers import gold_docs, make_examples, small, with_sentences
from spacy_mindroot.arc_scorer.average import average_pipelines
from spacy_mindroot.pipeline.calibration import calibrate
from spacy_mindroot.tools.building.config import make_config

SIZES = {
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.embed.rows": [50, 50, 50, 50],
    "components.tok2vec.model.embed.ngram_rows": 50,
    "components.arc_scorer.model.arc_width": 8,
    "components.arc_scorer.model.label_width": 8,
    "components.mind_root.confidence": True,
}


def init_config(optimize="accuracy", extras=(), **kwargs):
    """A pipeline from `init-config`, with small layers."""
    settings = kwargs.pop("settings", {})
    text = make_config("en", optimize, list(extras), None, **kwargs)
    return util.load_model_from_config(Config().from_str(text, overrides=SIZES | settings), auto_fill=True)


def blank(*components, **config):
    nlp = spacy.blank("en")
    for name in components:
        nlp.add_pipe(name, config=config.get(name, {}))
    return nlp


def source(name, **settings):
    return blank("sentencizer", "mind_root", mind_root={"scores": {"@misc": f"spacy-mindroot.{name}.v1", **settings}})


def trained(nlp, docs, seed=0):
    fix_random_seed(seed)
    nlp.initialize(lambda: make_examples(nlp, docs))
    for _ in range(2):
        nlp.update(make_examples(nlp, docs), drop=0.1)
    return nlp


def averaged(docs):
    return average_pipelines([trained(init_config("efficiency", ["tagger"]), docs, seed) for seed in (1, 2)])


def calibrated(docs):
    """With head sets and labels in the scores of arcs."""
    settings = {"components.mind_root.coverage": 0.9, "components.arc_scorer.joint": True}
    nlp = trained(init_config(settings=settings), docs)
    calibrate(nlp, docs)
    return nlp


def calibrated_average(docs):
    nlp = averaged(docs)
    calibrate(nlp, docs)
    return nlp


TREEBANKS = {
    "components.tok2vec.model.embed.treebank_rows": 10,
    "components.mind_root.rules": "learnt",
    "initialize.components.mind_root": {"min_support": 1, "max_violation": 0.5},
}
PIPELINES = {
    "tagged": lambda docs: trained(init_config(extras=["senter", "tagger", "morphologizer"]), docs),
    "whole doc": lambda docs: trained(init_config("efficiency", whole_doc=True), docs),
    "average": averaged,
    "calibrated": calibrated,
    "calibrated average": calibrated_average,
    "treebanks, and learnt rules": lambda docs: trained(init_config(settings=TREEBANKS), docs),
    "spaCy's encoder": lambda docs: trained(
        blank(
            "sentencizer",
            "arc_scorer",
            "mind_root",
            arc_scorer=small(),
            mind_root={"rules": "ud", "confidence": True},
        ),
        docs,
    ),
    "another parser": lambda docs: trained(
        blank(
            "parser",
            "mind_root",
            parser={"min_action_freq": 1},
            mind_root={"scores": {"@misc": "spacy-mindroot.head_scores.v1"}},
        ),
        docs,
    ),
    "scores of a Doc": lambda docs: source("whole_doc_scores"),
    "scores in user data": lambda docs: source("user_data_scores", key="scores"),
    "answers of a language model": lambda docs: source("answers"),
}


@cache
def gold():
    return gold_docs(4)


@cache
def pipeline(name):
    return PIPELINES[name](gold())


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    """The folder of a pipeline in which four components listen to a fifth."""
    folder = tmp_path_factory.mktemp("tagged")
    pipeline("tagged").to_disk(folder)
    return folder


def registered(group):
    return {point.name for point in distribution("spacy-mindroot").entry_points if point.group == group}


def named_in(config, key):
    """All values of a key, at any depth of a config."""
    for name, value in config.items():
        if isinstance(value, dict):
            yield from named_in(value, key)
        elif name == key:
            yield value


def test_every_registered_name_is_in_a_pipeline():
    configs = [pipeline(name).config.interpolate() for name in PIPELINES]
    for group, key in (
        ("spacy_architectures", "@architectures"),
        ("spacy_factories", "factory"),
        ("spacy_misc", "@misc"),
        ("spacy_scorers", "@scorers"),
    ):
        missing = registered(group) - {name for config in configs for name in named_in(config, key)}
        assert not missing, f"{group}: add a pipeline with {missing}"


def results(nlp):
    """What a pipeline writes, to the last digit."""
    found = []
    for number, gold_doc in enumerate(gold()):
        doc = with_sentences(nlp, gold_doc)
        if nlp.pipe_names == ["sentencizer", "mind_root"]:
            scores = np.random.default_rng(number).normal(size=(len(doc), len(doc) + 1))
            bounds = [(sentence.start, sentence.end) for sentence in doc.sents]
            doc._.arc_scores = scores
            doc.user_data["scores"] = [np.c_[scores[a:b, 0], scores[a:b, a + 1 : b + 1]] for a, b in bounds]
            doc.user_data["mindroot_answers"] = [
                {"words": [token.text for token in doc[a:b]], "heads": matrix.argmax(axis=1).tolist()}
                for (a, b), matrix in zip(bounds, doc.user_data["scores"], strict=True)
            ]
        doc = nlp(doc)
        written = [(t.head.i, t.dep_, t.tag_, str(t.morph), t.is_sent_start) for t in doc]
        certain = [(t._.head_prob, t._.dep_prob, t._.head_set and [head.i for head in t._.head_set]) for t in doc]
        found += [written, certain]
    return found


@pytest.mark.parametrize("name", PIPELINES)
def test_every_way_to_keep_a_pipeline(name, tmp_path):
    nlp = pipeline(name)
    expected = results(nlp)
    assert len({head for head, *_ in expected[0]}) > 3
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)  # after training, spaCy's listeners can't be pickled
    for way, kept in {
        "disk": loaded,
        "bytes": util.load_model_from_config(nlp.config, auto_fill=True).from_bytes(nlp.to_bytes()),
        "pickle": pickle.loads(pickle.dumps(loaded)),
        "copy": copy.deepcopy(nlp),
    }.items():
        assert results(kept) == expected, way
    assert results(nlp) == expected, "keeping it changes nothing"
    for own, component in loaded.components:
        if own != "sentencizer":  # which writes a set
            for kept in (nlp.get_pipe(own), pickle.loads(pickle.dumps(component)), copy.deepcopy(component)):
                assert kept.to_bytes() == component.to_bytes(), own


def test_training_goes_on(tagged):
    """A pipeline that was kept learns what the original does, its optimizer included."""
    loaded = spacy.load(tagged)
    loaded.resume_training()
    losses = []
    for kept in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded), loaded):
        fix_random_seed(0)
        losses.append([kept.update(make_examples(kept, gold()), sgd=kept._optimizer) for _ in range(2)])
    assert losses[0] == losses[1] == losses[2]


def test_worker_processes_of_each_start_method(tagged, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, spacy, sys\n"
        "if __name__ == '__main__':\n"
        "    nlp = spacy.load(sys.argv[1])\n"
        "    texts = ['Anna bakes bread .', 'Tom sees her .', 'It rains .', 'The old key is in the garden .']\n"
        "    expected = [doc.to_json() for doc in nlp.pipe(texts)]\n"
        "    for method in multiprocessing.get_all_start_methods():\n"
        "        multiprocessing.set_start_method(method, force=True)\n"
        "        found = [doc.to_json() for doc in nlp.pipe(texts, n_process=2, batch_size=2)]\n"
        "        assert found == expected, method\n"
        "        print(method)\n"
    )
    done = subprocess.run([sys.executable, script, tagged], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "spawn" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("name", "in_config"), [("tagger", False), ("senter", False), ("arc_scorer", False), ("arc_scorer", True)]
)
def test_replaced_listeners(tagged, tmp_path, name, in_config):
    """At the path that spaCy's own warning (W086) names."""
    nlp = spacy.load(tagged)
    expected = results(nlp)
    if in_config:
        config = nlp.config.copy()
        config["components"] = {other: {"source": str(tagged)} for other in nlp.pipe_names}
        config["components"][name]["replace_listeners"] = ["model.tok2vec"]
        nlp = util.load_model_from_config(config, auto_fill=True)
    else:
        nlp.replace_listeners("tok2vec", name, ["model.tok2vec"])
    assert name not in nlp.get_pipe("tok2vec").listening_components
    nlp.to_disk(tmp_path)
    for kept in (nlp, spacy.load(tmp_path), util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())):
        assert results(kept) == expected
