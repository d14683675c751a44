"""The attributes that this package keeps on a Doc, its tokens and its sentences; and names of Docs for messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import HEAD
from spacy.tokens import Doc, Span, Token

__all__ = [
    "DOC_EXTENSIONS",
    "SPAN_EXTENSIONS",
    "TOKEN_EXTENSIONS",
    "Trees",
    "describe",
    "drop_extension",
    "install_extensions",
    "read_extension",
    "write_extension",
]

# doc._.arc_scores: one (n, n+1) array per sentence, in order (see scores.py).
# doc._.arc_labels: one array of unsigned ints (or `arc_labels.ArcLabels`) per sentence, same shapes: the best label of
# each arc, as an index into
# doc._.arc_label_names: a list of strings.
# doc._.arc_constraints: a dict with lists of arcs, "required" and "forbidden" (see reading.read_arc_constraints).
# doc._.conllu: the CoNLL-U sentences that the Doc was made from, a list of strings (see conllu/docs.py).
# doc._.arc_distribution: a dict, "temperature", "lapse" and "projective": how probabilities were computed from the arc
# scores that stay on the Doc (see head_marginals.py).
# doc._.treebanks: an array of uint64: the related treebank that each token comes from (see conllu/treebanks.py).
# doc._.mind_root_report: a list of dicts: the arcs that `mind_root` changed on a parsed Doc (see head_scores.py).
DOC_EXTENSIONS = (
    "arc_scores",
    "arc_labels",
    "arc_label_names",
    "arc_constraints",
    "arc_distribution",
    "conllu",
    "mind_root_report",
    "treebanks",
)

# `mind_root` sets these on request (see mind_root.py). They describe one tree, so they are None once it has changed.
# head_dep_prob, expected_uas and expected_las are computed from the others.
TOKEN_EXTENSIONS = ("head_prob", "head_entropy", "dep_prob", "head_dep_prob", "head_set")
SPAN_EXTENSIONS = ("tree_logprob", "tree_margin", "trees", "expected_uas", "expected_las")

# Kept with each sentence that has the attributes above: the heads of its tree, so that a change is noticed.
WRITTEN_HEADS = "mind_root_heads"
WRITTEN_DEPS = "mind_root_deps"  # the same for the hashes of its labels

_MEANS = {"expected_uas": "head_prob", "expected_las": "head_dep_prob"}

Trees = list[tuple[npt.NDArray[np.int32], float]]


def install_extensions() -> None:
    """Register the extension attributes.

    Importing `spacy_mindroot` after spaCy does this, and so do the factories, since worker processes may run either
    first.
    """
    for name in DOC_EXTENSIONS:
        if not Doc.has_extension(name):
            Doc.set_extension(name, default=None)
    for name in TOKEN_EXTENSIONS:
        if not Token.has_extension(name):
            Token.set_extension(name, getter=_TokenGetter(name), setter=_Setter(name))
    for name in SPAN_EXTENSIONS:
        if not Span.has_extension(name):
            Span.set_extension(name, getter=_SpanGetter(name), setter=_Setter(name))


def key_of(name: str, owner: Doc | Token | Span) -> tuple[str, str, int | None, int | None]:
    """Return the key under which spaCy keeps an extension attribute in `doc.user_data`."""
    if isinstance(owner, Token):
        return "._.", name, owner.idx, None
    if isinstance(owner, Span):
        return "._.", name, owner.start_char, owner.end_char
    return "._.", name, None, None


def read_extension(doc: Doc, name: str) -> Any:
    """Return `doc._.name` without spaCy's proxy, which takes longer than decoding a sentence."""
    return doc.user_data.get(("._.", name, None, None))


def write_extension(doc: Doc, name: str, value: Any) -> None:
    """Set `doc._.name` without spaCy's proxy."""
    doc.user_data[("._.", name, None, None)] = value


def drop_extension(doc: Doc, name: str) -> None:
    """Remove the value of `doc._.name`, so that it costs nothing to store or to send."""
    doc.user_data.pop(("._.", name, None, None), None)


def describe(doc: Doc, sentence: int | None = None) -> str:
    """Return the name of a Doc, or of one of its sentences (an index from 0), for a message."""
    words = [token.text for token in doc[:6]]
    text = " ".join(words) + (" ..." if len(doc) > len(words) else "")
    name = f"Doc {text!r}"
    return name if sentence is None else f"sentence {sentence + 1} of {name}"


class _TokenGetter:
    """Reads an attribute of a token; None if it is unknown, or if the tree that it describes has changed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, token: Token) -> Any:
        data = token.doc.user_data
        value = data.get(key_of(self.name, token))
        if value is None and self.name == "head_dep_prob":
            head_prob, dep_prob = data.get(key_of("head_prob", token)), data.get(key_of("dep_prob", token))
            value = None if head_prob is None or dep_prob is None else head_prob * dep_prob
        if value is None or not _is_current(token.sent, token):
            return None
        if self.name == "dep_prob" or self.name == "head_dep_prob":
            sentence = token.sent
            written = data.get(key_of(WRITTEN_DEPS, sentence))
            return value if written is None or written[token.i - sentence.start] == token.dep else None
        if self.name == "head_set":
            sentence = token.sent
            return tuple(sentence[head - 1] if head else token for head in value)
        return value


class _SpanGetter:
    """Reads an attribute of a sentence; None if it is unknown, or if the tree that it describes has changed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, span: Span) -> Any:
        key = key_of(self.name, span)
        if self.name in _MEANS and key not in span.doc.user_data:
            values = [token._.get(_MEANS[self.name]) for token in span]
            return None if None in values or not values or not _is_current(span) else math.fsum(values) / len(values)
        if key not in span.doc.user_data or not _is_current(span):
            return None
        stored = span.doc.user_data[key]
        if self.name == "tree_margin":
            return math.inf if stored is None else stored
        if self.name == "trees":
            heads = np.array(stored["heads"], dtype=np.int32).reshape(len(stored["weights"]), -1)
            return list(zip(heads, stored["weights"], strict=True))
        return stored


class _Setter:
    """Sets an attribute of a token or a sentence, as `Doc.from_json` does. It then describes the tree that stands."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, owner: Token | Span, value: Any) -> None:
        data = owner.doc.user_data
        data[key_of(self.name, owner)] = value
        try:
            sentence = owner if isinstance(owner, Span) else owner.sent
        except ValueError:  # the Doc has no sentences, and so no tree
            return
        if key_of(WRITTEN_HEADS, sentence) not in data:
            data[key_of(WRITTEN_HEADS, sentence)] = _heads(sentence)
            data[key_of(WRITTEN_DEPS, sentence)] = [token.dep for token in sentence]


def _is_current(sentence: Span, token: Token | None = None) -> bool:
    """Whether the tree of a sentence, or the arc to one of its tokens, is the one that `mind_root` wrote."""
    written = sentence.doc.user_data.get(key_of(WRITTEN_HEADS, sentence))
    if written is None or len(written) != len(sentence):  # other sentences stand here now
        return False
    if token is not None:
        head = 0 if token.head.i == token.i else token.head.i - sentence.start + 1
        return bool(written[token.i - sentence.start] == head)
    return _heads(sentence) == list(written)


def _heads(sentence: Span) -> list[int]:
    """Return the head of each token within a sentence: 0 = none, j = token j of the sentence."""
    offsets = sentence.to_array([HEAD]).view(np.int64).ravel()
    heads: list[int] = np.where(offsets == 0, 0, np.arange(1, len(offsets) + 1) + offsets).tolist()
    return heads
