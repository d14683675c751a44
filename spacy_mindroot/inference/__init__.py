"""More than the best tree: probabilities, random trees, the next best trees, and calibration."""

from .arc_confidence import Confidence, confidence
from .calibration import (
    Calibration,
    calibrated_marginals,
    calibration_error_by_chance,
    expected_calibration_error,
    fit_calibration,
)
from .conformal import head_set_threshold, head_sets
from .labelled import labelled_marginals
from .matrix_tree import entropy, entropy_batch, log_partition, log_partition_batch, marginals, marginals_batch
from .next_best import kbest, tree_margin
from .sampling import sample

__all__ = [
    "Calibration",
    "Confidence",
    "calibrated_marginals",
    "calibration_error_by_chance",
    "confidence",
    "entropy",
    "entropy_batch",
    "expected_calibration_error",
    "fit_calibration",
    "head_set_threshold",
    "head_sets",
    "kbest",
    "labelled_marginals",
    "log_partition",
    "log_partition_batch",
    "marginals",
    "marginals_batch",
    "sample",
    "tree_margin",
]
