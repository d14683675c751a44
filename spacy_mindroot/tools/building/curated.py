"""The settings of a `curated_transformer` for a pretrained model (`init-config --transformer NAME --curated`).

spacy-curated-transformers needs the sizes of a model in the config, and has an architecture for each type of model.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from ...errors import MindRootError

__all__ = ["curated_model", "read_model_config"]

# Architecture, encoder of pieces, and the number of positions that are not for pieces, by the type of the model.
_TYPES = {
    "albert": ("AlbertTransformer.v1", "SentencepieceEncoder.v1", 0),
    "bert": ("BertTransformer.v1", "BertWordpieceEncoder.v1", 0),
    "camembert": ("CamembertTransformer.v1", "CamembertSentencepieceEncoder.v1", 2),
    "roberta": ("RobertaTransformer.v1", "ByteBpeEncoder.v1", 2),
    "xlm-roberta": ("XlmrTransformer.v1", "XlmrSentencepieceEncoder.v1", 2),
}
_RENAMED = {"hidden_width": "hidden_size", "intermediate_width": "intermediate_size", "padding_idx": "pad_token_id"}
_SAME = (
    "vocab_size",
    "attention_probs_dropout_prob",
    "hidden_act",
    "hidden_dropout_prob",
    "layer_norm_eps",
    "max_position_embeddings",
    "num_attention_heads",
    "num_hidden_layers",
    "type_vocab_size",
)


def read_model_config(name: str) -> dict[str, Any]:
    """Return the config.json of a pretrained model: a folder, or a name on the Hugging Face Hub."""
    path = Path(name) / "config.json"
    if not path.is_file():
        if Path(name).exists():
            raise MindRootError(f"{name} is not the folder of a model: it has no config.json.")
        try:
            hf_hub_download = import_module("huggingface_hub").hf_hub_download
        except ImportError as error:
            raise MindRootError(
                f"{name} is not a folder, and fetching the config of a model from the Hugging Face Hub needs the extra "
                "`curated`: pip install 'spacy-mindroot[curated]'"
            ) from error
        try:
            path = Path(hf_hub_download(name, "config.json"))
        except Exception as error:  # of the network, the hub, or the name
            raise MindRootError(f"The config of {name} can't be fetched from the Hugging Face Hub: {error}") from error
    try:
        config = json.loads(path.read_text("utf8"))
    except ValueError as error:
        raise MindRootError(f"{path} is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise MindRootError(f"{path} is not the config of a model.")
    return config


def curated_model(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the model of a `curated_transformer`, without `with_spans`."""
    type = config.get("model_type")
    if type not in _TYPES:
        raise MindRootError(
            f"{name} is a model of type {type!r}. spacy-curated-transformers has {', '.join(_TYPES)}. Leave out "
            "--curated to use it with spacy-transformers."
        )
    architecture, pieces, reserved = _TYPES[type]
    keys = dict.fromkeys(_SAME) | _RENAMED
    if type == "albert":
        keys |= {"embedding_width": "embedding_size", "num_hidden_groups": "num_hidden_groups"}
    missing = [key or setting for setting, key in keys.items() if (key or setting) not in config]
    if missing:
        raise MindRootError(f"The config of {name} has no {', '.join(missing)}.")
    return {
        "@architectures": f"spacy-curated-transformers.{architecture}",
        **{setting: config[key or setting] for setting, key in keys.items()},
        "model_max_length": config["max_position_embeddings"] - reserved,
        "torchscript": False,
        "mixed_precision": False,
        "grad_scaler_config": {},
        "wrapped_listener": None,
        "piece_encoder": {"@architectures": f"spacy-curated-transformers.{pieces}"},
    }
