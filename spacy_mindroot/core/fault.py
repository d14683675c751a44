"""The reason why the core found no tree. `faults` turns it into an error with words and a remedy."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["Fault", "FaultKind"]


class FaultKind(StrEnum):
    """The kinds of faults, in the order of C++. Each is equal to a string: ``FaultKind.NO_HEAD == "no_head"``."""

    NOT_FINITE = "not_finite"  #: the score of `head` for `dependent` is NaN or +inf
    NO_HEAD = "no_head"  #: `dependent` has no allowed head
    NO_ARBORESCENCE = "no_arborescence"  #: no path of allowed arcs leads from ROOT to `dependent`
    NO_SINGLE_ROOT = "no_single_root"  #: `dependent` and the token `head` each need a root arc of their own
    NO_MEMORY = "no_memory"  #: there is not enough memory
    NO_PROJECTIVE = "no_projective"  #: there are trees, but none of them is projective


class Fault(NamedTuple):
    """A fault in the scores of one sentence, by its index in the batch.

    Tokens are counted from 1, and 0 is ROOT, as in CoNLL-U; 0 also where the kind does not name them.
    """

    kind: FaultKind
    sentence: int
    dependent: int
    head: int
