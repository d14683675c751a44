"""What the arc scores say beyond the best tree: probabilities, samples, and the next best trees."""

from .confidence import Confidence, confidence
from .kbest import kbest, tree_margin
from .matrix_tree import entropy, entropy_batch, log_partition, log_partition_batch, marginals, marginals_batch

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
    "tree_margin",
]
