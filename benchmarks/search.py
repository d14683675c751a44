"""Times next best trees, projective trees and the component's switches, and measures what given arcs gain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_mindroot import decode, decode_batch
from spacy_mindroot.inference import kbest
from spacy_mindroot.score_file import read_score_file

LENGTHS = (10, 25, 50, 100, 200)
SWITCHES: tuple[dict[str, object], ...] = (
    {},
    {"projective": True},
    {"kbest": 2},
    {"kbest": 5},
    {"confidence": True},
    {"confidence": True, "kbest": 5},
)


def time_search(repeats: int) -> Iterator[tuple[int, dict[str, float]]]:
    """For each length the median seconds to decode a sentence of random scores, and to find other trees of it."""
    rng = np.random.default_rng(0)
    for n in LENGTHS:
        batch = list(rng.normal(0, 3, (max(4, 2000 // n), n, n + 1)).astype(np.float32))
        yield (
            n,
            _medians(
                {
                    "decode": partial(_each, batch, decode),
                    "kbest, k=2": partial(_each, batch, partial(kbest, k=2)),
                    "kbest, k=10": partial(_each, batch, partial(kbest, k=10)),
                    "projective": partial(_each, batch, partial(decode, projective=True)),
                },
                len(batch),
                repeats,
            ),
        )


def time_switches(path: Path, repeats: int) -> dict[str, float]:
    """The median seconds that `mind_root` takes for a sentence of a score file, with each of its switches."""
    sentences = [sentence for sentence in read_score_file(path) if len(sentence.words)]
    runs = {}
    for switches in SWITCHES:
        nlp = spacy.blank("xx")
        mind_root = nlp.add_pipe("mind_root", config={**switches, "keep_scores": True})
        docs = []
        for start in range(0, len(sentences), 10):
            of_doc = sentences[start : start + 10]
            docs.append(Doc(nlp.vocab, words=[word for sentence in of_doc for word in sentence.words]))
            docs[-1]._.arc_scores = [sentence.scores for sentence in of_doc]
        name = ", ".join(f"{name} = {str(value).lower()}" for name, value in switches.items()) or "none"
        runs[name] = partial(_run, mind_root, docs)
    return _medians(runs, len(sentences), repeats)


def gain_of_given_arcs(path: Path, seeds: int) -> tuple[float, float, int]:
    """Return the UAS of tokens without a given head, before and after a tenth of gold heads are required, and a count.

    The count is the number of sentences.
    """
    sentences = read_score_file(path)
    before = decode_batch([sentence.scores for sentence in sentences])
    right_before = right = tokens = 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        for sentence, heads in zip(sentences, before, strict=True):
            gold = sentence.gold_heads
            given = rng.random(len(gold)) < 0.1
            arcs = [(int(i) + 1, int(gold[i])) for i in np.flatnonzero(given)]
            found = decode(sentence.scores, required=arcs)
            assert (found[given] == gold[given]).all()
            right_before += np.count_nonzero((heads == gold)[~given])
            right += np.count_nonzero((found == gold)[~given])
            tokens += np.count_nonzero(~given)
    return right_before / tokens, right / tokens, len(sentences)


def _each(batch: list[np.ndarray], run: Callable[[np.ndarray], object]) -> None:
    for scores in batch:
        run(scores)


def _run(mind_root: Callable, docs: list[Doc]) -> None:
    for _ in mind_root.pipe(docs):
        pass


def _medians(runs: dict[str, Callable[[], None]], sentences: int, repeats: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats + 1):
        for name, run in runs.items():
            began = time.thread_time()
            run()
            times[name].append((time.thread_time() - began) / sentences)
    return {name: float(np.median(seconds[1:])) for name, seconds in times.items()}
