"""More than the best tree: probabilities, random trees, the next best trees, and calibration."""

from .arc_confidence import Confidence, confidence
from .calibration import Calibration, fit_calibration
from .conformal import head_set_threshold, head_sets
from .labelled import labelled_marginals
from .matrix_tree import entropy, log_partition, marginals
from .next_best import kbest, kbest_batch, tree_margin
from .sampling import sample

__all__ = [
    "Calibration",
    "Confidence",
    "confidence",
    "entropy",
    "fit_calibration",
    "head_set_threshold",
    "head_sets",
    "kbest",
    "kbest_batch",
    "labelled_marginals",
    "log_partition",
    "marginals",
    "sample",
    "tree_margin",
]
