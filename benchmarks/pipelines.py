"""Times pipelines, ours and spaCy's, on the same sentences in the same run."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from spacy import util
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.converters import conllu_to_docs
from thinc.api import Config, NumpyOps, fix_random_seed, set_current_ops

ROOT = Path(__file__).parent.parent
OUR_CONFIG = ROOT / "configs" / "whole-doc-accurate.cfg"


def time_pipelines(config: Path, length: int, sentences: int, repeats: int, *, use_blis: bool) -> dict[str, float]:
    """Return median seconds for a sentence, by pipeline and by component of ours.

    The pipelines are ours, ours with spaCy's parser in place of `arc_scorer` and `mind_root`, and spaCy's own.
    They have seen the small English treebank a few times; the sentences are its words in random order.

    use_blis (bool): All of them multiply matrices with BLIS. If False, with numpy's BLAS.
    """
    set_current_ops(NumpyOps(use_blis=use_blis))
    gold = list(conllu_to_docs((ROOT / "assets/treebank/train.conllu").read_text("utf8"), n_sents=1, no_print=True))
    overrides = {"nlp.after_pipeline_creation.products": "blis" if use_blis else "numpy"}
    ours = _train(util.load_config(config, overrides=overrides), gold)
    pipelines = {
        "ours": ours,
        "spaCy's parser on our tok2vec": _train(with_spacy_parser(util.load_config(config, overrides=overrides)), gold),
        "spaCy's parser and tok2vec": _train(spacy_parser_config(), gold),
    }
    vocabulary = [token.text for doc in gold for token in doc]
    rng = np.random.default_rng(0)
    texts = [rng.choice(vocabulary, length).tolist() for _ in range(sentences)]

    times: dict[str, list[float]] = {name: [] for name in [*pipelines, *ours.pipe_names]}
    for _ in range(repeats + 1):
        for name, nlp in pipelines.items():
            docs = make_docs(nlp, texts)
            began = time.thread_time()
            list(nlp.pipe(docs, batch_size=64))
            times[name].append(time.thread_time() - began)
        docs = make_docs(ours, texts)
        for name, component in ours.pipeline:
            began = time.thread_time()
            docs = list(component.pipe(docs, batch_size=64))
            times[name].append(time.thread_time() - began)
    return {name: float(np.median(seconds[1:])) / sentences for name, seconds in times.items()}


def spacy_parser_config() -> Config:
    """Return the config that `spacy init config -p parser -o efficiency` makes."""
    return init_config(lang="xx", pipeline=["parser"], optimize="efficiency", gpu=False, silent=True)


def with_spacy_parser(config: Config) -> Config:
    """Return our config with spaCy's parser in place of `arc_scorer` and `mind_root`."""
    config["components"] = {
        "tok2vec": config["components"]["tok2vec"],
        "parser": spacy_parser_config()["components"]["parser"],
    }
    config["nlp"]["pipeline"] = ["tok2vec", "parser"]
    return config


def _train(config: Config, gold: list[Doc]) -> Language:
    fix_random_seed(0)
    nlp = util.load_model_from_config(config, auto_fill=True)
    optimizer = nlp.initialize(lambda: _examples(nlp, gold))
    for _ in range(20):
        nlp.update(_examples(nlp, gold), sgd=optimizer)
    return nlp


def _examples(nlp: Language, gold: list[Doc]) -> list[Example]:
    return [
        Example(doc, reference)
        for doc, reference in zip(make_docs(nlp, [[t.text for t in d] for d in gold]), gold, strict=True)
    ]


def make_docs(nlp: Language, texts: list[list[str]]) -> list[Doc]:
    """Return Docs of one sentence each, with boundaries set."""
    return [Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))]) for words in texts]
