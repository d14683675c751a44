"""Parse with the pipeline `en_demo`, in an environment with nothing but its wheel and ours.

Usage: `python test_pipeline.py`.
"""

from __future__ import annotations

import spacy

TREE = [
    ("Anna", "nsubj", "ate"),
    ("ate", "ROOT", "ate"),
    ("the", "det", "cake"),
    ("cake", "obj", "ate"),
    (".", "punct", "ate"),
]


def main() -> None:
    """Check a tree, and that every sentence has one root."""
    nlp = spacy.load("en_demo")
    doc = nlp("Anna ate the cake.")
    found = [(token.text, token.dep_, token.head.text) for token in doc]
    assert found == TREE, found
    doc = nlp("The gardener waters the roses. Tom found the old key in the garden. Is there a map?")
    for sentence in doc.sents:
        assert sum(token.head == token for token in sentence) == 1, sentence
    assert all(token.pos_ and token.lemma_ for token in doc)
    print(f"{nlp.meta['name']} {nlp.meta['version']}: {len(list(doc.sents))} sentences, each with one root")


if __name__ == "__main__":
    main()
