"""Real configs, real command lines, fresh processes."""

import subprocess
import sys

import numpy as np
import pytest
import spacy
from spacy import util
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from thinc.api import get_current_ops

from generators import random_tree, scores_of_tree
from scorer_helpers import gold_docs, make_examples, trees
from spacy_mindroot.tools.building.config import make_config

CONFIG = """
[nlp]
lang = "de"
pipeline = ["mind_root"]

[components]

[components.mind_root]
factory = "mind_root"
scores = {"@misc": "spacy-mindroot.doc_arc_scores.v1"}
keep_scores = false
root_label = "ROOT"
fallback_label = "dep"
"""


def run(*command, cwd):
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def spacy_cli(*args, cwd):
    return run(sys.executable, "-m", "spacy", *args, cwd=cwd)


@pytest.fixture
def scored(tmp_path):
    """Return a .spacy file of scored Docs, and their trees."""
    rng = np.random.default_rng(1)
    nlp = spacy.blank("de")
    docs, heads = [], []
    for _ in range(20):
        trees = [random_tree(n, rng) for n in rng.integers(1, 15, size=2)]
        doc = Doc(nlp.vocab, words=[f"w{i}" for i in range(sum(map(len, trees)))])
        doc._.arc_scores = [scores_of_tree(tree, rng) for tree in trees]
        docs.append(doc)
        heads.append([tree.tolist() for tree in trees])
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "scored.spacy")
    return tmp_path / "scored.spacy", heads


def read_heads(doc):
    return [[0 if t.head.i == t.i else t.head.i - s.start + 1 for t in s] for s in doc.sents]


def assemble(tmp_path):
    (tmp_path / "config.cfg").write_text(CONFIG)
    spacy_cli("assemble", "config.cfg", "model", cwd=tmp_path)
    return tmp_path / "model"


def test_a_fresh_process_of_any_language_finds_the_factory(tmp_path):
    for lang in ("de", "xx", "fi"):
        run(sys.executable, "-c", f"import spacy; spacy.blank({lang!r}).add_pipe('mind_root')", cwd=tmp_path)


def test_assemble_and_apply(tmp_path, scored):
    path, heads = scored
    model = assemble(tmp_path)
    spacy_cli("apply", model, path, "parsed.spacy", "--force", cwd=tmp_path)
    docs = DocBin().from_disk(tmp_path / "parsed.spacy").get_docs(spacy.blank("de").vocab)
    assert [read_heads(doc) for doc in docs] == heads


def test_init_fill_config_and_debug_config(tmp_path):
    (tmp_path / "base.cfg").write_text(
        '[nlp]\nlang = "de"\npipeline = ["mind_root"]\n[components]\n[components.mind_root]\nfactory = "mind_root"\n'
    )
    spacy_cli("init", "fill-config", "base.cfg", "full.cfg", cwd=tmp_path)
    filled = (tmp_path / "full.cfg").read_text()
    assert "spacy-mindroot.doc_arc_scores.v1" in filled and 'fallback_label = "dep"' in filled
    spacy_cli("debug", "config", "full.cfg", "--paths.train", "x", "--paths.dev", "x", cwd=tmp_path)


# ---------------------------------------------------------------------------------------------------------------------
# The configs of `init-config`

TAGS = ["tagger", "morphologizer", "trainable_lemmatizer"]
CPU_CONFIGS = {  # the options of `make_config`
    "cpu-accurate": {"optimize": "accuracy", "extras": ["senter"]},
    "cpu-small": {"optimize": "efficiency", "extras": ["senter"]},
    "cpu-tagged": {"optimize": "accuracy", "extras": ["senter", *TAGS]},
    "whole-doc-accurate": {"optimize": "accuracy", "extras": [], "whole_doc": True},
    "whole-doc-small": {"optimize": "efficiency", "extras": [], "whole_doc": True},
}


def make_pipeline(name, **overrides):
    text = make_config("xx", transformer=None, **CPU_CONFIGS[name])
    overrides = {key.replace("__", "."): value for key, value in overrides.items()}
    return util.load_model_from_config(util.load_config_from_str(text, overrides=overrides))


def train_in_python(nlp, docs, steps):
    """A loop as in spaCy's documentation: it steps no schedule. Return the loss of the scorer at each step."""
    return [nlp.update(make_examples(nlp, docs))["arc_scorer"] for _ in range(steps)]


@pytest.mark.parametrize("name", ["cpu-accurate", "whole-doc-small"])
def test_a_loop_in_python_learns(tmp_path, name):
    docs = gold_docs(count=3)
    nlp = make_pipeline(name)
    nlp.initialize(lambda: make_examples(nlp, docs))
    losses = train_in_python(nlp, docs, 10)
    assert losses[-1] < 0.8 * losses[0]
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    optimizer = loaded.resume_training()
    losses = [loaded.update(make_examples(loaded, docs), sgd=optimizer)["arc_scorer"] for _ in range(15)]
    assert losses[-1] < 0.9 * losses[0]


