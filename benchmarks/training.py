"""Trains a pipeline for a fixed amount of CPU time on a treebank and counts what it gets right on the test set.

Both parsers are treated alike: gold tokens, one gold sentence a Doc, all tokens counted, one thread, the same ops, the
checkpoint that is best on the development set (the last one where there is none).
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.converters import conllu_to_docs
from spacy.training.initialize import init_nlp
from thinc.api import Config, NumpyOps, fix_random_seed, set_current_ops

from spacy_mindroot import count_roots
from spacy_mindroot.accuracy import Right, count_right
from spacy_mindroot.trees import nonprojective_arcs

from .budget import train_within
from .pipelines import OUR_CONFIG, make_docs, spacy_parser_config
from .runs import note_run


@dataclass(frozen=True)
class Counts:
    """The accuracy of a parser on a corpus, in percent of `tokens`; `uem` and `lem` are in percent of sentences."""

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


def train(config: Config, treebank: Path, *, parser: str, seed: int, seconds: float) -> Run:
    """Trains a pipeline on `treebank`/train.spacy for `seconds` of CPU time, evaluation on dev.spacy included."""
    nlp, progress = train_pipeline(config, treebank, seed=seed, seconds=seconds)
    dev_path = treebank / "dev.spacy"
    return Run(
        treebank=treebank.name,
        parser=parser,
        seed=seed,
        **progress,
        dev=count(nlp, dev_path) if dev_path.exists() else None,
        test=count(nlp, treebank / "test.spacy"),
    )


def train_pipeline(config: Config, treebank: Path, *, seed: int, seconds: float) -> tuple[Language, dict[str, Any]]:
    """Return the pipeline that `train` evaluates, and the figures of a Run about its training."""
    set_current_ops(NumpyOps(use_blis=False))
    fix_random_seed(seed)
    nlp = init_nlp(config)
    found = train_within(nlp, seconds, has_dev=(treebank / "dev.spacy").exists())
    return nlp, {
        "cpu_seconds": found.cpu_seconds,
        "steps": found.steps,
        "best_step": found.best_step,
        "words_per_second": found.words / found.cpu_seconds,
    }


def make_config(parser: str, treebank: Path, seed: int) -> Config:
    """Return the config of a parser for a treebank in spaCy's format.

    parser (str): "spacy", "mindroot", or "mindroot, LOSS loss" for another loss.
    """
    config = spacy_parser_config() if parser == "spacy" else util.load_config(OUR_CONFIG)
    train_path, dev_path = treebank / "train.spacy", treebank / "dev.spacy"
    overrides = {
        "paths.train": str(train_path),
        "paths.dev": str(dev_path if dev_path.exists() else train_path),
        "system.seed": seed,
        "corpora.train.gold_preproc": True,  # gold tokens, one sentence a Doc
        "corpora.dev.gold_preproc": True,
    }
    if parser == "spacy" and not dev_path.exists():
        overrides["components.parser.min_action_freq"] = 1  # 20 sentences have few arcs of each label
    if parser.endswith(" loss"):
        overrides["components.arc_scorer.loss"] = parser.split()[1]
    return util.load_config_from_str(config.to_str(), overrides=overrides, interpolate=False)


def convert(source: Path, target: Path) -> None:
    """A UD treebank to spaCy's format, one sentence a Doc."""
    target.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev", "test"):
        for path in source.glob(f"*-ud-{part}.conllu"):
            docs = conllu_to_docs(path.read_text("utf8"), n_sents=1, no_print=True)
            DocBin(docs=docs, store_user_data=True).to_disk(target / f"{part}.spacy")


def count(nlp: Language, path: Path) -> Counts:
    """Parses the sentences of a .spacy file, each a Doc whose boundaries are set, and counts."""
    gold = list(DocBin().from_disk(path).get_docs(nlp.vocab))
    sentences = [sentence.as_doc() for doc in gold for sentence in doc.sents]
    texts = [[token.text for token in doc] for doc in sentences]
    list(nlp.pipe(make_docs(nlp, texts[:100])))  # warm up
    fresh = make_docs(nlp, texts)
    began = time.process_time()
    parsed = list(nlp.pipe(fresh, batch_size=64))
    seconds = time.process_time() - began

    found, single, nonprojective, nonprojective_right = [], 0, 0, 0
    for own, doc in zip(parsed, sentences, strict=True):
        heads, gold_heads = _heads(own), _heads(doc)
        crossing = nonprojective_arcs(gold_heads)
        found.append(count_right(heads, gold_heads, _labels(own), _labels(doc)))
        single += count_roots(heads) == 1
        nonprojective += crossing.sum()
        nonprojective_right += (crossing & (heads == gold_heads)).sum()
    right = Right(*np.sum(found, axis=0).tolist())
    n = len(sentences)
    return Counts(
        uas=100 * right.heads / right.tokens,
        las=100 * right.labelled / right.tokens,
        uem=100 * right.tree / n,
        lem=100 * right.labelled_tree / n,
        nonprojective_right=int(nonprojective_right),
        nonprojective=int(nonprojective),
        single_root=100 * single / n,
        words_per_second=right.tokens / seconds,
    )


def _heads(doc: Doc) -> np.ndarray:
    """0 = ROOT."""
    return np.array([0 if token.head == token else token.head.i + 1 for token in doc])


def _labels(doc: Doc) -> list[str]:
    return [token.dep_.lower() for token in doc]


def main(source: str, parser: str, seed: str, seconds: str, results: str) -> None:
    """One run, in a process of its own; its result is added to a file."""
    with tempfile.TemporaryDirectory() as folder:
        treebank = Path(folder) / Path(source).name.removeprefix("UD_")
        convert(Path(source), treebank)
        run = train(
            make_config(parser, treebank, int(seed)), treebank, parser=parser, seed=int(seed), seconds=float(seconds)
        )
    note_run(Path(results), run)
    print(
        f"{run.treebank}, {parser}, seed {seed}: "
        f"UAS {run.test.uas:.2f}, LAS {run.test.las:.2f}, UEM {run.test.uem:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
