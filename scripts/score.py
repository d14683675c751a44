"""Writes the arc scores that a pipeline gives the sentences of a corpus, with the gold heads, to a score file.
Usage: python scripts/score.py MODEL CORPUS.spacy OUT.npz
"""

from __future__ import annotations

import sys

import numpy as np
import spacy
from spacy.tokens import Doc, DocBin
from tqdm import tqdm

from spacy_mindroot.score_file import write_score_file


def main(model: str, corpus: str, out: str) -> None:
    nlp = spacy.load(model, exclude=["mind_root"])
    gold = [sentence for doc in DocBin().from_disk(corpus).get_docs(nlp.vocab) for sentence in doc.sents]
    if not gold:
        sys.exit(f"There are no sentences in {corpus}.")
    docs = [Doc(nlp.vocab, words=[t.text for t in s], sent_starts=[i == 0 for i in range(len(s))]) for s in gold]
    scored = list(tqdm(nlp.pipe(docs), total=len(docs), unit=" sentences", disable=None))
    write_score_file(
        out,
        scores=[doc._.arc_scores[0] for doc in scored],
        words=[[token.text for token in doc] for doc in scored],
        labels=["root" if label == "ROOT" else label for label in scored[0]._.arc_label_names],
        best_labels=[doc._.arc_labels[0] for doc in scored],
        gold_heads=[np.array([0 if t.head == t else t.head.i - s.start + 1 for t in s]) for s in gold],
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
