"""Writes assets/demo.npz, the score file of the demo: the worked example of the paper, and sentences of our own with
arc probabilities as an unsure parser might give them. Usage: python scripts/demo_scores.py OUT.npz
"""

from __future__ import annotations

import sys

import numpy as np

from spacy_mindroot.score_file import write_score_file

# The arcs of figure 2 of Zmigrod, Vieira and Cotterell (2020): (head, dependent) -> weight, ROOT = 0.
WORKED_EXAMPLE = {
    (0, 1): 90, (0, 2): 40, (1, 3): 10, (2, 4): 60, (2, 3): 30, (3, 2): 50, (4, 3): 70, (4, 1): 20,
}  # fmt: skip

# For each word: its gold head, and its likely arcs as (head, label, probability). What is left goes to all other heads.
SENTENCES: list[list[tuple[str, int, list[tuple[int, str, float]]]]] = [
    [
        ("Ada", 2, [(2, "nsubj", 0.97)]),
        ("wrote", 0, [(0, "root", 0.93), (7, "advcl", 0.03)]),
        ("the", 4, [(4, "det", 0.98)]),
        ("report", 2, [(2, "obj", 0.95)]),
        ("and", 7, [(7, "cc", 0.90), (2, "cc", 0.08)]),
        ("Ben", 7, [(7, "nsubj", 0.94)]),
        ("signed", 2, [(0, "root", 0.52), (2, "conj", 0.44)]),
        ("it", 7, [(7, "obj", 0.97)]),
        (".", 2, [(2, "punct", 0.70), (7, "punct", 0.28)]),
    ],
    [
        ("The", 3, [(3, "det", 0.97)]),
        ("old", 3, [(3, "amod", 0.96)]),
        ("bridge", 5, [(5, "nsubj:pass", 0.92)]),
        ("was", 5, [(5, "aux:pass", 0.96)]),
        ("closed", 0, [(0, "root", 0.96)]),
        ("last", 7, [(7, "amod", 0.95)]),
        ("winter", 5, [(5, "obl:tmod", 0.90)]),
        (".", 5, [(5, "punct", 0.97)]),
    ],
    [
        ("There", 2, [(2, "expl", 0.95)]),
        ("is", 0, [(0, "root", 0.55), (3, "cop", 0.40)]),
        ("soup", 2, [(0, "root", 0.48), (2, "nsubj", 0.47)]),
        ("in", 6, [(6, "case", 0.96)]),
        ("the", 6, [(6, "det", 0.98)]),
        ("pot", 2, [(3, "nmod", 0.58), (2, "obl", 0.38)]),
        (",", 8, [(8, "punct", 0.84), (2, "punct", 0.12)]),
        ("help", 2, [(0, "root", 0.66), (2, "parataxis", 0.30)]),
        ("yourself", 8, [(8, "obj", 0.95)]),
        (".", 2, [(8, "punct", 0.50), (2, "punct", 0.45)]),
    ],
    [
        ("Sold", 0, [(0, "root", 0.90)]),
        ("out", 1, [(1, "compound:prt", 0.95)]),
        (",", 4, [(4, "punct", 0.92)]),
        ("sorry", 6, [(0, "root", 0.58), (6, "discourse", 0.36)]),
        (",", 6, [(6, "punct", 0.70), (4, "punct", 0.26)]),
        ("come", 1, [(4, "parataxis", 0.51), (1, "parataxis", 0.44)]),
        ("tomorrow", 6, [(6, "advmod", 0.96)]),
        (".", 1, [(1, "punct", 0.55), (4, "punct", 0.35)]),
    ],
]


def main(out: str) -> None:
    labels = ["dep"] + sorted({label for sentence in SENTENCES for _, _, arcs in sentence for _, label, _ in arcs})
    words, gold, scores, best_labels = [], [], [], []

    weights = np.full((4, 5), -np.inf)
    for (head, dependent), weight in WORKED_EXAMPLE.items():
        weights[dependent - 1, head] = weight
    words.append([f"node{node}" for node in (1, 2, 3, 4)])
    gold.append(np.array([0, 3, 1, 2]))
    scores.append(weights)
    best_labels.append(np.zeros(weights.shape, dtype=np.uint8))

    for sentence in SENTENCES:
        n = len(sentence)
        probabilities = np.zeros((n, n + 1))
        best = np.zeros((n, n + 1), dtype=np.uint8)
        for i, (_, _, arcs) in enumerate(sentence):
            probabilities[i] = (1 - sum(p for _, _, p in arcs)) / (n - len(arcs))
            probabilities[i, i + 1] = 0
            for head, label, p in arcs:
                probabilities[i, head] = p
                best[i, head] = labels.index(label)
        with np.errstate(divide="ignore"):
            scores.append(np.log(probabilities))
        words.append([word for word, _, _ in sentence])
        gold.append(np.array([head for _, head, _ in sentence]))
        best_labels.append(best)

    write_score_file(out, scores=scores, words=words, labels=labels, best_labels=best_labels, gold_heads=gold)


if __name__ == "__main__":
    main(sys.argv[1])
