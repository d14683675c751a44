"""The contestants of the scoreboard: pipelines with our parser and with spaCy's own, trained for the same time.

A third one, `related`, is ours with related treebanks mixed in.

Both read the same passages of several sentences, with gold words, and both use the faster matrix products.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from spacy import util
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_evaluation_callback, create_train_batches, train_while_improving
from thinc.api import Config, registry

from spacy_mindroot.building.related import Mixture
from spacy_mindroot.building.treebank import Treebank, spacy_language
from spacy_mindroot.cli.init_config import make_config

__all__ = ["CONTESTANTS", "RELATED", "BudgetedTraining", "config_for", "train_for"]

CONTESTANTS = ("mindroot", "spacy")
RELATED = "related"


@registry.schedules("scripts.budget_linear.v1")
def budget_linear(
    seconds: float, warmup: float, initial_rate: float, start_factor: float = 0.1, end_factor: float = 0.01
) -> Iterator[float]:
    """Yield learning rates over CPU time: a linear rise during a share of it (`warmup`), and then a linear fall."""
    yield initial_rate * start_factor  # asked for when the optimizer is made
    began = time.process_time()
    while True:
        share = min((time.process_time() - began) / seconds, 1.0)
        rise = start_factor + (1 - start_factor) * share / warmup
        yield initial_rate * (rise if share < warmup else max(end_factor, (1 - share) / (1 - warmup)))


@dataclass
class BudgetedTraining:
    """A training that has used up its budget.

    steps, best_step (int): Steps, and the step of the pipeline that was kept: the best one on the development set, or
        the last one if there is none.
    cpu_seconds (float): The time it took, evaluation on the development set included.
    """

    steps: int
    best_step: int
    cpu_seconds: float


def config_for(
    contestant: str, treebank: Treebank, *, seconds: float, seed: int, mixture: Mixture | None = None
) -> Config:
    """Return the config of a contestant.

    contestant (str): "mindroot": `init-config --pipeline ... --sentences N` as it is, with the learning rate spread
        over the budget. "related": the same, trained on a mixture. "spacy": `spacy init config -o efficiency`, with spaCy's own parser, which finds sentences.
    """
    lang = spacy_language(treebank.language)
    components, sentences = ["senter", *treebank.annotated], treebank.parts["train"].sentences
    if mixture is not None:
        sentences += mixture.sentences
    ours = Config().from_str(make_config(lang, "accuracy", components, None, sentences=sentences), interpolate=False)
    if contestant != "spacy":
        config = ours
        rate = config["training"]["optimizer"]["learn_rate"]
        warmup = rate["warmup_steps"] / rate["total_steps"]
        config["training"]["optimizer"]["learn_rate"] = {
            "@schedules": "scripts.budget_linear.v1",
            "seconds": seconds,
            "warmup": warmup,
            **{name: rate[name] for name in ("initial_rate", "start_factor", "end_factor")},
        }
    else:
        config = init_config(
            lang=lang, pipeline=[*treebank.annotated, "parser"], optimize="efficiency", gpu=False, silent=True
        )
        config["corpora"] = ours["corpora"]
        config["nlp"]["after_pipeline_creation"] = ours["nlp"]["after_pipeline_creation"]
        if treebank.file("dev") is None:
            config["components"]["parser"]["min_action_freq"] = 1  # tiny treebanks have few arcs of each label
    overrides = {
        "paths.train": str(treebank.file("train")),
        "paths.dev": str(treebank.file("dev") or treebank.file("train")),
        "system.seed": seed,
        **(mixture.overrides(config) if mixture is not None else {}),
    }
    return util.load_config_from_str(config.to_str(), overrides=overrides, interpolate=False)


def train_for(config: Config, seconds: float, *, has_dev: bool) -> tuple[Language, BudgetedTraining]:
    """Train a pipeline for some CPU time, with the loop of `spacy train`."""
    util.fix_random_seed(config.interpolate()["training"]["seed"])
    nlp = init_nlp(config)
    training = util.registry.resolve(config.interpolate()["training"], schema=ConfigSchemaTraining)
    train_corpus, dev_corpus = util.resolve_dot_names(
        nlp.config.interpolate(), [training["train_corpus"], training["dev_corpus"]]
    )
    optimizer = training["optimizer"]

    def to_bytes() -> bytes:
        with nlp.use_params(optimizer.averages) if optimizer.averages else nullcontext():
            return nlp.to_bytes()

    began = time.process_time()
    best, best_step, step = b"", 0, 0
    for _, info, is_best in train_while_improving(
        nlp,
        optimizer,
        create_train_batches(nlp, train_corpus, training["batcher"], max_epochs=0),
        create_evaluation_callback(nlp, dev_corpus, training["score_weights"]),
        dropout=training["dropout"],
        eval_frequency=training["eval_frequency"] if has_dev else 100_000,
        accumulate_gradient=1,
        patience=0,
        max_steps=0,
        exclude=[],
        annotating_components=training["annotating_components"],
        before_update=None,
    ):
        step = info["step"]
        if is_best and has_dev:
            best, best_step = to_bytes(), step
        if time.process_time() - began >= seconds:
            break
    cpu_seconds = time.process_time() - began
    if not has_dev:
        best, best_step = to_bytes(), step
    nlp.from_bytes(best)
    return nlp, BudgetedTraining(step, best_step, round(cpu_seconds, 1))


def save(nlp: Language, folder: Path) -> float:
    """Write a pipeline to a folder, and return its size in MB."""
    nlp.to_disk(folder)
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1)
