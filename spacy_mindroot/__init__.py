"""Graph-based dependency parsing for spaCy with exactly one root per sentence.

What is imported here works with NumPy alone. The names that need spaCy import it when they are first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .decoding import constrain_scores, decode, decode_batch, greedy_heads, unpad
from .errors import MindRootError
from .repair import repair_heads
from .rules import Rules, decode_labelled, learn_rules
from .score_file import read_score_file, write_score_file
from .scores import reduce_labels
from .trees import count_roots, is_projective, is_tree, tree_weight
from .voting import arc_votes, vote_heads

if TYPE_CHECKING:
    from .doc.extensions import install_extensions
    from .pipeline.annotate import TangledTreeWarning, restore_sentences
    from .tools.drawing.render import render

__all__ = [
    "MindRootError",
    "Rules",
    "TangledTreeWarning",
    "arc_votes",
    "constrain_scores",
    "count_roots",
    "decode",
    "decode_batch",
    "decode_labelled",
    "greedy_heads",
    "install_extensions",
    "is_projective",
    "is_tree",
    "learn_rules",
    "read_score_file",
    "reduce_labels",
    "render",
    "repair_heads",
    "restore_sentences",
    "tree_weight",
    "unpad",
    "vote_heads",
    "write_score_file",
]


_NEED_SPACY = {
    "TangledTreeWarning": "pipeline.annotate",
    "install_extensions": "doc.extensions",
    "render": "tools.drawing.render",
    "restore_sentences": "pipeline.annotate",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":  # reading it takes as long as all other imports of this package
        from importlib.metadata import version

        return version("spacy-mindroot")
    if name not in _NEED_SPACY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_NEED_SPACY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


# Where spaCy is in use already, its Docs have the extension attributes at once, as if this package were imported whole.
if "spacy" in sys.modules:
    __getattr__("install_extensions")()
