"""What this package keeps on a Doc, and how it names one in an error message."""

from __future__ import annotations

from typing import Any

from spacy.tokens import Doc

# doc._.arc_scores: one (n, n+1) array per sentence, in order (see scores.py).
# doc._.arc_labels: one array of unsigned ints per sentence, same shapes: the best label of each arc, as an index into
# doc._.arc_label_names: a list of strings.
# doc._.conllu: a list of strings: the sentences in CoNLL-U that the Doc was made from (see conllu/docs.py).
# doc._.mind_root_report: a list of dicts: the arcs that `mind_root` has changed on a Doc that was parsed before (see head_scores.py).
EXTENSIONS = ("arc_scores", "arc_labels", "arc_label_names", "conllu", "mind_root_report")


def install_extensions() -> None:
    """Registers the Doc extensions. Done on import and again in the factory, since worker processes may do only one."""
    for name in EXTENSIONS:
        if not Doc.has_extension(name):
            Doc.set_extension(name, default=None)


def read_extension(doc: Doc, name: str) -> Any:
    """`doc._.name`, without the proxy in between, which takes longer than decoding a sentence."""
    return doc.user_data.get(("._.", name, None, None))


def write_extension(doc: Doc, name: str, value: Any) -> None:
    """Sets `doc._.name`, likewise."""
    doc.user_data[("._.", name, None, None)] = value


def drop_extension(doc: Doc, name: str) -> None:
    """Takes the value of an extension off the Doc, so that it costs nothing to store or send."""
    doc.user_data.pop(("._.", name, None, None), None)


def describe(doc: Doc, sentence: int | None = None) -> str:
    """How messages name a Doc, or one of its sentences (an index from 0)."""
    words = [token.text for token in doc[:6]]
    text = " ".join(words) + (" ..." if len(doc) > len(words) else "")
    name = f"Doc {text!r}"
    return name if sentence is None else f"sentence {sentence + 1} of {name}"
