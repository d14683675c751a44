"""`spacy mindroot init-config` and the configs that it made."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
import spacy
from spacy import util
from spacy.cli import app
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training.initialize import init_nlp
from typer.testing import CliRunner

from spacy_mindroot.arc_scorer.lexicon import TABLE, make_lexicon
from spacy_mindroot.tools.building.config import make_config

runner = CliRunner()


def init_config(*args):
    return runner.invoke(app, ["mindroot", "init-config", *map(str, args)])


def differences(ours, filled, path=""):
    """Settings that spaCy would fill in, or would fill in differently."""
    for name in set(ours) | set(filled):
        if name not in ours or name not in filled:
            yield f"{path}{name}"
        elif isinstance(ours[name], dict) and isinstance(filled[name], dict):
            yield from differences(ours[name], filled[name], f"{path}{name}.")
        elif ours[name] != filled[name]:
            yield f"{path}{name}: {ours[name]!r} {filled[name]!r}"


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--lang", "de"],
        ["--optimize", "efficiency"],
        ["--loss", "head"],
        ["-p", "all"],
        ["-p", "morphologizer,tagger"],
        ["-p", "tagger,senter", "--optimize", "efficiency"],
        ["--whole-doc"],
        ["--whole-doc", "-p", "tagger"],
        ["--sentences", "50"],
        ["--sentences", "50000", "--optimize", "efficiency"],
    ],
    ids=" ".join,
)
def test_every_setting_is_spelled_out(tmp_path, options):
    result = init_config(*options)
    assert result.exit_code == 0, result.output
    (tmp_path / "config.cfg").write_text(result.stdout, encoding="utf8")
    config = util.load_config(tmp_path / "config.cfg")
    util.load_model_from_config(config, auto_fill=False)
    nlp = util.load_model_from_config(config, auto_fill=True)
    assert nlp.create_optimizer() is not None  # from its part of the config alone
    filled = nlp.config
    others = {f"components.tok2vec.model.embed.{name}_rows" for name in ("treebank", "lexicon")}  # --with, --lexicon
    assert set(differences(config.interpolate(), filled.interpolate())) == others
    spacy.registry.resolve(config.interpolate()["training"], schema=ConfigSchemaTraining)
    assert sum(filter(None, config["training"]["score_weights"].values())) == pytest.approx(1)


def test_the_configs_of_the_project_are_what_the_command_makes(checkout):
    configs = sorted((checkout / "configs").glob("*.cfg"))
    assert len(configs) == 3
    for path in configs:
        text = path.read_text("utf8")
        command = re.search(r"^# Made by: spacy mindroot init-config (.*)$", text, flags=re.M).group(1)
        assert init_config(*shlex.split(command)).stdout == text, path


@pytest.mark.parametrize("options", [(), ("--pipeline", "all"), ("--whole-doc", "--optimize", "efficiency")])
def test_only_the_scorer_has_a_bilstm(options):
    """Tags, features and lemmas would make trees worse if they shared it. All components listen to the same encoder."""
    nlp = util.load_model_from_config(util.load_config_from_str(init_config(*options).stdout), auto_fill=True)
    with_bilstm = [name for name, pipe in nlp.pipeline if any(n.name == "bilstm" for n in nodes(pipe))]
    assert with_bilstm == ["arc_scorer"]
    with_layers = [name for name, pipe in nlp.pipeline if any(n.name == "cnn_bilstm" for n in nodes(pipe))]
    assert with_layers == [name for name in ("tok2vec", "senter", "arc_scorer") if name in nlp.pipe_names]
    upstream = {
        name: [n.upstream_name for n in nodes(pipe) if hasattr(n, "upstream_name")] for name, pipe in nlp.pipeline
    }
    learning = [name for name in nlp.pipe_names if name not in ("tok2vec", "mind_root")]
    assert {name for name, names in upstream.items() if names == ["tok2vec"]} == set(learning)


def nodes(pipe):
    return pipe.model.walk() if hasattr(pipe, "model") else ()


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """A pipeline with a small table of word vectors, at a path with a space."""
    folder = tmp_path_factory.mktemp("word vectors")
    nlp = spacy.blank("en")
    rng = np.random.default_rng(0)
    for word in ("gardener", "waters", "roses"):
        nlp.vocab.set_vector(word, rng.normal(size=5).astype("f"))
    nlp.to_disk(folder)
    return folder


@pytest.mark.parametrize("optimize", ["accuracy", "efficiency"])
def test_vectors_are_features_and_are_saved(checkout, vectors, tmp_path, optimize):
    text = init_config("--lang", "en", "--optimize", optimize, "--vectors", vectors, "--sentences", 20).stdout
    path = str(checkout / "assets" / "treebank" / "dev.conllu")
    config = util.load_config_from_str(text, overrides={"paths.train": path, "paths.dev": path, "system.seed": 1})
    nlp = init_nlp(config)
    examples = list(util.registry.resolve(config.interpolate()["corpora"])["train"](nlp))[:2]
    nlp.update(examples, sgd=nlp.create_optimizer())
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    words = ["gardener", "nonsense"]
    encoder = loaded.get_pipe("tok2vec")
    before = encoder.predict([Doc(loaded.vocab, words=[word]) for word in words])
    loaded.vocab.vectors.data[:] *= -3
    after = encoder.predict([Doc(loaded.vocab, words=[word]) for word in words])
    assert loaded.vocab.vectors.shape[1] == 5
    assert not np.allclose(before[0], after[0]), "a word with a vector"
    assert np.allclose(before[1], after[1]), "a word without one"


@pytest.mark.parametrize("optimize", ["accuracy", "efficiency"])
def test_a_lexicon_is_read_is_a_feature_and_is_saved(checkout, tmp_path, optimize):
    words = tmp_path / "my words.tsv"
    words.write_text("# licence: CC0-1.0\nroses\trose\tNOUN\tNumber=Plur\n", "utf8")
    result = init_config("--lang", "en", "--optimize", optimize, "--lexicon", words, "--sentences", 20)
    assert "Lexicon my words.tsv: 1 readings of words, licence: CC0-1.0." in result.stderr
    path = str(checkout / "assets" / "treebank" / "dev.conllu")
    config = util.load_config_from_str(result.stdout, overrides={"paths.train": path, "paths.dev": path})
    nlp = init_nlp(config)
    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")
    encoder = loaded.get_pipe("tok2vec")
    docs = [Doc(loaded.vocab, words=[word]) for word in ("roses", "Roses", "nonsense")]
    before = encoder.predict(docs)
    words.write_text("roses\trose\tVERB\n", "utf8")
    loaded.vocab.lookups.set_table(TABLE, make_lexicon([words]))
    changed = [not np.allclose(*each) for each in zip(before, encoder.predict(docs), strict=True)]
    assert changed == [True, True, False]


def test_a_lexicon_that_a_config_can_not_name(tmp_path):
    (tmp_path / "${words}.tsv").write_text("a\ta\tX\n", "utf8")
    result = init_config("--lexicon", tmp_path / "${words}.tsv")
    assert result.exit_code == 2 and "Choose another name" in result.output


@pytest.mark.parametrize("content", ["", "dog\n", "a\ta\tX\nb\n"])
def test_what_is_no_lexicon(tmp_path, content):
    (tmp_path / "words.tsv").write_text(content, "utf8")
    result = init_config(tmp_path / "config.cfg", "--lexicon", tmp_path / "words.tsv")
    assert result.exit_code == 1 and "words.tsv" in result.stderr
    assert not (tmp_path / "config.cfg").exists()


def test_a_pipeline_for_single_sentences_is_trained_on_conllu(checkout):
    path = checkout / "assets" / "treebank" / "dev.conllu"
    overrides = {"paths.train": str(path), "paths.dev": str(path)}
    nlp = init_nlp(
        util.load_config_from_str(init_config("--whole-doc", "--optimize", "efficiency").stdout, overrides=overrides)
    )
    for corpus in util.registry.resolve(nlp.config.interpolate()["corpora"]).values():
        sentences = [len(list(example.reference.sents)) for example in corpus(nlp)]
        assert sentences == [1] * path.read_text("utf8").count("\n\n")


def test_order_does_not_matter_and_the_file_is_written(tmp_path):
    assert init_config("-p", "tagger, senter").stdout == init_config("-p", "senter,tagger").stdout
    result = init_config(tmp_path / "config.cfg", "--lang", "en")
    assert "spacy train" in result.output
    assert (tmp_path / "config.cfg").read_text("utf8") == init_config("--lang", "en").stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-p", "parser"], "parser: choose from senter, tagger, morphologizer, trainable_lemmatizer, or all"),
        (["-p", "senter", "--whole-doc"], "Leave out --whole-doc or the senter"),
        (["--transformer", "x", "--sentences", "9"], "or leave out --transformer"),
        (["--transformer", "x", "--vectors", "y"], "or leave out --transformer"),
        (["--transformer", "x", "--minutes", "9"], "or leave out --transformer"),
        (["--minutes", "0"], "greater than or equal to 0.01"),
        (["--minutes", "inf"], "less than or equal to 100000"),
        (["--transformer", "x", "--lexicon", __file__], "or leave out --transformer"),
        (["--lexicon", "nowhere.tsv"], "does not exist"),
        (["--sentences", "0"], "greater than or equal to 1"),
        (["--vectors", "${paths.train}"], "can't be the name"),
        (["--optimize", "speed"], "'speed' is not one of 'accuracy', 'efficiency'"),
        (["-l", "qq"], "'qq'"),
    ],
)
def test_options_that_do_not_exist(options, says):
    result = init_config(*options)
    assert result.exit_code == 2
    assert says in re.sub(r"\s+", " ", result.output)


def test_a_file_that_can_not_be_written(tmp_path):
    result = init_config(tmp_path / "nowhere" / "config.cfg")
    assert result.exit_code == 1 and re.search(r"but the folder .*nowhere does not exist\.", result.output)


def test_a_file_is_overwritten_only_by_force(tmp_path):
    path = tmp_path / "config.cfg"
    path.write_text("precious")
    result = init_config(path)
    assert result.exit_code == 1 and "--force" in result.output and path.read_text() == "precious"
    for option in ("--force", "-F"):
        path.write_text("precious")
        assert init_config(path, option).exit_code == 0
        assert path.read_text("utf8") == init_config().stdout


@pytest.mark.parametrize(
    "name", ["a\n[training]", "a\rb", "a\u202eb", "a\x1b[2J", "a\u2028b", " ", "", "${paths.train}"]
)
def test_names_that_would_change_the_config_are_refused(name):
    result = init_config("--transformer", name)
    assert result.exit_code == 2 and "--transformer" in result.output and "\n[training]" not in result.output


@pytest.mark.parametrize(
    "name", ['my "model"', "my models\\xlm", "C:\\models\\x", "org/xlm-roberta", "a'b#c;d", "模型"]
)
def test_other_names_come_back_as_they_are(tmp_path, name):
    result = init_config("--transformer", name)
    assert result.exit_code == 0
    config = util.load_config_from_str(result.stdout)
    assert config["components"]["transformer"]["model"]["name"] == name
    command = re.search(r"^# Made by: spacy mindroot init-config (.*)$", result.stdout, flags=re.M)[1]
    assert init_config(*shlex.split(command)).stdout == result.stdout


def test_a_part_of_a_minute_comes_back_as_it_is():
    """`build` divides the time among the pipelines."""
    text = make_config("xx", "accuracy", ["senter"], None, minutes=3.33)
    command = re.search(r"^# Made by: spacy mindroot init-config (.*)$", text, flags=re.M)[1]
    assert "--minutes 3.33" in command and init_config(*shlex.split(command)).stdout == text


@pytest.mark.parametrize("lang", ["", ".", "en.stop_words", "../en", "en\n", "e n", "nonsense"])
def test_languages_that_do_not_exist(lang):
    result = init_config("--lang", lang)
    assert result.exit_code == 2 and "spaCy has no language" in re.sub(r"\s+", " ", result.output)


def test_the_transformer_config_loads_where_spacy_transformers_is_installed():
    pytest.importorskip("spacy_transformers")
    config = util.load_config_from_str(init_config("--transformer", "xlm-roberta-base").stdout)
    assert util.load_model_from_config(config, auto_fill=False).pipe_names == [
        "transformer",
        "senter",
        "arc_scorer",
        "mind_root",
    ]


def run(*args, cwd, check=True):
    command = [sys.executable, "-m", "spacy", *map(str, args)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def corpus(checkout, tmp_path_factory):
    """The small treebank in spaCy's format, ten sentences a Doc."""
    folder = tmp_path_factory.mktemp("corpus")
    run("convert", checkout / "assets" / "treebank", folder, "--converter", "conllu", "-n", 10, cwd=folder)
    return folder


