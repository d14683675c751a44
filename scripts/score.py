"""Writes the arc scores that a pipeline gives the sentences of a corpus, with the gold trees, to a score file.
Usage: python scripts/score.py MODEL CORPUS.spacy OUT.npz
"""

from __future__ import annotations

import sys
from pathlib import Path

import spacy
from tqdm import tqdm

from spacy_mindroot.audit.corpus import read_corpus, score_sentences
from spacy_mindroot.score_file import write_score_file


def main(model: str, corpus: str, out: str) -> None:
    nlp = spacy.load(model)
    gold = read_corpus(Path(corpus), nlp.vocab)
    scored = list(tqdm(score_sentences(nlp, gold), total=len(gold), unit=" sentences", disable=None))
    write_score_file(
        out,
        scores=[sentence.scores for sentence in scored],
        words=[sentence.words for sentence in scored],
        labels=scored[0].label_names,
        best_labels=[sentence.best_labels for sentence in scored],
        gold_heads=[sentence.gold_heads for sentence in scored],
        gold_labels=[sentence.gold_labels for sentence in scored],
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
