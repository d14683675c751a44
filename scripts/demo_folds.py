"""Cross-validation for the demo: scores each sentence of a treebank with a parser that has not seen it.

Usage: python -m scripts.demo_folds CONFIG CORPUS_FOLDER OUT_FOLDER --folds 5 --steps 300 --lang en --seed 1

The sentences of train.spacy, dev.spacy and test.spacy in CORPUS_FOLDER are shuffled and split into folds. For each of
them, a parser is trained on the others. Its arc scores, with the gold trees, go to a score file in OUT_FOLDER.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import typer
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import fix_random_seed, load_config, load_model_from_config, registry
from tqdm import tqdm

from spacy_mindroot import write_score_file
from spacy_mindroot.audit.corpus import read_corpus, score_sentences
from spacy_mindroot.scored import ScoredSentence

PARTS = ("train.spacy", "dev.spacy", "test.spacy")
WARMUP = 50  # steps; the config's 100 suit longer training


def split(n: int, folds: int, seed: int) -> list[list[int]]:
    """Return the numbers from 0 to n-1, shuffled, in folds whose sizes differ by at most one."""
    if not 2 <= folds <= n:
        raise typer.BadParameter(
            f"{folds} folds for {n} sentences. There must be at least 2, and at most one per sentence."
        )
    order = random.Random(seed).sample(range(n), n)
    return [order[fold::folds] for fold in range(folds)]


def new_parser(config: Path, lang: str, steps: int) -> Language:
    """Return the untrained parser of a config, with the settings of the demo."""
    overrides = {
        "nlp.lang": lang,
        "components.arc_scorer.loss": "head",
        "training.optimizer.learn_rate.warmup_steps": WARMUP,
        "training.optimizer.learn_rate.total_steps": steps,
    }
    return load_model_from_config(load_config(config, overrides=overrides), auto_fill=True)


def train(nlp: Language, gold: list[Doc], steps: int, seed: int, advance: Callable[[], object]) -> dict:
    """Train a parser on sentences, one per Doc, with the batches, dropout and optimizer of its config.

    advance: Called after each step.
    RETURNS: The running averages of the weights, for `nlp.use_params`.
    """
    settings = registry.resolve(nlp.config.interpolate()["training"], schema=ConfigSchemaTraining)
    examples = [Example(blank_copy(nlp, doc), doc) for doc in gold]
    optimizer = nlp.initialize(lambda: examples, sgd=settings["optimizer"])
    for batch in islice(settings["batcher"](shuffled_forever(examples, seed)), steps):
        nlp.update(batch, sgd=optimizer, drop=settings["dropout"])
        optimizer.step_schedules()
        advance()
    return optimizer.averages


def blank_copy(nlp: Language, doc: Doc) -> Doc:
    """Return a Doc with the tokens of another, and no annotation."""
    return Doc(nlp.vocab, words=[token.text for token in doc], spaces=[bool(token.whitespace_) for token in doc])


def shuffled_forever(examples: list[Example], seed: int) -> Iterator[Example]:
    shuffle = random.Random(seed)
    while True:
        yield from shuffle.sample(examples, len(examples))


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


def main(
    config: Path,
    corpus: Path,
    out: Path,
    folds: int = typer.Option(...),
    steps: int = typer.Option(..., min=WARMUP + 1),
    lang: str = typer.Option(...),
    seed: int = typer.Option(...),
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("fold-*.npz"):
        old.unlink()
    with tqdm(total=folds * steps, unit=" steps", desc=f"Training {folds} parsers") as bar:
        for number in range(1, folds + 1):
            fix_random_seed(seed)
            nlp = new_parser(config, lang, steps)
            docs = [doc for part in PARTS for doc in DocBin().from_disk(corpus / part).get_docs(nlp.vocab)]
            gold = [sentence for part in PARTS for sentence in read_corpus(corpus / part, nlp.vocab)]
            if len(docs) != len(gold):
                raise typer.BadParameter(
                    f"{corpus} has {len(docs)} Docs with {len(gold)} sentences. Convert it with -n 1."
                )
            held_out = split(len(docs), folds, seed)[number - 1]
            others = [doc for k, doc in enumerate(docs) if k not in held_out]
            averages = train(nlp, others, steps, seed, bar.update)
            with nlp.use_params(averages):
                write(out / f"fold-{number}.npz", list(score_sentences(nlp, [gold[k] for k in held_out])))


if __name__ == "__main__":
    typer.run(main)
