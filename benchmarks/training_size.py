"""Confidence against training size: parsers trained on a part of a treebank, and how well they know what they know.

Parsers see words alone. Tokens and sentence boundaries of the test set are gold; tags, heads and labels are predicted.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config_from_str

from spacy_mindroot import decode_batch
from spacy_mindroot.annotation.training import steps_for
from spacy_mindroot.conllu import sentence_to_doc
from spacy_mindroot.doc.reading import blank_doc
from spacy_mindroot.inference import marginals
from spacy_mindroot.inference.calibration import expected_calibration_error
from spacy_mindroot.tools.building.config import make_config
from spacy_mindroot.tools.folds import new_parser, train, with_steps
from spacy_mindroot.tools.gold import GoldSentence, read_corpus

from .runs import note_run, read_runs

LOSSES = ("head", "tree", "both")
SIZES = (20, 50, 100, 200, 400, 0)  # sentences; 0 for all


@dataclass(frozen=True)
class Trained:
    """One run: a parser trained on some sentences, on the test set. Shares, probabilities and errors are in percent.

    uas: Heads that are right.
    mean_prob: Mean probability of the heads.
    ece: Expected calibration error of the heads, in ten bins.
    surer_half: Heads that are right among the half of the tokens with the highest probabilities.
    log_loss: Mean of minus the logarithm of the probability of the gold head, in nats.
    """

    treebank: str
    size: int
    loss: str
    seed: int
    optimize: str
    steps: int
    sentences: int
    cpu_seconds: float
    uas: float
    mean_prob: float
    ece: float
    surer_half: float
    log_loss: float


def treebank_part(folder: Path, part: str, vocab: object) -> list[GoldSentence]:
    """Return the sentences of a part of a UD treebank."""
    (path,) = folder.glob(f"*-ud-{part}.conllu")
    return list(read_corpus(path, vocab))


def gold_docs(nlp: Language, sentences: Sequence[GoldSentence]) -> list[Doc]:
    """Return annotated Docs, one per sentence."""
    docs = []
    for sentence in sentences:
        docs.append(sentence_to_doc(nlp.vocab, sentence.conllu))
        docs[-1]._.conllu = None
    return docs


def make_parser(optimize: str, steps: int, seed: int, **scorer: object) -> Language:
    """Return an untrained parser from the config that `spacy mindroot init-config` makes."""
    config = load_config_from_str(make_config("xx", optimize, [], None))
    config["components"]["arc_scorer"] |= scorer
    return new_parser(with_steps(config, steps), seed)


def blank_docs(nlp: Language, sentences: Sequence[GoldSentence]) -> Iterator[Doc]:
    """Return the tokens of sentences, one Doc per sentence."""
    return (blank_doc(nlp.vocab, [each]) for each in sentences)


def matrices(nlp: Language, sentences: Sequence[GoldSentence]) -> list[np.ndarray]:
    """Return the arc scores that a pipeline gives to sentences."""
    at = nlp.pipe_names.index("arc_scorer")
    with nlp.select_pipes(enable=nlp.pipe_names[: at + 1]):
        return [doc._.arc_scores[0] for doc in nlp.pipe(blank_docs(nlp, sentences))]


def measure(scores: Sequence[np.ndarray], gold: Sequence[GoldSentence]) -> dict[str, float]:
    """Return the measures of `Trained`."""
    heads, probabilities = decode_batch(list(scores)), [marginals(own) for own in scores]
    right = np.concatenate([own == each.heads for own, each in zip(heads, gold, strict=True)])
    prob, of_gold = (
        np.concatenate([p[np.arange(len(own)), own] for p, own in zip(probabilities, trees, strict=True)])
        for trees in (heads, [each.heads for each in gold])
    )
    prob = np.minimum(prob, 1.0)
    order = np.argsort(-prob, kind="stable")[: round(len(prob) / 2)]
    return {
        "uas": 100 * float(right.mean()),
        "mean_prob": 100 * float(prob.mean()),
        "ece": 100 * expected_calibration_error(prob, right),
        "surer_half": 100 * float(right[order].mean()),
        "log_loss": float(-np.log(np.maximum(of_gold, 1e-12)).mean()),
    }


def run(folder: Path, size: int, loss: str, seed: int, optimize: str) -> Trained:
    """Train a parser on a random part of a treebank. Of one seed, smaller parts are contained in larger ones."""
    probe = new_parser(load_config_from_str('[nlp]\nlang = "xx"\npipeline = []\n'), seed)
    every = treebank_part(folder, "train", probe.vocab)
    order = np.random.default_rng(seed).permutation(len(every))
    chosen = [every[k] for k in order[: size or len(every)].tolist()]
    steps = steps_for(len(chosen))
    began = time.process_time()
    nlp = make_parser(optimize, steps, seed, loss=loss)
    averages = train(nlp, gold_docs(nlp, chosen), steps, seed)
    seconds = time.process_time() - began
    test = treebank_part(folder, "test", nlp.vocab)
    with nlp.use_params(averages):
        measures = measure(matrices(nlp, test), test)
    return Trained(
        treebank=folder.name.removeprefix("UD_"),
        size=size,
        loss=loss,
        seed=seed,
        optimize=optimize,
        steps=steps,
        sentences=len(chosen),
        cpu_seconds=round(seconds, 1),
        **{name: round(value, 3) for name, value in measures.items()},
    )


def run_all(
    data: Path, treebanks: Sequence[str], sizes: Sequence[int], seeds: int, optimize: str, results: Path
) -> Iterator[Trained]:
    """Do the runs that are not in a file yet, small sizes first, and add each to the file."""
    done = {(each["treebank"], each["size"], each["loss"], each["seed"]) for each in read_runs(results)}
    for size, seed, treebank, loss in product(sizes, range(1, seeds + 1), treebanks, LOSSES):
        if (treebank, size, loss, seed) in done:
            continue
        found = run(data / "ud" / f"UD_{treebank}", size, loss, seed, optimize)
        note_run(results, found)
        yield found


def means(runs: Sequence[dict]) -> Iterator[tuple[str, int, str, list[dict]]]:
    """Yield the runs of each treebank, number of sentences and loss, in this order."""
    groups = defaultdict(list)
    for each in runs:
        groups[each["treebank"], each["sentences"], LOSSES.index(each["loss"])].append(each)
    for (treebank, sentences, loss), own in sorted(groups.items()):
        yield treebank, sentences, LOSSES[loss], own
