"""The cost of `mind_root` on a short Doc, compared with the two calls that set a tree on it."""

from __future__ import annotations

import time

import numpy as np
import spacy
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.tokens import Doc

from .families import sentences


def time_component(n: int, count: int, repeats: int) -> dict[str, float]:
    """Return median seconds for a Doc of one sentence with labels.

    For `mind_root(doc)`, for `mind_root.pipe(docs)`, and for both `from_array` calls.
    """
    nlp = spacy.blank("xx")
    component = nlp.add_pipe("mind_root")
    batch = sentences("parser", n)
    labels = np.ones((n, n + 1), dtype=np.uint8)
    names = ["ROOT", *(f"label{k}" for k in range(40))]

    def make_docs() -> list[Doc]:
        docs = []
        for k in range(count):
            doc = Doc(nlp.vocab, words=["word"] * n, sent_starts=[i == 0 for i in range(n)])
            doc._.arc_scores, doc._.arc_labels, doc._.arc_label_names = [batch[k % len(batch)]], [labels], names
            docs.append(doc)
        return docs

    times: dict[str, list[float]] = {"mind_root(doc)": [], "mind_root.pipe(docs)": [], "two from_array calls": []}
    for _ in range(repeats):
        docs = make_docs()
        began = time.thread_time()
        for doc in docs:
            component(doc)
        times["mind_root(doc)"].append(time.thread_time() - began)
        docs = make_docs()
        began = time.thread_time()
        docs = list(component.pipe(docs, batch_size=64))
        times["mind_root.pipe(docs)"].append(time.thread_time() - began)
        trees = [(doc.to_array([HEAD, DEP]), doc.to_array([SENT_START])) for doc in docs]
        began = time.thread_time()
        for doc, (tree, starts) in zip(docs, trees, strict=True):
            doc.from_array([HEAD, DEP], tree)
            doc.from_array([SENT_START], starts)
        times["two from_array calls"].append(time.thread_time() - began)
    return {name: float(np.median(taken)) / count for name, taken in times.items()}
