"""What the arc scores say beyond the best tree: probabilities, and samples."""

from .matrix_tree import entropy, entropy_batch, log_partition, log_partition_batch, marginals, marginals_batch

__all__ = [
    "entropy",
    "entropy_batch",
    "log_partition",
    "log_partition_batch",
    "marginals",
    "marginals_batch",
]
