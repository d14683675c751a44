"""`init-config --from`: configs with spaCy's parser, or with explosion's biaffine parsers."""

import pytest
import spacy
from spacy import util
from spacy.cli import app
from spacy.cli.init_config import init_config
from spacy.training import Example
from spacy.training.initialize import init_nlp
from thinc.api import Config
from typer.testing import CliRunner

from spacy_mindroot.errors import MindRootError
from spacy_mindroot.tools.building.convert import convert_config

CONFIG = """
[paths]
train = null
dev = null
tagger = null

[system]
seed = 7

[nlp]
lang = "en"
pipeline = ["tok2vec", "senter", "experimental_arc_predicter", "ner", "experimental_arc_labeler"]
disabled = ["experimental_arc_labeler"]
batch_size = 99

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 24
depth = 1
embed_size = 100
window_size = 1
maxout_pieces = 2
subword_features = true

[components.senter]
factory = "senter"

[components.senter.model]
@architectures = "spacy.Tagger.v1"

[components.senter.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = ${components.experimental_arc_predicter.model.tok2vec.width}
upstream = "tok2vec"

[components.ner]
factory = "ner"

[components.experimental_arc_predicter]
factory = "experimental_arc_predicter"
senter_name = "senter"
max_tokens = 80

[components.experimental_arc_predicter.model]
@architectures = "spacy-experimental.PairwiseBilinear.v1"
hidden_width = 40
nO = 1
mixed_precision = true

[components.experimental_arc_predicter.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 24
upstream = "tok2vec"

[components.experimental_arc_labeler]
factory = "experimental_arc_labeler"

[components.experimental_arc_labeler.model]
@architectures = "spacy-experimental.Bilinear.v1"
hidden_width = 20

[components.experimental_arc_labeler.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 24
upstream = "tok2vec"

[corpora]

[corpora.train]
@readers = "spacy-mindroot.ConlluCorpus.v1"
path = ${paths.train}
sentences_per_doc = 4

[training]
dropout = 0.25
annotating_components = ["senter", "experimental_arc_predicter"]
frozen_components = ["ner"]

[training.score_weights]
dep_uas = 0.25
dep_las = 0.25
bound_dep_uas = 0.05
bound_dep_las = null
sents_f = 0.45

[initialize]

[initialize.components]

[initialize.components.experimental_arc_labeler]

[initialize.components.experimental_arc_labeler.labels]
@readers = "spacy.read_labels.v1"
path = "labels.json"
"""


def read(text):
    return util.load_config_from_str(text, interpolate=False)


@pytest.fixture(scope="module")
def converted():
    return convert_config(read(CONFIG))


def without(text, start):
    """The config without the sections that begin so."""
    return "".join(part for part in text.partition("\n[")[0:1]) + "".join(
        f"\n[{section}" for section in text.split("\n[")[1:] if not section.startswith(start)
    )


def test_scorer_and_decoder_take_the_place_of_the_two(converted):
    config = converted.config
    assert config["nlp"]["pipeline"] == ["tok2vec", "senter", "arc_scorer", "mind_root", "ner"]
    assert config["nlp"]["disabled"] == ["mind_root"]
    scorer = config["components"]["arc_scorer"]
    assert (scorer["factory"], scorer["whole_doc"]) == ("arc_scorer", False)
    assert (scorer["model"]["arc_width"], scorer["model"]["label_width"]) == (40, 20)
    assert scorer["model"]["tok2vec"] == read(CONFIG)["components"]["experimental_arc_predicter"]["model"]["tok2vec"]
    assert config["training"]["annotating_components"] == ["senter", "arc_scorer"]
    assert config["initialize"]["components"] == {
        "arc_scorer": {"labels": {"@readers": "spacy.read_labels.v1", "path": "labels.json"}}
    }
    assert config["components"]["senter"]["model"]["tok2vec"]["width"] == (
        "${components.arc_scorer.model.tok2vec.width}"
    )
    assert "experimental" not in config.to_str(interpolate=False)


def test_all_else_stays(converted):
    before, after = read(CONFIG), converted.config
    for path in ("paths", "system", "corpora"):
        assert after[path] == before[path]
    for name in ("tok2vec", "ner"):
        assert after["components"][name] == before["components"][name]
    assert (after["nlp"]["batch_size"], after["training"]["dropout"]) == (99, 0.25)
    assert after["training"]["frozen_components"] == ["ner"]
    assert read(CONFIG) == before, "not changed"