def test_configs_with_the_schedule_of_thinc_still_work():
    """Configs of earlier versions name it."""
    docs = gold_docs(count=2)
    schedule = {"@schedules": "warmup_linear.v1", "warmup_steps": 1, "total_steps": 100, "initial_rate": 0.003}
    nlp = make_pipeline("whole-doc-small", training__optimizer__learn_rate=schedule)
    optimizer = nlp.initialize(lambda: make_examples(nlp, docs))
    assert optimizer.learn_rate == 0
    optimizer.step_schedules()
    assert optimizer.learn_rate == 0.003
    losses = train_in_python(nlp, docs, 6)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", CPU_CONFIGS)
def test_analyze_pipes_finds_no_problem(name):
    nlp = make_pipeline(name)
    problems = nlp.analyze_pipes()["problems"]
    assert set(problems) == set(nlp.pipe_names) and not any(problems.values()), problems


@pytest.mark.parametrize("name", ["cpu-small", "whole-doc-small"])
def test_debug_model(checkout, tmp_path, name):
    DocBin(docs=gold_docs(count=5)).to_disk(tmp_path / "train.spacy")
    config = checkout / "configs" / f"{name}.cfg"
    command = ["debug", "model", config, "arc_scorer", "--print-step3", "--paths.train", "train.spacy"]
    printed = spacy_cli(*command, "--paths.dev", "train.spacy", cwd=tmp_path)
    assert "Successfully ended analysis" in printed and "ArcOutput" in printed


@pytest.mark.parametrize("name", CPU_CONFIGS)
def test_every_layer_uses_the_products_that_the_config_says(name):
    for choice, use_blis in (("numpy", False), ("blis", True)):
        nlp = make_pipeline(name, nlp__after_pipeline_creation__products=choice)
        models = [pipe.model for _, pipe in nlp.pipeline if hasattr(pipe, "model")]
        assert {node.ops.use_blis for model in models for node in model.walk()} == {use_blis}
        assert get_current_ops().use_blis, "the default for other pipelines"


@pytest.mark.filterwarnings("ignore:arc_scorer")  # texts of two sentences, taken as one
def test_trees_do_not_depend_on_the_products(tmp_path):
    docs = gold_docs(count=3)
    nlp = make_pipeline("whole-doc-small", nlp__after_pipeline_creation__products="numpy")
    nlp.initialize(lambda: make_examples(nlp, docs))
    train_in_python(nlp, docs, 3)
    nlp.to_disk(tmp_path)
    overrides = {"nlp": {"after_pipeline_creation": {"products": "blis"}}}
    other = spacy.load(tmp_path, config=overrides)
    assert other.get_pipe("arc_scorer").model.ops.use_blis and not nlp.get_pipe("arc_scorer").model.ops.use_blis
    parsed = [[pipeline(text.text) for text in docs] for pipeline in (nlp, other)]
    assert trees(parsed[0]) == trees(parsed[1])


def test_a_saved_pipeline_of_an_earlier_version_has_the_default_of_max_length(checkout):
    nlp = spacy.load(checkout / "tests" / "data" / "pipeline-0.1.0a")
    assert nlp.get_pipe("arc_scorer").max_length == 1000


@pytest.mark.parametrize("name", ["cpu-small", "whole-doc-small"])
def test_spacy_train_with_docs_that_have_no_parse(checkout, tmp_path, name, capsys):
    """Corpora for several tasks often mix Docs; `spacy train` also evaluates, calibrates and saves."""
    parsed = gold_docs(count=6)
    bare = [Doc(parsed[0].vocab, words=["It", "rained", "."], ents=["B-X", "O", "O"], tags=["A", "B", "C"])]
    for part, docs in (("train", [*bare, *parsed[:4], *bare]), ("dev", [*parsed[4:], *bare])):
        DocBin(docs=docs).to_disk(tmp_path / f"{part}.spacy")
    overrides = {
        "paths.train": str(tmp_path / "train.spacy"),
        "paths.dev": str(tmp_path / "dev.spacy"),
        "training.max_steps": 2,
        "training.eval_frequency": 1,
        "components.mind_root.rules": "learnt",
        "components.tok2vec.model.encode.width": 32,
        "corpora.train": {"@readers": "spacy.Corpus.v1", "path": "${paths.train}"},
        "corpora.dev": {"@readers": "spacy.Corpus.v1", "path": "${paths.dev}"},
    }
    if name == "cpu-small":  # with PassageCorpus
        del overrides["corpora.train"], overrides["corpora.dev"]
    train(checkout / "configs" / f"{name}.cfg", tmp_path / "model", overrides=overrides)
    nlp = spacy.load(tmp_path / "model" / "model-last")
    assert nlp.get_pipe("mind_root").calibration is not None
    dev = make_examples(nlp, [*parsed[4:], *bare])
    without, mixed = nlp.evaluate(dev[:-1]), nlp.evaluate(dev)
    trees = [score for score in without if score.startswith(("dep_", "root_"))]
    assert {score: mixed[score] for score in trees} == {score: without[score] for score in trees}
