"""Averages pipelines that were trained with other seeds, and calibrates the average."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import load_model

from ...arc_scorer.average import average_pipelines
from ...errors import MindRootError
from ...pipeline.calibration import calibrate, fit_by_folds, read_corpora, set_calibration
from .training import Trained

__all__ = ["average_trained"]


def average_trained(
    folders: Sequence[Path], trained: Sequence[Trained], calibration: Mapping[str, Any] | None, *, has_dev: bool
) -> tuple[Language, Trained]:
    """Return the average of some pipelines, and what is known of their training.

    See `average_pipelines`. Without a development set, as many pipelines are trained for each part of the training set
    as are averaged.

    calibration (Optional[Mapping[str, Any]]): The settings of the callback that would have calibrated each of them (see
        `callback_settings`); None for no calibration.
    """
    pipelines = [load_model(folder) for folder in folders]
    own = pipelines[0].config.copy()
    nlp = average_pipelines(pipelines)
    seeds = [seed for each in trained for seed in each.seeds]
    if calibration is not None:
        try:
            dev, train = read_corpora(own)
            if has_dev:
                gold = [example.reference for example in dev(nlp)]
                calibrate(nlp, gold[: calibration["limit"] or None])
            elif folds := calibration["folds"]:
                set_calibration(nlp, fit_by_folds(own, train, folds, seeds=seeds, combine=average_pipelines))
        except MindRootError as error:
            warnings.warn(f"The pipeline is saved without calibration: {error}", stacklevel=2)
    return nlp, Trained(
        steps=trained[0].steps,
        seeds=seeds,
        cpu_seconds=round(sum(each.cpu_seconds for each in trained), 1),
        seconds=round(sum(each.seconds for each in trained), 1),
        best="average",
    )
