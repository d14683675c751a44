"""`init-config --transformer NAME --curated`: an encoder of spacy-curated-transformers."""

import json
import sys

import pytest
import spacy
from spacy import util
from spacy.cli import app
from spacy.training.initialize import init_nlp
from typer.testing import CliRunner

from spacy_mindroot.errors import MindRootError
from spacy_mindroot.tools.building.curated import curated_model, read_model_config

SIZES = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "vocab_size": 60,
    "max_position_embeddings": 1026,
    "type_vocab_size": 2,
    "pad_token_id": 0,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
    "attention_probs_dropout_prob": 0.1,
    "hidden_dropout_prob": 0.2,
}
TYPES = ("bert", "roberta", "xlm-roberta", "camembert", "albert")


def init_config(*args):
    return CliRunner().invoke(app, ["mindroot", "init-config", *map(str, args)])


@pytest.fixture
def folder(tmp_path):
    def make(**config):
        path = tmp_path / "a model"
        path.mkdir(exist_ok=True)
        (path / "config.json").write_text(json.dumps(SIZES | config))
        return path

    return make


def test_the_config_has_the_sizes_of_the_model(folder):
    result = init_config("--lang", "en", "--transformer", folder(model_type="xlm-roberta"), "--curated")
    assert result.exit_code == 0, result.output
    config = util.load_config_from_str(result.stdout)
    transformer = config["components"]["transformer"]
    assert transformer["factory"] == "curated_transformer"
    model = transformer["model"]
    assert model["@architectures"] == "spacy-curated-transformers.XlmrTransformer.v1"
    assert model["piece_encoder"]["@architectures"] == "spacy-curated-transformers.XlmrSentencepieceEncoder.v1"
    assert (model["hidden_width"], model["intermediate_width"], model["padding_idx"]) == (24, 32, 0)
    assert (model["model_max_length"], model["hidden_dropout_prob"]) == (1024, 0.2)
    for name in ("senter", "arc_scorer"):
        listener = config.interpolate()["components"][name]["model"]["tok2vec"]
        assert listener["@architectures"] == "spacy-curated-transformers.LastTransformerLayerListener.v1"
        assert listener["width"] == 24
    loaders = config["initialize"]["components"]["transformer"]
    assert {loader["name"] for loader in loaders.values()} == {str(folder(model_type="xlm-roberta"))}
    assert "--curated" in result.stdout.splitlines()[1]


@pytest.mark.filterwarnings("ignore")  # of torch
@pytest.mark.parametrize("type", TYPES)
def test_each_type_has_an_architecture_that_takes_these_settings(type):
    more = {"embedding_size": 16, "num_hidden_groups": 1} if type == "albert" else {}
    model = curated_model("x", {**SIZES, **more, "model_type": type})
    pytest.importorskip("spacy_curated_transformers")
    spans = {"@architectures": "spacy-curated-transformers.WithStridedSpans.v1"}
    assert spacy.registry.resolve({"model": model | {"with_spans": spans}})["model"].name == "transformer_model"


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"model_type": "gpt2"}, "is a model of type 'gpt2'. .* Leave out --curated"),
        ({}, "of type None"),
        ({"model_type": "bert", "vocab_size": 5}, "has no hidden_size|has no attention"),
    ],
)
def test_models_that_do_not_fit(config, says):
    with pytest.raises(MindRootError, match=says):
        curated_model("x", config)


def test_models_that_can_not_be_read(tmp_path, monkeypatch):
    with pytest.raises(MindRootError, match="no config.json"):
        read_model_config(str(tmp_path))
    for text, says in (("{", "is not JSON"), ("[]", "not the config of a model")):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(MindRootError, match=says):
            read_model_config(str(tmp_path))
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    result = init_config("--transformer", "org/model", "--curated")
    assert result.exit_code == 1 and "spacy-mindroot[curated]" in result.stderr


def test_models_of_the_hub(tmp_path, monkeypatch):
    class Hub:
        @staticmethod
        def hf_hub_download(name, file):
            if name != "org/model":
                raise OSError("offline")
            (tmp_path / file).write_text('{"model_type": "bert"}')
            return str(tmp_path / file)

    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub)
    assert read_model_config("org/model") == {"model_type": "bert"}
    with pytest.raises(MindRootError, match="org/other can't be fetched.*offline"):
        read_model_config("org/other")


def test_a_model_must_be_named():
    result = init_config("--curated")
    assert result.exit_code == 2 and "--transformer" in result.output


@pytest.mark.filterwarnings("ignore")  # of torch and transformers
@pytest.mark.parametrize("curated", [True, False], ids=["curated", "spacy-transformers"])
def test_a_tiny_model_is_the_encoder_of_a_parser(checkout, tmp_path, curated):
    """With random weights, so that nothing is fetched."""
    pytest.importorskip("spacy_curated_transformers" if curated else "spacy_transformers")
    transformers = pytest.importorskip("transformers")
    text = (checkout / "assets" / "treebank" / "dev.conllu").read_text("utf8")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(text.lower()) - set("\t\n "))]
    pieces += [f"##{piece}" for piece in pieces[5:] if piece.isalnum()]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf8")
    transformers.BertTokenizerFast(vocab_file=str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    transformers.BertModel(transformers.BertConfig(**SIZES | {"vocab_size": len(pieces)})).save_pretrained(tmp_path)

    options = ["--curated"] if curated else []
    made = init_config("--lang", "en", "--transformer", tmp_path, *options)
    assert made.exit_code == 0, made.output
    path = str(checkout / "assets" / "treebank" / "dev.conllu")
    paths = {"paths.train": path, "paths.dev": path, "system.gpu_allocator": None}
    config = util.load_config_from_str(made.stdout, overrides=paths)
    nlp = init_nlp(config)
    examples = list(spacy.registry.resolve(config.interpolate()["corpora"])["train"](nlp))[:4]
    optimizer = nlp.create_optimizer()
    losses = [nlp.update(examples, sgd=optimizer)["arc_scorer"] for _ in range(3)]
    assert losses[-1] < losses[0]
    nlp.to_disk(tmp_path / "pipeline")
    doc = spacy.load(tmp_path / "pipeline")("The gardener waters the roses. Anna baked bread.")
    assert all(sum(token.head == token for token in sentence) == 1 for sentence in doc.sents)
    assert [token.head.i for token in doc] == [token.head.i for token in nlp(doc.text)]
