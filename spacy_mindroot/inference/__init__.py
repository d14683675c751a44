"""What arc scores say beyond the best tree: how probable arcs are, and trees at random."""

from .matrix_tree import entropy, entropy_batch, log_partition, log_partition_batch, marginals, marginals_batch
from .sampling import sample

__all__ = [
    "entropy",
    "entropy_batch",
    "log_partition",
    "log_partition_batch",
    "marginals",
    "marginals_batch",
    "sample",
]