def test_weights_of_scores_go_on_counting(converted):
    weights = converted.config["training"]["score_weights"]
    assert weights["dep_uas"] == 0.3 and weights["dep_las"] == 0.25 and weights["single_root"] == 0.0
    assert not any(name.startswith("bound") for name in weights)


def test_what_changes_and_what_does_not_fit_is_said(converted):
    changes, problems = "\n".join(converted.changes), "\n".join(converted.problems)
    for said in (
        "arc_width = 40 and label_width = 20",
        "experimental_arc_predicter: senter_name, max_tokens, model.mixed_precision dropped",
        "nlp.pipeline: tok2vec, senter, arc_scorer, mind_root, ner.",
        "nlp.disabled: mind_root.",
        "bound_dep_uas",
        "refers to the new component",
    ):
        assert said in changes
    assert "split long sentences where senter was least sure" in problems and len(converted.problems) == 1


def test_the_converted_config_trains_a_parser(converted, checkout):
    text = converted.config.to_str(interpolate=False).replace('"ner"', "").replace(", ]", "]")
    path = checkout / "assets" / "treebank" / "dev.conllu"
    config = util.load_config_from_str(
        without(text, ("components.ner", "initialize")), overrides={"paths.train": str(path), "nlp.disabled": []}
    )
    config = util.load_model_from_config(config, auto_fill=True).config
    config["corpora"]["dev"] = config["corpora"]["train"]
    nlp = init_nlp(config)
    corpus = spacy.registry.resolve(config.interpolate()["corpora"])["train"]
    losses = [nlp.update(list(corpus(nlp)), sgd=nlp.create_optimizer())["arc_scorer"] for _ in range(4)]
    assert losses[-1] < losses[0]
    doc = nlp("The gardener waters the roses.")
    assert all(sum(token.head == token for token in sentence) == 1 for sentence in doc.sents)
    assert nlp.evaluate([Example(nlp.make_doc(e.text), e.reference) for e in corpus(nlp)])["single_root"] > 0


def test_components_of_another_pipeline():
    text = """
[nlp]
lang = "hu"
pipeline = ["experimental_arc_predicter", "experimental_arc_labeler"]

[components]

[components.experimental_arc_predicter]
source = "parser/model-best"
replace_listeners = ["model.tok2vec"]

[components.experimental_arc_labeler]
source = "parser/model-best"
replace_listeners = ["model.tok2vec"]
"""
    config, changes, problems = convert_config(read(text))
    assert config["components"] == {
        "arc_scorer": {"source": "parser/model-best", "replace_listeners": ["model.tok2vec"]},
        "mind_root": {"source": "parser/model-best"},
    }
    assert "taken from" in changes[0]
    assert "Convert the config of the pipeline at parser/model-best" in problems[0]
    assert "No senter, sentencizer or parser comes before arc_scorer" in problems[1]


def test_what_is_left_of_spacy_experimental_is_named():
    text = CONFIG.replace('factory = "ner"', 'factory = "experimental_edit_tree_lemmatizer"')
    text = text.replace("spacy.HashEmbedCNN.v2", "spacy-experimental.Other.v1").replace(
        'upstream = "tok2vec"\n\n[components.experimental_arc_labeler]',
        'upstream = "other"\n\n[components.experimental_arc_labeler]',
    )
    text = text.replace("batch_size = 99", "batch_size = ${components.experimental_arc_labeler.model.hidden_width}")
    text = text.replace("spacy-experimental.Bilinear.v1", "mine.Bilinear.v1")
    problems = "\n".join(convert_config(read(text)).problems)
    for said in (
        "as trainable_lemmatizer",
        "@architectures = spacy-experimental.Other.v1 still needs spacy-experimental",
        "tok2vec differs from that of experimental_arc_predicter",
        "refers to experimental_arc_labeler, which no longer exists",
        "is mine.Bilinear.v1, not explosion's Bilinear",
    ):
        assert said in problems, said


def test_the_successor_of_spacy_experimental_is_converted_in_the_same_way(converted):
    """Its components and architectures have shorter names, and its senter a setting that spaCy 3 does not have."""
    text = CONFIG.replace("experimental_arc_", "arc_").replace("spacy-experimental.", "spacy-biaffine-parser.")
    text = text.replace('factory = "senter"\n', 'factory = "senter"\nsave_activations = true\n')
    config, changes, problems = convert_config(read(text))
    assert config == converted.config
    assert any("components.senter: save_activations dropped" in change for change in changes)
    assert not any("explosion" in problem or "no longer exists" in problem for problem in problems)


