"""Training for a fixed amount of CPU time, with the loop of `spacy train`."""

from __future__ import annotations

import time
from dataclasses import dataclass

from spacy import util
from spacy.language import Language

from spacy_mindroot.pipeline.training_loop import averaged_bytes, resolve_training, training_steps

__all__ = ["Budgeted", "train_within"]


@dataclass(frozen=True)
class Budgeted:
    """A training that has used up its budget.

    steps, best_step (int): Steps, and the step of the pipeline that was kept: the best one on the development set, or
        the last one if there is none.
    words (int): Words that it has read.
    cpu_seconds (float): The time it took, evaluation on the development set included.
    """

    steps: int
    best_step: int
    words: int
    cpu_seconds: float


def train_within(nlp: Language, seconds: float, *, has_dev: bool, eval_frequency: int | None = None) -> Budgeted:
    """Train an initialized pipeline for some CPU time, and keep its best state, with averaged weights.

    has_dev (bool): Whether its development corpus is one. If not, the last state is kept instead.
    eval_frequency (Optional[int]): The number of steps between evaluations. None: as in its config.
    """
    settings = resolve_training(nlp)
    train_corpus, dev_corpus = util.resolve_dot_names(
        nlp.config.interpolate(), [settings["train_corpus"], settings["dev_corpus"]]
    )
    began = time.process_time()
    best, best_step, step, words = b"", 0, 0, 0
    for info, is_best in training_steps(nlp, settings, train_corpus, dev_corpus, eval_frequency=eval_frequency):
        step, words = info["step"], info["words"]
        if is_best and has_dev:
            best, best_step = averaged_bytes(nlp, settings["optimizer"]), step
        if time.process_time() - began >= seconds:
            break
    cpu_seconds = time.process_time() - began
    if not has_dev:
        best, best_step = averaged_bytes(nlp, settings["optimizer"]), step
    nlp.from_bytes(best)
    return Budgeted(step, best_step, words, cpu_seconds)
