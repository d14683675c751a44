"""What this package keeps on a Doc, and how it names one in an error message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc, Span, Token

# doc._.arc_scores: one (n, n+1) array per sentence, in order (see scores.py).
# doc._.arc_labels: one array of unsigned ints per sentence, same shapes: the best label of each arc, as an index into
# doc._.arc_label_names: a list of strings.
# doc._.conllu: a list of strings: the sentences in CoNLL-U that the Doc was made from (see conllu/docs.py).
# doc._.mind_root_report: a list of dicts: the arcs that `mind_root` has changed on a Doc that was parsed before (see head_scores.py).
# doc._.arc_constraints: a dict with lists of arcs, "required" and "forbidden" (see annotate.read_arc_constraints).
EXTENSIONS = ("arc_scores", "arc_labels", "arc_label_names", "arc_constraints", "conllu", "mind_root_report")

# What `mind_root` sets on request (see mind_root.py).
TOKEN_EXTENSIONS = ("head_prob", "head_entropy")
SPAN_EXTENSIONS = ("tree_logprob", "tree_margin", "trees")

Trees = list[tuple[npt.NDArray[np.int32], float]]


def install_extensions() -> None:
    """Registers the extensions. Done on import and again in the factory, since worker processes may do only one."""
    for owner, names in ((Doc, EXTENSIONS), (Token, TOKEN_EXTENSIONS), (Span, SPAN_EXTENSIONS)):
        for name in names:
            if not owner.has_extension(name):
                owner.set_extension(name, **({"getter": read_trees} if name == "trees" else {"default": None}))


def read_extension(doc: Doc, name: str) -> Any:
    """`doc._.name`, without the proxy in between, which takes longer than decoding a sentence."""
    return doc.user_data.get(("._.", name, None, None))


def write_extension(doc: Doc, name: str, value: Any) -> None:
    """Sets `doc._.name`, likewise."""
    doc.user_data[("._.", name, None, None)] = value


def drop_extension(doc: Doc, name: str) -> None:
    """Takes the value of an extension off the Doc, so that it costs nothing to store or send."""
    doc.user_data.pop(("._.", name, None, None), None)


def write_tokens(doc: Doc, name: str, values: Iterable[Any]) -> None:
    """Sets `token._.name` of each token, in order, where spaCy keeps it: by the token's place in the text."""
    for token, value in zip(doc, values, strict=True):
        doc.user_data[("._.", name, token.idx, None)] = value


def write_span(doc: Doc, name: str, start: int, end: int, value: Any) -> None:
    """Sets `doc[start:end]._.name` likewise."""
    span = doc[start:end]
    doc.user_data[("._.", name, span.start_char, span.end_char)] = value


def write_trees_of_span(doc: Doc, start: int, end: int, trees: Trees) -> None:
    """Sets `doc[start:end]._.trees`: as two arrays, which come back from bytes as they were. Lists may come back as tuples."""
    heads, weights = zip(*trees, strict=True)
    write_span(doc, "trees", start, end, {"heads": np.array(heads), "weights": np.array(weights)})


def read_trees(span: Span) -> Trees | None:
    """`span._.trees`: the best trees of a sentence and their weights, as from `inference.kbest`; None if they are not known."""
    stored = span.doc.user_data.get(("._.", "trees", span.start_char, span.end_char))
    return None if stored is None else list(zip(stored["heads"], stored["weights"].tolist(), strict=True))


def drop_from_tokens_and_spans(doc: Doc) -> None:
    """Takes what `mind_root` has set on the tokens and spans of an earlier tree off the Doc."""
    names = TOKEN_EXTENSIONS + SPAN_EXTENSIONS
    stale = [
        key for key in doc.user_data if type(key) is tuple and len(key) == 4 and key[0] == "._." and key[1] in names
    ]
    for key in stale:
        del doc.user_data[key]


def describe(doc: Doc, sentence: int | None = None) -> str:
    """How messages name a Doc, or one of its sentences (an index from 0)."""
    words = [token.text for token in doc[:6]]
    text = " ".join(words) + (" ..." if len(doc) > len(words) else "")
    name = f"Doc {text!r}"
    return name if sentence is None else f"sentence {sentence + 1} of {name}"
