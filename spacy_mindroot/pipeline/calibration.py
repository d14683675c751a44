"""Calibrates a pipeline, and the callback with which `spacy train` does so for each pipeline that it saves."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import resolve_dot_names
from thinc.api import Config

from ..doc.reading import read_annotated, sentence_bounds
from ..errors import CalibrationError, MindRootError
from ..inference.calibration import Calibration
from .held_out import HeldOut, cross_validate, score_held_out
from .scoring import find_mind_root

__all__ = [
    "FOLDS",
    "calibrate",
    "callback_settings",
    "fit_by_folds",
    "make_calibrate_callback",
    "read_corpora",
    "set_calibration",
]

Corpus = Callable[[Language], Iterable[Example]]

_CALLBACK = "spacy-mindroot.calibrate.v1"
FOLDS, _LIMIT = 5, 2000  # its defaults, as in the configs of init-config
_KEY = "calibration"  # in the meta of a pipeline
_PASSAGES = "spacy-mindroot.PassageCorpus.v1"


def calibrate(nlp: Language, gold: Iterable[Doc], name: str | None = None) -> tuple[Calibration, HeldOut]:
    """Calibrate the probabilities of a pipeline on annotated Docs that it was not trained on.

    Its `mind_root` and its meta get the calibration, which is returned with what it was fitted to. Heads may be missing
    here and there.

    name (Optional[str]): The name of the component. By default, the first `mind_root` is taken.
    """
    held_out = score_held_out(nlp, (read_annotated(doc) for doc in gold), name)
    calibration = held_out.fit()
    set_calibration(nlp, calibration, name)
    return calibration, held_out


def set_calibration(nlp: Language, calibration: Calibration | None, name: str | None = None) -> None:
    """Set the calibration of a pipeline's `mind_root`, and show it in the meta of the pipeline. None removes it."""
    name, mind_root = find_mind_root(nlp, name)
    mind_root.calibration = calibration
    shown: dict[str, Any] = dict(nlp.meta.get(_KEY) or {})
    shown.pop(name, None)
    if calibration is not None:
        values = calibration.to_dict()
        del values["head_set_thresholds"], values["tree_set_thresholds"]  # fifty numbers each
        shown[name] = values
    nlp.meta[_KEY] = shown


def make_calibrate_callback(folds: int = FOLDS, limit: int = _LIMIT) -> Callable[[Language], Language]:
    """Return a callback for `before_to_disk` under `[training]`, which calibrates each pipeline that is saved.

    It reads the development set, `dev_corpus` under `[training]`. If there is none, so that most of its sentences are
    in `train_corpus`, too, pipelines are trained on parts of the training set, and calibration uses what they predict
    for the others. That happens once, when training begins, and is meant for small training sets. A pipeline that can't
    be calibrated is saved without, with a warning.

    folds (int): The number of parts of the training set for cross-validation. With 0, a pipeline without a development
        set is not calibrated.
    limit (int): The greatest number of Docs of the development set to calibrate on, since it is done for every
        evaluation; 0 for all of them.
    """
    if folds < 0 or folds == 1 or limit < 0:
        raise CalibrationError(
            f"folds is {folds} and limit is {limit}. folds must be at least 2, or 0 for no cross-validation, and limit "
            "at least 0."
        )
    held_out: list[Doc] = []
    fitted: list[Calibration | None] = []  # by cross-validation

    def calibrate_pipeline(nlp: Language) -> Language:
        try:
            if not held_out and not fitted:
                dev, train = read_corpora(nlp.config)
                gold = [example.reference for example in dev(nlp)]
                if _overlap(gold, (example.reference for example in train(nlp))):
                    fitted.append(None)  # in case of an error, which then would come again
                    fitted[0] = fit_by_folds(nlp.config, train, folds)
                else:
                    held_out.extend(gold[: limit or None])
            if fitted:
                set_calibration(nlp, fitted[0])
            else:
                calibrate(nlp, held_out)
        except MindRootError as error:
            warnings.warn(f"The pipeline is saved without calibration: {error}", stacklevel=2)
        return nlp

    return calibrate_pipeline


def callback_settings(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the settings of the callback in a config that calibrates pipelines; None if it has no such callback."""
    section = config["training"].get("before_to_disk")
    if isinstance(section, dict) and section.get("@callbacks") == _CALLBACK:
        return {"folds": FOLDS, "limit": _LIMIT, **section}
    return None


def read_corpora(config: Config) -> tuple[Corpus, Corpus]:
    """Return the development set and the training set of a config, to calibrate on.

    They are read without augmenters, and passages as single sentences. Otherwise parts of the training set could share
    sentences, and a small one would have too few Docs to be divided.
    """
    config = config.interpolate()
    for corpus in config["corpora"].values():
        if isinstance(corpus, dict) and corpus.get("@readers") == _PASSAGES:
            corpus.update(min_sentences=1, max_sentences=1, divisions=1, newlines=0.0)
        if isinstance(corpus, dict) and "augmenter" in corpus:
            corpus["augmenter"] = None
    dev, train = resolve_dot_names(config, [config["training"]["dev_corpus"], config["training"]["train_corpus"]])
    return dev, train


def fit_by_folds(config: Config, train: Corpus, folds: int, **settings: Any) -> Calibration:
    """Return a calibration by cross-validation: see `cross_validate`."""
    if folds == 0:
        raise CalibrationError(
            "the development set is part of the training set. To calibrate by cross-validation, set folds under "
            "[training.before_to_disk]."
        )
    return cross_validate(config, train, folds, **settings).fit(f"{folds}-fold cross-validation")


def _overlap(dev: Iterable[Doc], train: Iterable[Doc]) -> bool:
    """Whether more than half of the sentences of the development set, those of one or two tokens aside, are in both."""
    known = {text for doc in train for text in _texts(doc)}
    held_out = [text in known for doc in dev for text in _texts(doc)]
    return 2 * sum(held_out) > len(held_out)


def _texts(doc: Doc) -> list[str]:
    return [doc[start:end].text for start, end in sentence_bounds(doc) if end - start > 2]
