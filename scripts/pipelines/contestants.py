"""The contestants of the scoreboard: pipelines with our parser and with spaCy's own, trained for the same time.

Two more are for small treebanks: `related` is ours with related treebanks mixed in, and `averaged` is the mean of
several of ours with other seeds, each trained for its share of the time. `built` is what `spacy mindroot build
--minutes N` makes, in the time that it takes.

All but `built` read the same passages of several sentences, with gold words, and use the same matrix products.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from spacy import util
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.training.initialize import init_nlp
from thinc.api import Config, registry

from benchmarks.budget import Budgeted, train_within
from spacy_mindroot.arc_scorer.average import average_pipelines
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.building.treebank import Mixture, Treebank, spacy_language

__all__ = ["AVERAGED", "BUILT", "CONTESTANTS", "MEMBERS", "RELATED", "config_for", "train_contestant"]

CONTESTANTS = ("mindroot", "spacy")
RELATED = "related"
AVERAGED = "averaged"
BUILT = "built"
MEMBERS = 3  # pipelines that are averaged


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


def config_for(
    contestant: str, treebank: Treebank, *, seconds: float, seed: int, mixture: Mixture | None = None
) -> Config:
    """Return the config of a contestant.

    contestant (str): "mindroot" and "averaged": `init-config --pipeline ... --sentences N` as it is, with the learning
        rate spread over the budget. "related": the same, trained on a mixture. "spacy": `spacy init config -o
        efficiency`, with spaCy's own parser, which finds sentences.
    mixture (Optional[Mixture]): The treebank with related ones.
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
        config["paths"], config["corpora"] = config["paths"] | ours["paths"], ours["corpora"]
        config["nlp"]["after_pipeline_creation"] = ours["nlp"]["after_pipeline_creation"]
        if "tagger" in config["components"]:
            config["components"]["tagger"]["neg_prefix"] = ours["components"]["tagger"]["neg_prefix"]
        if treebank.file("dev") is None:
            config["components"]["parser"]["min_action_freq"] = 1  # tiny treebanks have few arcs of each label
    overrides = {
        "paths.train": str(treebank.file("train")),
        "paths.dev": str(treebank.file("dev") or treebank.file("train")),
        "system.seed": seed,
        **(mixture.overrides(config) if mixture is not None else {}),
    }
    return util.load_config_from_str(config.to_str(), overrides=overrides, interpolate=False)


def train_contestant(
    contestant: str, treebank: Treebank, *, seconds: float, seed: int, mixture: Mixture | None = None
) -> tuple[Language, list[Budgeted]]:
    """Train a contestant for some CPU time in all, with the loop of `spacy train`.

    seed (int): The seed. The members of an average have seeds of their own, other ones for each seed.
    RETURNS (tuple[Language, list[Budgeted]]): The pipeline, and the training of each member.
    """
    members = MEMBERS if contestant == AVERAGED else 1
    pipelines, trained = [], []
    for number in range(members):
        config = config_for(
            contestant, treebank, seconds=seconds / members, seed=members * seed + number, mixture=mixture
        )
        nlp, found = _train_for(config, seconds / members, has_dev=treebank.file("dev") is not None)
        pipelines.append(nlp)
        trained.append(found)
    return pipelines[0] if members == 1 else average_pipelines(pipelines), trained


def _train_for(config: Config, seconds: float, *, has_dev: bool) -> tuple[Language, Budgeted]:
    util.fix_random_seed(config.interpolate()["training"]["seed"])
    nlp = init_nlp(config)
    return nlp, train_within(nlp, seconds, has_dev=has_dev, eval_frequency=None if has_dev else 100_000)


def save(nlp: Language, folder: Path) -> float:
    """Write a pipeline to a folder, and return its size in MB."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(folder)
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1)