def test_a_predicter_alone():
    text = without(
        CONFIG, ("components.experimental_arc_labeler", "initialize", "components.experimental_arc_predicter.m")
    )
    text = text.replace(', "ner", "experimental_arc_labeler"', "").replace('["experimental_arc_labeler"]', "[]")
    text = text.replace("${components.experimental_arc_predicter.model.tok2vec.width}", "24")
    config, _, problems = convert_config(read(text))
    assert config["nlp"]["pipeline"] == ["tok2vec", "senter", "arc_scorer", "mind_root"]
    assert config["components"]["arc_scorer"]["model"]["tok2vec"]["@architectures"] == "spacy.HashEmbedCNN.v2"
    assert any("also learns labels" in problem for problem in problems)
    assert any("has no tok2vec" in problem for problem in problems)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '[nlp]\nlang = "en"\n',
            "There is no parser to convert: no component is a parser, beam_parser, experimental_arc_predicter",
        ),
        (
            without(CONFIG, "components.experimental_arc_predicter").replace(
                "{components.experimental", "{components.x"
            ),
            "only experimental_arc_labeler, which labels",
        ),
        (CONFIG + '\n[components.mind_root]\nfactory = "mind_root"\n', "has a component mind_root already"),
        (
            CONFIG + '\n[components.another]\nfactory = "experimental_arc_predicter"\n',
            "several components experimental_arc_predicter or arc_predicter: experimental_arc_predicter, another",
        ),
    ],
)
def test_configs_that_can_not_be_converted(text, says):
    with pytest.raises(MindRootError) as raised:
        convert_config(read(text))
    assert says in str(raised.value)


def run(*args):
    return CliRunner().invoke(app, ["mindroot", "init-config", *map(str, args)])


def test_the_command(tmp_path):
    path, out = tmp_path / "parser.cfg", tmp_path / "new.cfg"
    path.write_text(CONFIG, encoding="utf8")
    result = run(out, "--from", path)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Wrote") and "Changed:\n- components.arc_scorer" in result.stderr
    assert "To check:\n- " in result.stderr
    text = out.read_text("utf8")
    assert text.startswith("# Made by: spacy mindroot init-config --from parser.cfg\n")
    assert read(text) == convert_config(read(CONFIG)).config
    assert run("--from", path).stdout == text
    assert run(out, "--from", path).exit_code == 1 and "--force" in run(out, "--from", path).stderr


@pytest.mark.parametrize(
    "option", [["--lang", "hu"], ["-p", "tagger"], ["--optimize", "efficiency"], ["--loss", "head"]]
)
def test_no_other_options_go_with_it(tmp_path, option):
    (tmp_path / "parser.cfg").write_text(CONFIG)
    result = run("--from", tmp_path / "parser.cfg", *option)
    assert result.exit_code == 2 and "Leave out all other options" in " ".join(result.output.split())


def test_a_file_that_is_no_config(tmp_path):
    (tmp_path / "a.cfg").write_text("nonsense")
    result = run("--from", tmp_path / "a.cfg")
    assert result.exit_code == 1 and "a.cfg is not a config that spaCy can read" in result.stderr
    (tmp_path / "a.cfg").write_bytes(b"\xff\xfe\xfa")
    assert run("--from", tmp_path / "a.cfg").exit_code == 1


# spaCy's own parser


NEW = ["senter", "arc_scorer", "mind_root"]


def of_spacy(pipeline, optimize="efficiency", gpu=False):
    return init_config(lang="en", pipeline=pipeline, optimize=optimize, gpu=gpu)


