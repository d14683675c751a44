"""Trains a pipeline for a fixed amount of CPU time on a treebank and counts what it gets right on the test set.

Both parsers are treated alike: gold tokens, one gold sentence a Doc, all tokens counted, one thread, the same ops, the
checkpoint that is best on the development set (the last one where there is none).
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_evaluation_callback, create_train_batches, train_while_improving
from thinc.api import NumpyOps, fix_random_seed, set_current_ops


@dataclass(frozen=True)
class Counts:
    """What a parser gets right on a corpus; percentages of `tokens`, but `uem` and `lem` of sentences."""

    uas: float
    las: float
    uem: float
    lem: float
    nonprojective_right: int
    nonprojective: int
    single_root: float
    words_per_second: float


@dataclass(frozen=True)
class Run:
    """One training run."""

    treebank: str
    parser: str
    seed: int
    cpu_seconds: float
    steps: int
    best_step: int
    words_per_second: float
    dev: Counts | None
    test: Counts

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def train(
    config: Path,
    treebank: Path,
    *,
    name: str,
    seconds: float,
    seed: int,
    use_blis: bool = False,
    overrides: dict[str, Any] | None = None,
    test: bool = True,
) -> Run:
    """Trains `config` on `treebank`/train.spacy for `seconds` of CPU time, evaluation on the development set included."""
    set_current_ops(NumpyOps(use_blis=use_blis))
    train_path, dev_path = treebank / "train.spacy", treebank / "dev.spacy"
    has_dev = dev_path.exists()
    settings = {
        "paths.train": str(train_path),
        "paths.dev": str(dev_path if has_dev else train_path),
        "system.seed": seed,
        "training.patience": 0,
        "training.max_steps": 0,
        "corpora.train.gold_preproc": True,
        "corpora.dev.gold_preproc": True,
    } | (overrides or {})
    loaded = util.load_config(config, overrides=settings, interpolate=False)
    fix_random_seed(seed)
    nlp = init_nlp(loaded)
    training = util.registry.resolve(loaded.interpolate()["training"], schema=spacy.schemas.ConfigSchemaTraining)
    interpolated = nlp.config.interpolate()
    train_corpus, dev_corpus = util.resolve_dot_names(interpolated, [training["train_corpus"], training["dev_corpus"]])
    optimizer = training["optimizer"]

    began = time.process_time()
    best: tuple[int, bytes] = (0, b"")
    step = words = 0
    for _, info, is_best in train_while_improving(
        nlp,
        optimizer,
        create_train_batches(nlp, train_corpus, training["batcher"], max_epochs=0),
        create_evaluation_callback(nlp, dev_corpus, training["score_weights"]),
        dropout=training["dropout"],
        eval_frequency=training["eval_frequency"],
        accumulate_gradient=1,
        patience=0,
        max_steps=0,
        exclude=[],
        annotating_components=training["annotating_components"],
        before_update=None,
    ):
        step, words = info["step"], info["words"]
        if is_best and has_dev:
            with nlp.use_params(optimizer.averages) if optimizer.averages else _unchanged():
                best = (step, nlp.to_bytes())
        if time.process_time() - began >= seconds:
            break
    cpu_seconds = time.process_time() - began
    if not has_dev:
        with nlp.use_params(optimizer.averages) if optimizer.averages else _unchanged():
            best = (step, nlp.to_bytes())
    nlp.from_bytes(best[1])
    return Run(
        treebank=treebank.name,
        parser=name,
        seed=seed,
        cpu_seconds=cpu_seconds,
        steps=step,
        best_step=best[0],
        words_per_second=words / cpu_seconds,
        dev=count(nlp, dev_path) if has_dev else None,
        test=count(nlp, treebank / "test.spacy") if test else None,
    )


def count(nlp: Language, path: Path) -> Counts:
    """Parses the sentences of a .spacy file, each a Doc whose boundaries are set, and counts."""
    gold = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    sentences = [sentence.as_doc() for doc in gold for sentence in doc.sents]
    fresh = [
        Doc(nlp.vocab, words=[t.text for t in doc], sent_starts=[i == 0 for i in range(len(doc))]) for doc in sentences
    ]
    list(nlp.pipe(fresh[:100]))
    fresh = [
        Doc(nlp.vocab, words=[t.text for t in doc], sent_starts=[i == 0 for i in range(len(doc))]) for doc in sentences
    ]
    began = time.process_time()
    parsed = list(nlp.pipe(fresh, batch_size=64))
    seconds = time.process_time() - began

    heads_right = labels_right = tokens = uem = lem = single = nonprojective = nonprojective_right = 0
    for own, doc in zip(parsed, sentences, strict=True):
        heads, gold_heads = ([t.head.i for t in d] for d in (own, doc))
        right = np.array(heads) == np.array(gold_heads)
        labelled = right & np.array([_label(a) == _label(b) for a, b in zip(own, doc, strict=True)])
        crossing = np.array(nonprojective_arcs(gold_heads))
        tokens += len(doc)
        heads_right += right.sum()
        labels_right += labelled.sum()
        uem += right.all()
        lem += labelled.all()
        single += sum(head == i for i, head in enumerate(heads)) == 1
        nonprojective += crossing.sum()
        nonprojective_right += (crossing & right).sum()
    n = len(sentences)
    return Counts(
        uas=100 * float(heads_right) / tokens,
        las=100 * float(labels_right) / tokens,
        uem=100 * float(uem) / n,
        lem=100 * float(lem) / n,
        nonprojective_right=int(nonprojective_right),
        nonprojective=int(nonprojective),
        single_root=100 * single / n,
        words_per_second=tokens / seconds,
    )


def nonprojective_arcs(heads: list[int]) -> list[bool]:
    """For each token whether the arc to it is non-projective: some token between the two does not hang on the head.

    heads (list[int]): As in spaCy: the root is its own head.
    """
    found = []
    for token, head in enumerate(heads):
        inside = range(min(token, head) + 1, max(token, head))
        found.append(any(not _hangs_on(between, head, heads) for between in inside))
    return found


def _hangs_on(token: int, head: int, heads: list[int]) -> bool:
    while token != head and heads[token] != token:
        token = heads[token]
    return token == head


def _label(token: Any) -> str:
    return token.dep_.lower()


def _unchanged() -> Any:
    from contextlib import nullcontext

    return nullcontext()
