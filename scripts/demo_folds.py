"""Cross-validation for the demo: scores each sentence of a treebank with a parser that has not seen it.

Usage: python -m scripts.demo_folds CONFIG CORPUS_FOLDER OUT_FOLDER --folds 5 --steps 300 --lang en --seed 1

The sentences of train.spacy, dev.spacy and test.spacy in CORPUS_FOLDER are shuffled and split into folds. For each of
them, a parser is trained on the others. Its arc scores, with the gold trees, go to a score file in OUT_FOLDER.
"""

from __future__ import annotations

from pathlib import Path

import typer
from spacy.tokens import DocBin
from spacy.util import load_config
from tqdm import tqdm

from spacy_mindroot import write_score_file
from spacy_mindroot.audit.corpus import read_corpus, score_sentences
from spacy_mindroot.audit.cross_validation import new_parser, split, train
from spacy_mindroot.scored import ScoredSentence

PARTS = ("train.spacy", "dev.spacy", "test.spacy")
WARMUP = 50  # steps; the config's 100 suit longer training


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
    overrides = {
        "nlp.lang": lang,
        "components.arc_scorer.loss": "head",  # "tree" does not teach the model how many roots a sentence has
        "training.optimizer.learn_rate.warmup_steps": WARMUP,
        "training.optimizer.learn_rate.total_steps": steps,
    }
    with tqdm(total=folds * steps, unit=" steps", desc=f"Training {folds} parsers") as bar:
        for number in range(1, folds + 1):
            nlp = new_parser(load_config(config, overrides=overrides), seed)
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
