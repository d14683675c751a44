"""Why the core found no tree: a plain record, made into an error with words and a remedy by `decoding`."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """What is wrong with the scores of one sentence.

    kind : "not_finite", "no_head", "no_arborescence", "no_single_root", "no_memory" or "no_projective".
    sentence : index in the batch, from 0.
    dependent, head : CoNLL-U numbers (tokens from 1, 0 = ROOT); 0 where `kind` names none. For "no_single_root" both
        are tokens that can be reached only by a root arc of their own.
    """

    kind: str
    sentence: int
    dependent: int
    head: int
