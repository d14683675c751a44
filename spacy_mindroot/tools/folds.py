"""Cross-validation: divides a corpus into folds, and trains a parser on the sentences of the other folds."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed, load_model_from_config
from thinc.api import Config

from ..doc.words import copy_tokens
from ..errors import CorpusError, TrainingError
from ..pipeline.training_loop import resolve_training, training_steps, with_gold_tokens
from .gold import GoldSentence

__all__ = ["find_documents", "new_parser", "split_documents", "train", "with_steps"]

_BLOCK = 20  # the most sentences of a block
_BLOCKS = 10  # of each fold, if the corpus is cut into blocks


def find_documents(sentences: Sequence[GoldSentence], folds: int) -> tuple[list[list[int]], str]:
    """Return the parts of a corpus that folds keep together, as numbers of sentences, and what they are.

    They are the documents that comments `newdoc` begin, if there are at least as many as folds and none is longer than
    a fold. Otherwise they are blocks of neighbours: 20 sentences, or fewer in a small corpus.
    """
    starts = [number for number, sentence in enumerate(sentences) if number == 0 or _begins_document(sentence)]
    documents = [list(range(a, b)) for a, b in zip(starts, [*starts[1:], len(sentences)], strict=True)]
    if len(documents) >= folds and max(map(len, documents), default=0) <= len(sentences) / folds:
        return documents, "documents"
    size = max(1, min(_BLOCK, len(sentences) // (folds * _BLOCKS)))
    blocks = [list(range(a, min(a + size, len(sentences)))) for a in range(0, len(sentences), size)]
    return blocks, f"blocks of {size} sentences" if size > 1 else "single sentences"


def _begins_document(sentence: GoldSentence) -> bool:
    if sentence.conllu is None:
        return False
    return any(comment[1:].split("=")[0].split()[:1] == ["newdoc"] for comment in sentence.conllu.comments)


def split_documents(documents: Sequence[Sequence[int]], folds: int, seed: int) -> list[list[int]]:
    """Return the sentences of documents in folds of about the same size. No document is in two folds.

    The largest documents go first, each into the smallest fold so far; a random order of documents settles ties.
    """
    if not 2 <= folds <= len(documents):
        raise CorpusError(
            f"{folds} folds for {len(documents)} documents or blocks. There must be at least 2, and at most one per "
            "document."
        )
    order = random.Random(seed).sample(range(len(documents)), len(documents))
    found: list[list[int]] = [[] for _ in range(folds)]
    for number in sorted(order, key=lambda each: -len(documents[each])):
        min(found, key=len).extend(documents[number])
    return [sorted(fold) for fold in found]


def with_steps(config: Config, steps: int) -> Config:
    """Return a config whose `warmup_steps` and `total_steps`, if its schedule has them, suit a number of steps."""
    config = config.copy()
    rate = config.get("training", {}).get("optimizer", {}).get("learn_rate")
    if isinstance(rate, dict) and {"warmup_steps", "total_steps"} <= rate.keys():
        rate |= {"total_steps": steps, "warmup_steps": min(rate["warmup_steps"], max(1, steps // 6))}
    return config


def new_parser(config: Config, seed: int) -> Language:
    """Return the untrained pipeline of a config, after all random generators have been seeded."""
    fix_random_seed(seed)
    try:
        return load_model_from_config(with_gold_tokens(config), auto_fill=True)
    except Exception as error:  # of spaCy, the config's validation, or any component
        raise TrainingError(f"spaCy can't make a pipeline of the config: {error}") from error


def train(
    nlp: Language, gold: Sequence[Doc], steps: int, seed: int, advance: Callable[[], object] = lambda: None
) -> dict[tuple[int, str], np.ndarray[Any, Any]]:
    """Train a pipeline on annotated Docs, as its config says, but without evaluation.

    Tokens without a head or label are left out of the losses. Tokens and sentence boundaries are those of the Docs.

    RETURNS (dict): The running averages of the weights, for `nlp.use_params`. Empty if the optimizer keeps none.
    """
    settings = resolve_training(nlp)
    examples = [Example(copy_tokens(doc), doc) for doc in gold]
    nlp.initialize(lambda: examples, sgd=settings["optimizer"])
    shuffle = random.Random(seed)

    def shuffled(_: Language) -> list[Example]:
        return shuffle.sample(examples, len(examples))

    for _ in islice(training_steps(nlp, settings, shuffled, None, max_epochs=-1), steps):
        advance()
    averages: dict[tuple[int, str], np.ndarray[Any, Any]] = settings["optimizer"].averages or {}
    return averages
