"""Parses with the probabilities of their heads, as pictures, `show` and `rank` need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc, Span

from ..decoding import Heads
from ..doc.extensions import describe, read_extension
from ..doc.reading import sentence_bounds
from ..doc.words import MultiwordToken, multiword_tokens, words_between
from ..errors import MindRootError
from ..labels import SPACY_ROOT, UD_ROOT
from ..pipeline.head_marginals import head_marginals

__all__ = ["Parse", "parses_of"]


class Parse(NamedTuple):
    """A parsed sentence."""

    words: list[str]
    heads: list[int | None]  # 0 = ROOT, j = token j of the sentence; None where the head is unknown
    labels: list[str]
    head_prob: list[float | None]  # None where it is unknown
    marginals: npt.NDArray[np.float64] | None = None  # of every arc, (n, n+1), for the next best heads
    tags: Sequence[str] = ()  # parts of speech; empty for none
    name: str = ""
    gold: Sequence[tuple[int | None, str]] | None = None  # the head and label of each token in a file
    trees: Sequence[tuple[Heads, list[str], float]] = ()  # the k best: heads, labels ("" if unknown) and weight
    multiword: Sequence[MultiwordToken] = ()  # whose words are among `words`
    in_set: float | None = None  # the number of trees in `span._.tree_set`
    lemmas: Sequence[str] = ()  # "" if unknown; empty for none

    def next_best(self, token: int) -> tuple[int, float] | None:
        """Return the most probable head of a token, from 1, besides that of the tree, and its probability.

        Ties go to the first. None if no other head is possible, or probabilities are unknown.
        """
        if self.marginals is None:
            return None
        row = self.marginals[token - 1].copy()
        row[token] = 0.0
        own = self.heads[token - 1]
        if own is not None:
            row[own] = 0.0
        best = int(row.argmax())
        return (best, float(row[best])) if row[best] > 0 else None

    def with_tree(self, heads: Heads, labels: list[str]) -> Parse:
        """Return the parse with another tree, and the probabilities of its heads."""
        arcs = list(enumerate(heads.tolist()))
        probs = [None if self.marginals is None else float(self.marginals[arc]) for arc in arcs]
        return self._replace(heads=[head for _, head in arcs], labels=labels, head_prob=probs)

    def word(self, head: int | None) -> str:
        """Return the name of a head: the word, or ROOT."""
        return "unknown" if head is None else "ROOT" if head == 0 else self.words[head - 1]


def parses_of(owner: Doc | Span) -> list[Parse]:
    """Return the sentences of a Doc, or those in a Span, as parses."""
    doc = owner.doc if isinstance(owner, Span) else owner
    first, last = (owner.start, owner.end) if isinstance(owner, Span) else (0, len(doc))
    bounds = sentence_bounds(doc)
    chosen = [k for k, (start, end) in enumerate(bounds) if start < last and end > first]
    if chosen and (bounds[chosen[0]][0] != first or bounds[chosen[-1]][1] != last):
        raise MindRootError(
            f"The span {owner.text[:40]!r} of {describe(doc)} begins or ends within a sentence. Draw whole sentences, "
            "such as those of doc.sents."
        )
    marginals = head_marginals(doc)
    names, arc_labels = read_extension(doc, "arc_label_names"), read_extension(doc, "arc_labels")
    multiword = multiword_tokens(doc)
    found = []
    for k in chosen:
        parse = _parse(doc, *bounds[k], None if marginals is None else marginals[k], multiword)
        of_arcs = np.array(names)[np.asarray(arc_labels[k])] if names and arc_labels else None
        sentence = doc[bounds[k][0] : bounds[k][1]]
        trees = [(heads, _labels_of(heads, parse, of_arcs), weight) for heads, weight in sentence._.trees or ()]
        in_set = None if sentence._.tree_set is None else sentence._.tree_set.size
        found.append(parse._replace(name=f"{k + 1}" if len(bounds) > 1 else "", trees=trees, in_set=in_set))
    return found


def _labels_of(heads: Heads, best: Parse, of_arcs: npt.NDArray[np.str_] | None) -> list[str]:
    """Return the labels of another tree of a sentence: those of its own where the head is the same."""
    labels = []
    for token, head in enumerate(heads.tolist()):
        other = UD_ROOT if head == 0 else "" if of_arcs is None else str(of_arcs[token, head])
        labels.append(best.labels[token] if head == best.heads[token] else other)
    return labels


def _parse(
    doc: Doc, start: int, end: int, marginals: npt.NDArray[np.float64] | None, multiword: Sequence[MultiwordToken]
) -> Parse:
    heads: list[int | None] = []
    known: list[float | None] = []
    tokens = doc[start:end]
    for number, token in enumerate(tokens):
        head = token.head.i - start
        if not 0 <= head < end - start:
            raise MindRootError(
                f"{describe(doc)}: the head of token {token.i} ({token.text!r}) is in another sentence."
            )
        heads.append(None if not token.dep else 0 if head == number else head + 1)
        prob = token._.head_prob
        if prob is None and marginals is not None and heads[-1] is not None:
            prob = float(marginals[number, heads[-1]])
        known.append(prob)
    tags, lemmas = [token.pos_ for token in tokens], [token.lemma_ for token in tokens]
    words, own = words_between(doc, multiword, start, end)
    return Parse(
        words=words,
        heads=heads,
        labels=[UD_ROOT if token.dep_ == SPACY_ROOT else token.dep_ for token in tokens],
        head_prob=known,
        marginals=marginals,
        tags=tags if any(tags) else (),
        multiword=own,
        lemmas=lemmas if any(lemmas) else (),
    )
