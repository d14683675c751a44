"""Whether `spacy mindroot suspect` finds annotation errors: some gold heads are corrupted, and looked for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import spacy
from spacy.util import load_config_from_str

from spacy_mindroot import is_tree
from spacy_mindroot.audit.corpus import GoldSentence, read_corpus
from spacy_mindroot.audit.cross_validation import find_documents, split_documents
from spacy_mindroot.audit.suspicion import cross_validated, order_suspects
from spacy_mindroot.cli.init_config import make_config


@dataclass(frozen=True)
class Detection:
    """What was found of the corrupted heads.

    precision (dict[str, float]): The share of corrupted heads among the first 1 % of tokens, by criterion.
    """

    treebank: str
    config: str
    sentences: int
    tokens: int
    corrupted: int
    folds: int
    steps: int
    seed: int
    cpu_seconds: float
    precision: dict[str, float]
    recall_5: float


def corrupt(sentences: list[GoldSentence], share: float, seed: int) -> set[tuple[int, int]]:
    """Give a share of the words another head, at random, in place. Each sentence stays a tree with one root.

    RETURNS: The numbers of the sentences, from 0, and of the words, from 1.
    """
    rng = np.random.default_rng(seed)
    words = [(k, i) for k, sentence in enumerate(sentences) for i in range(len(sentence.words))]
    wanted = round(share * len(words))
    changed: set[tuple[int, int]] = set()
    for at in rng.permutation(len(words)).tolist():
        if len(changed) == wanted:
            break
        k, i = words[at]
        heads, own = sentences[k].heads, int(sentences[k].heads[i])
        for head in rng.permutation(len(heads) + 1).tolist():
            if head not in (0, i + 1, own) and own != 0:
                heads[i] = head
                if is_tree(heads, single_root=True):
                    conllu = sentences[k].conllu
                    assert conllu is not None
                    conllu.replace(i + 1, 6, str(head))
                    changed.add((k, i + 1))
                    break
                heads[i] = own
    return changed


def detect(
    path: Path, *, most: int, optimize: str, folds: int, steps: int, seed: int, share: float = 0.01
) -> Detection:
    """Corrupt heads of a treebank, and look for them by cross-validation."""
    sentences = list(read_corpus(path, spacy.blank("xx").vocab))[:most]
    corrupted = corrupt(sentences, share, seed)
    config = load_config_from_str(
        make_config("xx", optimize, [], None),
        overrides={"training.optimizer.learn_rate.total_steps": steps, "training.max_steps": steps},
    )
    began = time.process_time()
    documents, _ = find_documents(sentences, folds)
    parts = split_documents(documents, folds, seed)
    suspects = list(cross_validated(sentences, parts, config, steps=steps, seed=seed))
    seconds = time.process_time() - began
    tokens = len(suspects)
    precision = {}
    orders = {what: order_suspects(suspects, what) for what in ("heads", "both")}
    orders["heads, probability alone"] = sorted(suspects, key=lambda each: each.head_prob)
    for name, ordered in orders.items():
        first = ordered[: round(0.01 * tokens)]
        precision[name] = 100 * sum((each.sentence, each.word) in corrupted for each in first) / len(first)
    first = orders["heads"][: round(0.05 * tokens)]
    return Detection(
        treebank=path.parent.name.removeprefix("UD_"),
        config=optimize,
        sentences=len(sentences),
        tokens=tokens,
        corrupted=len(corrupted),
        folds=folds,
        steps=steps,
        seed=seed,
        cpu_seconds=seconds,
        precision=precision,
        recall_5=100 * sum((each.sentence, each.word) in corrupted for each in first) / len(corrupted),
    )
