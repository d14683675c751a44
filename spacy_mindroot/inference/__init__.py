"""What the arc scores say beyond the best tree: the next best ones."""

from .kbest import kbest, tree_margin

__all__ = [
    "kbest",
    "tree_margin",
]
