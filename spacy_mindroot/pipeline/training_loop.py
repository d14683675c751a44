"""The loop of `spacy train`, for trainings that end by a rule of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.loop import create_evaluation_callback, create_train_batches, train_while_improving
from spacy.util import registry
from thinc.api import Config, Optimizer

__all__ = ["Corpus", "averaged_bytes", "resolve_training", "training_steps", "with_gold_tokens"]

Corpus = Callable[[Language], Iterable[Example]]


def with_gold_tokens(config: Config) -> Config:
    """Return a config for training and prediction with gold tokens alone, so that no tokenizer is learnt."""
    config = config.copy()
    if config.get("nlp", {}).get("tokenizer", {}).get("@tokenizers") == "spacy-mindroot.Tokenizer.v1":
        config["nlp"]["tokenizer"] = {"@tokenizers": "spacy.Tokenizer.v1"}
    return config


def resolve_training(nlp: Language) -> dict[str, Any]:
    """Return what `[training]` in the config of a pipeline stands for: the optimizer, the batcher and so on."""
    return registry.resolve(nlp.config.interpolate()["training"], schema=ConfigSchemaTraining)


def training_steps(
    nlp: Language,
    settings: dict[str, Any],
    train_corpus: Corpus,
    dev_corpus: Corpus | None,
    *,
    max_steps: int = 0,
    max_epochs: int = 0,
    patience: int = 0,
    eval_frequency: int | None = None,
) -> Iterator[tuple[dict[str, Any], bool | None]]:
    """Train an initialized pipeline step by step, forever unless limited here. Limits in the config are ignored.

    settings (dict[str, Any]): See `resolve_training`.
    train_corpus, dev_corpus (Corpus): The data to train and to evaluate on. Without the second, all scores are 0.
    max_steps, max_epochs (int): The number of steps, and of times that the data is read; 0 for no limit. With -1 epochs
        there is no limit either, and `train_corpus` is read again for each, in its own order.
    patience (int): The number of steps without a better score after which training ends; 0 for no limit.
    eval_frequency (Optional[int]): The number of steps between evaluations. None: as in the settings.
    YIELDS (tuple[dict[str, Any], Optional[bool]]): After each step, spaCy's information on it (`step`, `words`,
        `score` and so on), and whether the score is the best so far: None if the step is not evaluated.
    """
    weights = settings["score_weights"]
    steps = train_while_improving(
        nlp,
        settings["optimizer"],
        create_train_batches(nlp, train_corpus, settings["batcher"], max_epochs=max_epochs),
        (lambda: (0.0, {})) if dev_corpus is None else create_evaluation_callback(nlp, dev_corpus, weights),
        dropout=settings["dropout"],
        accumulate_gradient=settings["accumulate_gradient"],
        patience=patience,
        max_steps=max_steps,
        eval_frequency=settings["eval_frequency"] if eval_frequency is None else eval_frequency,
        exclude=settings["frozen_components"],
        annotating_components=settings["annotating_components"],
        before_update=None,
    )
    for _, info, is_best in steps:
        yield info, is_best


def averaged_bytes(nlp: Language, optimizer: Optimizer) -> bytes:
    """Return a pipeline as bytes, with the running averages of its weights if the optimizer keeps them."""
    with nlp.use_params(optimizer.averages) if optimizer.averages else nullcontext():
        return nlp.to_bytes()
