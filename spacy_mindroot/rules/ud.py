"""The rules of Universal Dependencies, as data. `rules.UD` is made of them."""

from __future__ import annotations

from collections.abc import Sequence

from .kinds import AnyRule, Direction, Forbidden, Leaf, Planar, Unique

__all__ = ["UD_RULES"]

_MODIFIERS = ("goeswith", "fixed", "reparandum", "conj", "cc", "punct")

# Level 3 of the validator of Universal Dependencies (udtools 0.2.9), class Syntax, under the names of its tests.
UD_RULES: dict[str, Sequence[AnyRule]] = {
    "unique": [
        Unique(("nsubj", "csubj"), "too-many-subjects", excluding=("nsubj:outer", "csubj:outer")),
        Unique(("obj",), "too-many-objects"),
    ],
    "leaf": [
        Leaf(("mark", "case"), "leaf-mark-case", allowed=("advmod", "obl", *_MODIFIERS)),
        Leaf(("aux", "cop"), "leaf-aux-cop", allowed=_MODIFIERS),
        Leaf(
            ("det",),
            "leaf-det",
            allowed=(
                *("det", "case", "advmod", "obl", "clf", "flat", "compound", "discourse", "parataxis"),
                *_MODIFIERS,
            ),
        ),
        Leaf(("clf",), "leaf-clf", allowed=("advmod", "obl", *_MODIFIERS)),
        Leaf(("cc",), "leaf-cc", allowed=("goeswith", "fixed", "reparandum", "conj", "punct")),
        Leaf(("fixed",), "leaf-fixed", allowed=("goeswith", "reparandum", "conj", "punct")),
        Leaf(("goeswith",), "leaf-goeswith"),
        Leaf(("punct",), "leaf-punct", allowed=("punct",)),
    ],
    "direction": [
        Direction((label,), f"right-to-left-{label}") for label in ("conj", "fixed", "flat", "goeswith", "appos")
    ],
    "forbidden": [
        Forbidden(name="0-is-not-root", labels_not=("root",), head_pos=("ROOT",)),
        Forbidden(("root",), "root-is-not-0", head_pos_not=("ROOT",)),
        Forbidden(("det",), "rel-upos-det", pos_not=("DET", "PRON")),
        Forbidden(("nummod",), "rel-upos-nummod", pos_not=("NUM", "NOUN", "SYM")),
        Forbidden(("advmod",), "rel-upos-advmod", pos_not=("ADV", "ADJ", "CCONJ", "DET", "PART", "SYM")),
        Forbidden(("expl",), "rel-upos-expl", pos_not=("PRON", "DET", "PART")),
        Forbidden(("aux",), "rel-upos-aux", pos_not=("AUX",)),
        Forbidden(("cop",), "rel-upos-cop", pos_not=("AUX", "PRON", "DET", "SYM")),
        Forbidden(("case",), "rel-upos-case", pos=("PROPN", "ADJ", "PRON", "DET", "NUM", "AUX")),
        Forbidden(("mark",), "rel-upos-mark", pos=("NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "AUX", "INTJ")),
        Forbidden(("cc",), "rel-upos-cc", pos=("NOUN", "PROPN", "ADJ", "PRON", "DET", "NUM", "VERB", "AUX", "INTJ")),
        Forbidden(("punct",), "rel-upos-punct", pos_not=("PUNCT",)),
        Forbidden(name="upos-rel-punct", labels_not=("punct", "root"), pos=("PUNCT",)),
        Forbidden(("fixed",), "rel-upos-fixed", pos=("PROPN",)),
        Forbidden(("fixed",), "rel-upos-fixed", head_pos=("PROPN",)),
    ],
    "planar": [
        Planar(("punct",), "punct-causes-nonproj", which="other"),
        Planar(("punct",), "punct-is-nonproj", which="own"),
    ],
}
