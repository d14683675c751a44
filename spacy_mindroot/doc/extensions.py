"""The attributes that this package keeps on a Doc, its tokens and its sentences; and names of Docs for messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import HEAD
from spacy.tokens import Doc, Span, Token

from ..trees import TreeSet

__all__ = [
    "DOC_EXTENSIONS",
    "SPAN_ATTRIBUTES",
    "TOKEN_ATTRIBUTES",
    "Attribute",
    "Trees",
    "describe",
    "drop_extension",
    "install_extensions",
    "key_at",
    "key_of",
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
# scores that stay on the Doc (see `Calibration.distribution`).
# doc._.treebanks: an array of uint64: the related treebank that each token comes from (see conllu/treebanks.py).
# doc._.arc_targets: the distributions of teachers for the Doc, for a student to learn (see targets.py).
# doc._.mind_root_report: a list of dicts: the arcs that `mind_root` changed on a parsed Doc (see head_scores.py).
DOC_EXTENSIONS = (
    "arc_scores",
    "arc_labels",
    "arc_label_names",
    "arc_constraints",
    "arc_distribution",
    "arc_targets",
    "conllu",
    "mind_root_report",
    "treebanks",
)

# Kept with each sentence that has attributes of its tree: its heads, so that a change is noticed.
WRITTEN_HEADS = "mind_root_heads"
WRITTEN_DEPS = "mind_root_deps"  # the same for the hashes of its labels

Trees = list[tuple[npt.NDArray[np.int32], float]]


@dataclass(frozen=True)
class Attribute:
    """An attribute of a token or a sentence that describes one tree: None once the tree has changed.

    store (Optional[Callable]): Returns what is kept of a value in `doc.user_data`, if `Doc.to_json` can't write the
        value itself.
    read (Callable): Returns the value, given the token or sentence and what is kept.
    compute (Callable): Returns the value from other attributes of the token or sentence, where none is kept.
    of_label (bool): Whether it describes the label of the arc as well as the arc.
    """

    store: Callable[[Any], Any] | None = None
    read: Callable[[Any, Any], Any] = lambda owner, kept: kept
    compute: Callable[[Any], Any] = lambda owner: None
    of_label: bool = False


def _product(*names: str) -> Callable[[Token], float | None]:
    """Return a function that multiplies attributes of a token."""

    def compute(token: Token) -> float | None:
        values = [token.doc.user_data.get(key_of(name, token)) for name in names]
        return None if None in values else math.prod(values)

    return compute


def _mean(name: str) -> Callable[[Span], float | None]:
    """Return a function that averages an attribute over the tokens of a sentence."""

    def compute(span: Span) -> float | None:
        values = [token._.get(name) for token in span]
        return None if None in values or not values else math.fsum(values) / len(values)

    return compute


def _read_trees(_: Span, kept: dict[str, Any]) -> Trees:
    heads = np.array(kept["heads"], dtype=np.int32).reshape(len(kept["weights"]), -1)
    return list(zip(heads, kept["weights"], strict=True))


def _store_tree_set(found: TreeSet) -> dict[str, Any]:
    lists = {"heads": [own.tolist() for own in found.heads], "trees": [own.tolist() for own in found.trees]}
    return {"size": None if found.size == math.inf else found.size, **lists}


def _read_tree_set(_: Span, kept: dict[str, Any]) -> TreeSet:
    heads = [np.array(own, dtype=np.int64) for own in kept["heads"]]
    trees = [np.array(own, dtype=np.int32) for own in kept["trees"]]
    return TreeSet(math.inf if kept["size"] is None else kept["size"], heads, trees)


# `mind_root` sets those without `compute` on request: see `MindRoot._results`.
TOKEN_ATTRIBUTES = {
    "head_prob": Attribute(),
    "head_entropy": Attribute(),
    "dep_prob": Attribute(of_label=True),
    "head_dep_prob": Attribute(compute=_product("head_prob", "dep_prob"), of_label=True),
    "head_set": Attribute(  # numbers of the tokens in the sentence, from 1; 0 for ROOT
        store=lambda heads: heads.tolist(),
        read=lambda token, kept: kept and tuple(token.sent[head - 1] if head else token for head in kept),
    ),
}
SPAN_ATTRIBUTES = {
    "tree_logprob": Attribute(),
    "tree_margin": Attribute(  # JSON has no infinity: there is no other tree
        store=lambda margin: None if margin == math.inf else margin,
        read=lambda _, kept: math.inf if kept is None else kept,
    ),
    "trees": Attribute(
        store=lambda trees: {"heads": [heads.tolist() for heads, _ in trees], "weights": [w for _, w in trees]},
        read=_read_trees,
    ),
    "tree_set": Attribute(store=_store_tree_set, read=_read_tree_set),
    "expected_uas": Attribute(compute=_mean("head_prob")),
    "expected_las": Attribute(compute=_mean("head_dep_prob")),
}


def install_extensions() -> None:
    """Register the extension attributes.

    Importing `spacy_mindroot` after spaCy does this, and so do the factories, since worker processes may run either
    first.
    """
    for name in DOC_EXTENSIONS:
        if not Doc.has_extension(name):
            Doc.set_extension(name, default=None)
    for owner, attributes in ((Token, TOKEN_ATTRIBUTES), (Span, SPAN_ATTRIBUTES)):
        for name in attributes:
            if not owner.has_extension(name):
                owner.set_extension(name, getter=partial(_get, name), setter=partial(_set, name))


def key_at(name: str, start: int | None = None, end: int | None = None) -> tuple[str, str, int | None, int | None]:
    """Return the key under which spaCy keeps an attribute in `doc.user_data`.

    start, end (Optional[int]): The characters of a span; the first character of a token, and None; None for a Doc.
    """
    return "._.", name, start, end


def key_of(name: str, owner: Token | Span) -> tuple[str, str, int | None, int | None]:
    """Return the key under which spaCy keeps an attribute of a token or a span in `doc.user_data`."""
    return key_at(name, owner.idx) if isinstance(owner, Token) else key_at(name, owner.start_char, owner.end_char)


def read_extension(doc: Doc, name: str) -> Any:
    """Return `doc._.name` without spaCy's proxy, which takes longer than decoding a sentence."""
    return doc.user_data.get(key_at(name))


