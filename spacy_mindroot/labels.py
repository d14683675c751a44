"""What is a label of ROOT's, wherever labels are read: it belongs to the root, and to no other token."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)
def is_root_label(label: str | None) -> bool:
    """Is this ROOT's label, in upper or lower case, with or without a subtype?"""
    return label is not None and label.partition(":")[0].lower() == "root"