@pytest.mark.parametrize(
    ("pipeline", "optimize"),
    [(["parser"], "efficiency"), (["parser"], "accuracy"), (["morphologizer", "parser", "ner"], "efficiency")],
)
def test_the_configs_of_spacy_init_config_are_converted_and_train(pipeline, optimize, checkout):
    before = of_spacy(pipeline, optimize)
    config, changes, problems = convert_config(before)
    expected = [part for name in pipeline for part in (NEW if name == "parser" else [name])]
    assert config["nlp"]["pipeline"] == ["tok2vec", *expected] and problems == []
    assert config["components"]["arc_scorer"]["model"]["tok2vec"] == before["components"]["parser"]["model"]["tok2vec"]
    assert config["training"]["score_weights"]["dep_las"] == before["training"]["score_weights"]["dep_las"]
    assert "components.senter: added" in "\n".join(changes)
    config["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] = False  # of a model that isn't here
    for part in ("train", "dev"):
        config["corpora"][part] = {
            "@readers": "spacy-mindroot.ConlluCorpus.v1",
            "path": str(checkout / "assets" / "treebank" / "dev.conllu"),
            "sentences_per_doc": 4,
        }
    config["initialize"]["vectors"] = None
    config = Config(config).interpolate()
    nlp = init_nlp(config)
    examples = list(spacy.registry.resolve(config["corpora"])["train"](nlp))
    optimizer = nlp.create_optimizer()
    losses = [nlp.update(examples, sgd=optimizer) for _ in range(2)]
    assert losses[1]["arc_scorer"] < losses[0]["arc_scorer"] and losses[1]["senter"] < losses[0]["senter"]
    for doc in nlp.pipe(example.text for example in examples):
        assert all(sum(token.head == token for token in sentence) == 1 for sentence in doc.sents)


def test_parsers_are_renamed_wherever_they_are_named():
    config = of_spacy(["parser", "ner"])
    config["components"]["syntax"] = config["components"].pop("parser") | {"factory": "beam_parser"}
    config["nlp"]["pipeline"] = ["tok2vec", "syntax", "ner"]
    config["nlp"]["disabled"] = ["syntax"]
    config["training"]["annotating_components"] = ["syntax", "ner"]
    config["training"]["frozen_components"] = ["syntax"]
    config["components"]["ner"]["model"]["tok2vec"]["width"] = "${components.syntax.model.tok2vec:width}"
    config["training"]["patience"] = "${components.syntax.model.hidden_width}"
    config["initialize"]["components"] = {
        "syntax": {"labels": {"@readers": "spacy.read_labels.v1", "path": "labels/syntax.json", "require": True}}
    }
    config, changes, problems = convert_config(config)
    assert config["nlp"]["pipeline"] == ["tok2vec", *NEW, "ner"]
    assert config["nlp"]["disabled"] == config["training"]["frozen_components"] == NEW
    assert config["training"]["annotating_components"] == [*NEW, "ner"]
    assert config["components"]["ner"]["model"]["tok2vec"]["width"] == "${components.arc_scorer.model.tok2vec:width}"
    assert config["initialize"]["components"] == {
        "arc_scorer": {
            "labels": {"@readers": "spacy.read_labels.v1", "path": "labels/arc_scorer.json", "require": False}
        }
    }, "the labels of a parser are transitions"
    assert any("its labels were transitions" in change for change in changes)
    assert problems == ["patience = ${components.arc_scorer.model.hidden_width}: arc_scorer has no such setting."]
    assert "syntax" not in config.to_str(interpolate=False)


def test_a_senter_that_is_there_is_used():
    config = of_spacy(["parser", "senter", "ner"])
    config["nlp"]["disabled"] = ["senter"]  # as in spaCy's own pipelines
    config, changes, _ = convert_config(config)
    assert config["nlp"]["pipeline"] == ["tok2vec", *NEW, "ner"] and config["nlp"]["disabled"] == []
    assert config["components"]["senter"] == of_spacy(["parser", "senter"])["components"]["senter"]
    assert any("components.senter: comes before arc_scorer" in change for change in changes)
    config = of_spacy(["parser"])
    config["components"]["sentencizer"] = {"factory": "sentencizer"}
    config["nlp"]["pipeline"].insert(0, "sentencizer")
    config = convert_config(config).config
    assert config["nlp"]["pipeline"] == ["sentencizer", "tok2vec", "arc_scorer", "mind_root"]


def test_the_senter_listens_to_a_transformer_and_else_has_layers_of_its_own():
    config = of_spacy(["parser"])
    assert "Listener" not in convert_config(config).config["components"]["senter"]["model"]["tok2vec"]["@architectures"]
    listener = {"@architectures": "spacy-transformers.TransformerListener.v1", "grad_factor": 1.0}
    config["components"]["parser"]["model"]["tok2vec"] = listener
    assert convert_config(config).config["components"]["senter"]["model"]["tok2vec"] == listener


def test_a_parser_of_another_pipeline():
    config = read('[nlp]\nlang = "en"\npipeline = ["parser"]\n[components]\n[components.parser]\nsource = "old"\n')
    config, _, problems = convert_config(config)
    assert config["components"] == {name: {"source": "old"} for name in ("arc_scorer", "mind_root", "senter")}
    assert config["nlp"]["pipeline"] == NEW and "Convert the config of the pipeline at old" in problems[0]
