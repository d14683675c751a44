"""Cross-validation for the demo: scores each sentence of a treebank with a parser that has not seen it.

Usage: python -m scripts.demo_folds CONFIG CORPUS_FOLDER OUT_FOLDER --folds 5 --steps 300 --lang en --seed 1 --jobs 2

The sentences of train.spacy, dev.spacy and test.spacy in CORPUS_FOLDER are shuffled and split into folds. For each of
them, a parser is trained on the others. Its arc scores, with the gold trees, go to a score file in OUT_FOLDER. With
--jobs, several parsers are trained at the same time.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import typer
from spacy.tokens import DocBin
from spacy.util import load_config
from tqdm import tqdm

from spacy_mindroot import write_score_file
from spacy_mindroot.scored import ScoredSentence
from spacy_mindroot.tools.folds import new_parser, train
from spacy_mindroot.tools.gold import read_corpus, score_sentences

PARTS = ("train.spacy", "dev.spacy", "test.spacy")
WARMUP = 50  # steps; the config's 100 suit longer training

Progress = Callable[[], Any]


class Settings(NamedTuple):
    """The settings of all folds."""

    folds: int
    steps: int
    lang: str
    seed: int


def split(n: int, folds: int, seed: int) -> list[list[int]]:
    """Return the numbers from 0 to n-1, shuffled, in folds whose sizes differ by at most one."""
    if not 2 <= folds <= n:
        raise typer.BadParameter(f"{folds} folds for {n} sentences: there must be at least 2, and at most {n}.")
    order = random.Random(seed).sample(range(n), n)
    return [order[fold::folds] for fold in range(folds)]


def write(path: Path, scored: list[ScoredSentence]) -> None:
    write_score_file(
        path,
        scores=[each.scores for each in scored],
        words=[each.words for each in scored],
        labels=scored[0].label_names,
        best_labels=[each.best_labels for each in scored],
        gold_heads=[each.gold_heads for each in scored],
        gold_labels=[each.gold_labels for each in scored],
    )


def score_fold(config: Path, corpus: Path, out: Path, number: int, settings: Settings, progress: Progress) -> None:
    """Train a parser on all folds but one, and write the arc scores of that one."""
    overrides = {
        "nlp.lang": settings.lang,
        "components.arc_scorer.loss": "head",  # "tree" does not teach the model how many roots a sentence has
        "training.optimizer.learn_rate.warmup_steps": WARMUP,
        "training.optimizer.learn_rate.total_steps": settings.steps,
    }
    nlp = new_parser(load_config(config, overrides=overrides), settings.seed)
    docs = [doc for part in PARTS for doc in DocBin().from_disk(corpus / part).get_docs(nlp.vocab)]
    gold = [sentence for part in PARTS for sentence in read_corpus(corpus / part, nlp.vocab)]
    if len(docs) != len(gold):
        raise typer.BadParameter(f"{corpus} has {len(docs)} Docs with {len(gold)} sentences. Convert it with -n 1.")
    held_out = split(len(docs), settings.folds, settings.seed)[number - 1]
    others = [doc for k, doc in enumerate(docs) if k not in held_out]
    averages = train(nlp, others, settings.steps, settings.seed, progress)
    with nlp.use_params(averages):
        write(out / f"fold-{number}.npz", list(score_sentences(nlp, [gold[k] for k in held_out])))


def start_process(counter: Any) -> None:
    """Keep the counter of steps that all processes share."""
    global _steps
    _steps = counter


def score_fold_elsewhere(*args: Any) -> None:
    def count() -> None:
        with _steps.get_lock():
            _steps.value += 1

    score_fold(*args, count)


def main(
    config: Path,
    corpus: Path,
    out: Path,
    folds: int = typer.Option(...),
    steps: int = typer.Option(..., min=WARMUP + 1),
    lang: str = typer.Option(...),
    seed: int = typer.Option(...),
    jobs: int = typer.Option(..., min=1),
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("fold-*.npz"):
        old.unlink()
    settings = Settings(folds, steps, lang, seed)
    with tqdm(total=folds * steps, unit=" steps", desc=f"Training {folds} parsers") as bar:
        if jobs == 1:
            for number in range(1, folds + 1):
                score_fold(config, corpus, out, number, settings, bar.update)
            return
        os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # of the processes to come
        context = get_context("spawn")
        counter = context.Value("l", 0)
        with ProcessPoolExecutor(min(jobs, folds), context, start_process, (counter,)) as pool:
            tasks = [
                pool.submit(score_fold_elsewhere, config, corpus, out, number, settings)
                for number in range(1, folds + 1)
            ]
            waiting = set(tasks)
            while waiting:
                _, waiting = wait(waiting, timeout=0.2)
                bar.update(counter.value - bar.n)
            for task in tasks:
                task.result()


if __name__ == "__main__":
    typer.run(main)
