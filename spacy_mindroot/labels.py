"""The labels and parts of speech that have a meaning here, above all the label of the root: no other token has it."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["NO_LABEL", "SPACY_ROOT", "UD_POS", "UD_RELATIONS", "UD_ROOT", "is_root_label"]

UD_ROOT = "root"  # as Universal Dependencies and CoNLL-U spell it
SPACY_ROOT = "ROOT"  # as spaCy spells it
NO_LABEL = frozenset({"", "_"})  # what stands for a missing label in a file or a list
UD_POS = frozenset(  # all parts of speech of Universal Dependencies
    ("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM")
    + ("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X")
)
UD_RELATIONS = (  # all relations of Universal Dependencies but root
    ("acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop")
    + ("csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark")
    + ("nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "vocative", "xcomp")
)

_DECORATION = "||"  # spaCy marks a lifted arc by the label of the token that the arc was lifted from: "obj||conj"


@lru_cache(maxsize=1024)
def is_root_label(label: str | None) -> bool:
    """Whether a label is the root's: `root` in upper or lower case, with or without a subtype (`root:x`).

    Of spaCy's pseudo-projective labels only the first part counts: `root||obj` is the root's label, `obj||root` is not.
    """
    return label is not None and label.partition(_DECORATION)[0].partition(":")[0].lower() == UD_ROOT
