"""More than the best tree: probabilities of arcs and trees, random trees, and the next best trees."""

from .arc_confidence import Confidence, confidence
from .matrix_tree import entropy, entropy_batch, log_partition, log_partition_batch, marginals, marginals_batch
from .next_best import kbest, tree_margin
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
