"""What arc scores say beyond the best tree: how probable arcs are, trees at random, and the next best trees."""

from .confidence import Confidence, confidence
from .kbest import kbest, tree_margin
from .matrix_tree import entropy, entropy_batch, log_partition, log_partition_batch, marginals, marginals_batch
from .sampling import sample

__all__ = [
    "Confidence",
    "confidence",
    "entropy",
    "entropy_batch",
    "kbest",
    "log_partition",
    "log_partition_batch",
    "marginals",
    "marginals_batch",
    "sample",
    "tree_margin",
]