def write_extension(doc: Doc, name: str, value: Any) -> None:
    """Set `doc._.name` without spaCy's proxy."""
    doc.user_data[key_at(name)] = value


def drop_extension(doc: Doc, name: str) -> None:
    """Remove the value of `doc._.name`, so that it costs nothing to store or to send."""
    doc.user_data.pop(key_at(name), None)


def describe(doc: Doc, sentence: int | None = None) -> str:
    """Return the name of a Doc, or of one of its sentences (an index from 0), for a message."""
    words = [token.text for token in doc[:6]]
    text = " ".join(words) + (" ..." if len(doc) > len(words) else "")
    name = f"Doc {text!r}"
    return name if sentence is None else f"sentence {sentence + 1} of {name}"


def _get(name: str, owner: Token | Span) -> Any:
    """Return an attribute of a token or a sentence; None if it is unknown, or its tree has changed."""
    # By its name, since spaCy pickles getters for its worker processes.
    attribute = TOKEN_ATTRIBUTES[name] if isinstance(owner, Token) else SPAN_ATTRIBUTES[name]
    data, key = owner.doc.user_data, key_of(name, owner)
    if key in data:
        return attribute.read(owner, data[key]) if _is_current(owner, attribute.of_label) else None
    value = attribute.compute(owner)
    return value if value is not None and _is_current(owner, attribute.of_label) else None


def _set(name: str, owner: Token | Span, value: Any) -> None:
    """Set an attribute of a token or a sentence, as `Doc.from_json` does. It then describes the tree that stands."""
    data = owner.doc.user_data
    data[key_of(name, owner)] = value
    sentence = _sentence(owner)
    if sentence is not None and key_of(WRITTEN_HEADS, sentence) not in data:
        data[key_of(WRITTEN_HEADS, sentence)] = _heads(sentence)
        data[key_of(WRITTEN_DEPS, sentence)] = [token.dep for token in sentence]


def _sentence(owner: Token | Span) -> Span | None:
    """Return the span itself, or the sentence of a token; None if the Doc has no sentences, and so no tree."""
    try:
        return owner if isinstance(owner, Span) else owner.sent
    except ValueError:
        return None


def _is_current(owner: Token | Span, of_label: bool) -> bool:
    """Whether the tree of a sentence, or the arc to a token, is the one that `mind_root` wrote."""
    sentence = _sentence(owner)
    if sentence is None:
        return False
    data = sentence.doc.user_data
    written = data.get(key_of(WRITTEN_HEADS, sentence))
    if written is None or len(written) != len(sentence):  # other sentences stand here now
        return False
    if isinstance(owner, Span):
        return _heads(sentence) == list(written)
    i = owner.i - sentence.start
    deps = data.get(key_of(WRITTEN_DEPS, sentence)) if of_label else None
    head = 0 if owner.head.i == owner.i else owner.head.i - sentence.start + 1
    return bool(written[i] == head and (deps is None or deps[i] == owner.dep))


def _heads(sentence: Span) -> list[int]:
    """Return the head of each token within a sentence: 0 = none, j = token j of the sentence."""
    offsets = sentence.to_array([HEAD]).view(np.int64).ravel()
    heads: list[int] = np.where(offsets == 0, 0, np.arange(1, len(offsets) + 1) + offsets).tolist()
    return heads
