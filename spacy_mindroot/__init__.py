"""Graph-based dependency parsing for spaCy with exactly one root per sentence."""

from .annotate import TangledTreeWarning, restore_sentences
from .decoding import constrain_scores, decode, decode_batch, greedy_heads
from .docs import install_extensions
from .errors import MindrootError
from .repair import repair_heads
from .scores import reduce_labels
from .trees import count_roots, is_projective, is_tree, tree_weight
from .voting import vote_heads

__all__ = [
    "MindrootError",
    "TangledTreeWarning",
    "constrain_scores",
    "count_roots",
    "decode",
    "decode_batch",
    "greedy_heads",
    "is_projective",
    "is_tree",
    "reduce_labels",
    "repair_heads",
    "restore_sentences",
    "tree_weight",
    "vote_heads",
]

install_extensions()
