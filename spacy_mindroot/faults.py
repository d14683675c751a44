"""The error texts of decoding: turns a `Fault` of the core into an error that says what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .constraints import Constraints
from .core import _core
from .core.fault import Fault
from .errors import (
    ConflictError,
    DecodingError,
    InvalidScoreError,
    NoHeadError,
    NoRootError,
    NotEnoughMemoryError,
    NoTreeError,
)
from .scores import FloatArray

__all__ = ["decoding_error", "in_batch"]


def decoding_error(
    fault: Fault,
    matrix: FloatArray,
    constraints: Constraints | None = None,
    *,
    where: str = "",
    words: Sequence[str] | None = None,
    single_root: bool = True,
    projective: bool = False,
) -> DecodingError:
    """Return the error for a fault that the core found in arc scores, (n, n+1), or in `constraints.mask(matrix)`.

    If the constraints leave no tree where there is one without them, the error is a ConflictError. `where` names the
    sentence (by default its length does), and `words` are named alongside their numbers.
    """
    where = where or f"sentence of {len(matrix)} tokens"
    if constraints and fault.kind not in ("not_finite", "no_memory"):

        def find_fault(scores: FloatArray) -> Fault | None:
            return _core.decode(scores, np.empty(len(scores), dtype=np.int32), single_root, projective)

        without = find_fault(matrix)
        if without is None:
            conflict = constraints.conflict(lambda some: find_fault(some.mask(matrix)) is None)
            return _conflict_error(conflict, fault.sentence, where, words)
        fault = without._replace(sentence=fault.sentence)
    dependent, head = _name(fault.dependent, words), _name(fault.head, words)

    def error(kind: type[DecodingError], text: str, *, names: bool = True) -> DecodingError:
        arc = (fault.dependent, fault.head) if names else (0, 0)
        return kind(f"{where}: {text}", sentence=fault.sentence, dependent=arc[0], head=arc[1])

    if fault.kind == "not_finite":
        score = "NaN" if np.isnan(matrix[fault.dependent - 1, fault.head]) else "+inf"
        return error(
            InvalidScoreError,
            f"the score of head {head} for dependent {dependent} is {score}. Arc scores are finite numbers, or -inf to "
            "forbid an arc; look for a division by zero or an overflow where they are computed.",
        )
    if fault.kind == "no_memory":
        return error(NotEnoughMemoryError, f"not enough memory to decode it: {12 * matrix.size:,} bytes are needed.")
    if fault.kind in ("no_head", "no_arborescence") and np.isneginf(matrix[:, 0]).all():
        return error(
            NoRootError,
            "no token may be the root, since all arcs from ROOT are -inf. Allow one; if the root scores are elsewhere "
            "in your array, say so with layout=...",
            names=False,
        )
    if fault.kind == "no_head":
        return error(
            NoHeadError,
            f"no head is allowed for dependent {dependent}, since all its arcs are -inf. Allow at least one.",
        )
    if fault.kind == "no_arborescence":
        return error(
            NoTreeError,
            f"there is no tree, since no path of allowed arcs leads from ROOT to dependent {dependent}. Allow an arc "
            "to it, or to a token above it, from outside.",
        )
    if fault.kind == "no_projective":
        return error(
            NoTreeError,
            "there are trees, but all of them have crossing arcs. Allow more arcs, or decode with projective=False.",
        )
    return error(  # no_single_root
        NoTreeError,
        f"there is no tree with a single root, since no root can have both dependents {dependent} and {head} below it: "
        "each needs an arc of its own from ROOT. Allow an arc between the two, or decode with single_root=False.",
    )


def _conflict_error(conflict: Constraints, sentence: int, where: str, words: Sequence[str] | None) -> ConflictError:
    arcs = [
        f"head {_name(head, words)} is {what} for dependent {_name(dependent, words)}"
        for what, some in (("required", conflict.required), ("forbidden", conflict.forbidden))
        for dependent, head in some
    ]
    shown = ", ".join(arcs[:10]) + (f", ... ({len(arcs)} constraints in all)" if len(arcs) > 10 else "")
    return ConflictError(
        f"{where}: no tree meets all constraints, since these are in conflict: {shown}. {conflict.reason()} "
        "Drop one of them.",
        required=conflict.required,
        forbidden=conflict.forbidden,
        sentence=sentence,
    )


def _name(token: int, words: Sequence[str] | None) -> str:
    if token == 0:
        return "0 (ROOT)"
    return f"{token}" if words is None else f"{token} ({words[token - 1]!r})"


def in_batch(k: int) -> str:
    """Return the name of a sentence of a batch in messages, given its index from 0."""
    return f"sentence {k + 1} of the batch (index {k})"