QUICK = ["--training.max_steps", 12, "--training.eval_frequency", 6]


@pytest.mark.parametrize("extras", ["", "all"])
def test_from_config_to_parsed_text(corpus, tmp_path, extras):
    """debug, init labels, train, evaluate and use, as a person would; without extras, training alone."""
    init_config(tmp_path / "config.cfg", "--lang", "en", "--pipeline", extras)
    paths = ["--paths.train", corpus / "train.spacy", "--paths.dev", corpus / "dev.spacy"]
    if not extras:
        run("train", "config.cfg", "--output", "model", *paths, *QUICK, cwd=tmp_path)
        check_trees(spacy.load(tmp_path / "model" / "model-last"))
        return
    run("debug", "config", "config.cfg", *paths, cwd=tmp_path)
    checked = run("debug", "data", "config.cfg", *paths, cwd=tmp_path, check=False)  # it finds the treebank too small
    assert "Pipeline can be initialized with data" in checked and "Traceback" not in checked
    run("init", "labels", "config.cfg", "labels", *paths, cwd=tmp_path)
    assert '"nsubj"' in (tmp_path / "labels" / "arc_scorer.json").read_text("utf8")

    config = (tmp_path / "config.cfg").read_text("utf8")
    read_labels = (
        "[initialize.components]\n\n[initialize.components.arc_scorer]\n"
        'labels = {"@readers": "spacy.read_labels.v1", "path": "labels/arc_scorer.json"}'
    )
    (tmp_path / "config.cfg").write_text(config.replace("[initialize.components]", read_labels), encoding="utf8")
    run("train", "config.cfg", "--output", "model", *paths, *QUICK, cwd=tmp_path)
    evaluated = run(
        "evaluate",
        "model/model-last",
        corpus / "test.spacy",
        "-o",
        "m.json",
        cwd=tmp_path,
    )
    assert "LAS" in evaluated

    doc = check_trees(spacy.load(tmp_path / "model" / "model-last"))
    assert all(t.pos_ and t.tag_ and t.lemma_ for t in doc)


def check_trees(nlp):
    doc = nlp("The gardener waters the roses. Anna baked bread.")
    assert all(sum(t.head == t for t in s) == 1 for s in doc.sents)
    return doc
