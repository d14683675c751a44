"""The mean of the predictions of several trained scorers: spacy-mindroot.Average.v1, and pipelines with it."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from ..errors import TrainingError
from ..pipeline.calibration import set_calibration
from ..pipeline.scoring import mind_roots
from .component import DEFAULT_SETTINGS, ArcScorer, name_of_scorer
from .label_biaffine import AverageLabelScores
from .lexicon import TABLE
from .loss import mean_log_softmax
from .model import ArcInput, ArcOutput
from .products import on_one_thread

__all__ = ["average_pipelines", "build_average", "replace_listeners"]


def build_average(*scorers: Model[ArcInput | list[Doc], ArcOutput]) -> Model[ArcInput | list[Doc], ArcOutput]:
    """Build a model that predicts the mean of what several scorers predict.

    Scores of arcs and of labels are means of log-probabilities. The scorers don't share layers, and are trained before
    they are averaged: see `average_pipelines`. The average itself can't be trained. Input and output are those of the
    scorers, without tags.

    scorers (Model[ArcInput | list[Doc], ArcOutput]): Models with the same labels, in the same order, made by
        `spacy-mindroot.Biaffine.v1`.
    """
    if not scorers:
        raise TrainingError("spacy-mindroot.Average.v1: there are no scorers to average.")
    return Model(
        "average",
        _forward,
        init=_refuse,
        layers=list(scorers),
        refs={name: scorers[0].maybe_get_ref(name) for name in ("label_biaffine", "tag_features")},
        dims={"nO": None},
    )


@on_one_thread
def _forward(
    model: Model[ArcInput | list[Doc], ArcOutput], inputs: ArcInput | list[Doc], is_train: bool
) -> tuple[ArcOutput, Callable[..., Any]]:
    if is_train:
        _refuse(model)
    outputs = [scorer.predict(inputs) for scorer in model.layers]
    groups = zip(*(output.arcs for output in outputs), strict=True)
    arcs = [mean_log_softmax(model.ops.xp, scores) for scores in groups]
    return ArcOutput(outputs[0].batch, arcs, AverageLabelScores([output.labels for output in outputs]), None), _refuse


def _refuse(*args: Any, **kwargs: Any) -> None:
    raise TrainingError(
        "An average of scorers can't be trained. Train the pipelines that it was made from, and average them again."
    )


def average_pipelines(pipelines: Sequence[Language]) -> Language:
    """Return the first pipeline, with the mean of the arc scores and label scores of all of them.

    Trained with other seeds, scorers err in other places, so that their mean is better than each of them: the more so,
    the smaller the treebank. Time and memory grow with their number. All other components are those of the first
    pipeline, whose probabilities are no longer calibrated.

    pipelines (Sequence[Language]): Pipelines with an `arc_scorer` each, trained on the same data. They are changed.
    RAISES (TrainingError): If there are less than two, or they have different labels, settings or word vectors.
    """
    if len(pipelines) < 2:
        raise TrainingError(f"An average needs two pipelines or more, but there are {len(pipelines)}.")
    names = [name_of_scorer(nlp, f"Pipeline {number}") for number, nlp in enumerate(pipelines, 1)]
    first, name = pipelines[0], names[0]
    scorers: list[ArcScorer] = [nlp.get_pipe(own) for nlp, own in zip(pipelines, names, strict=True)]
    for number, (nlp, scorer) in enumerate(zip(pipelines, scorers, strict=True), 1):
        _check_alike(pipelines[0], scorers[0], nlp, scorer, number)
    for nlp, own in zip(pipelines[1:], names[1:], strict=True):
        replace_listeners(nlp, own)
    configs = [nlp.config.interpolate()["components"][own] for nlp, own in zip(pipelines, names, strict=True)]

    config = {name: getattr(scorers[0], name) for name in DEFAULT_SETTINGS}
    config["model"] = {
        "@architectures": "spacy-mindroot.Average.v1",
        "*": {f"scorer_{number}": own["model"] for number, own in enumerate(configs, 1)},
    }
    at = first.pipe_names.index(name)
    first.remove_pipe(name)
    before = first.pipe_names[at] if at < len(first.pipe_names) else None
    averaged = first.add_pipe("arc_scorer", name=name, before=before, config=config)
    averaged.cfg = scorers[0].cfg
    for layer, scorer in zip(averaged.model.layers, scorers, strict=True):
        layer.from_bytes(scorer.model.to_bytes())
    if mind_roots(first):
        set_calibration(first, None)
    return first


def _check_alike(first: Language, expected: ArcScorer, nlp: Language, scorer: ArcScorer, number: int) -> None:
    """Raise TrainingError unless the scores of a pipeline can be averaged with those of the first."""
    if nlp.lang != first.lang:
        raise TrainingError(f"Pipeline {number} is for the language {nlp.lang!r}, and pipeline 1 for {first.lang!r}.")
    if scorer.labels != expected.labels:
        different = sorted({*scorer.labels} ^ {*expected.labels})
        raise TrainingError(
            f"Pipeline {number} has other labels than pipeline 1 ({', '.join(different[:10]) or 'in another order'}). "
            "Only pipelines that were trained on the same treebank can be averaged."
        )
    for setting in ("whole_doc", "log_probabilities", "joint", "max_length"):
        own, its = getattr(expected, setting), getattr(scorer, setting)
        if own != its:
            raise TrainingError(f"Pipeline {number} has {setting} = {its}, and pipeline 1 has {own}.")
    vectors, others = first.vocab.vectors, nlp.vocab.vectors
    if vectors.shape != others.shape or not np.array_equal(vectors.data, others.data):
        raise TrainingError(
            f"Pipeline {number} has other word vectors than pipeline 1. Train both with the same --paths.vectors."
        )
    lexicons = [dict(each.vocab.lookups.get_table(TABLE, {})) for each in (first, nlp)]
    if lexicons[0] != lexicons[1]:
        raise TrainingError(f"Pipeline {number} has another lexicon than pipeline 1. Train both with the same.")


def replace_listeners(nlp: Language, name: str) -> None:
    """Give a component of a pipeline its own copy of the encoder that it listens to, wherever the listener is."""
    for encoder, pipe in nlp.pipeline:
        if name in getattr(pipe, "listening_components", []):
            paths = _paths_to_listeners(nlp.get_pipe_config(name)["model"], "model")
            nlp.replace_listeners(encoder, name, paths)


def _paths_to_listeners(config: dict[str, Any], path: str) -> list[str]:
    """Return the paths of the listeners in the config of a model."""
    if "Listener" in str(config.get("@architectures", "")):
        return [path]
    return [
        found
        for name, part in config.items()
        if isinstance(part, dict)
        for found in _paths_to_listeners(part, f"{path}.{name}")
    ]
