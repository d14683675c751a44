"""The teachers' distributions for a Doc, over heads, labels and parts of speech, for a student to learn.

They are kept in `doc._.arc_targets`, and stored with the Doc. Improbable values are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from .extensions import read_extension, write_extension

__all__ = [
    "Table",
    "Targets",
    "copies_beside",
    "join_targets",
    "move_targets",
    "read_targets",
    "to_table",
    "write_targets",
]

_LEAST = 1e-4  # probability of what is kept
_GOLD_SHARE = 0.25  # of the sentences that a student reads

Probabilities = npt.NDArray[np.floating[Any]]


def copies_beside(gold: int, taught: int) -> int:
    """Return how many copies of `gold` annotated sentences go with `taught` sentences labelled by teachers."""
    return max(1, round(_GOLD_SHARE / (1 - _GOLD_SHARE) * taught / gold))


class Table(NamedTuple):
    """Distributions of tokens: entry k is the probability of a value for a token. All arrays are (m,)."""

    tokens: npt.NDArray[np.integer[Any]]
    values: npt.NDArray[np.integer[Any]]
    probs: npt.NDArray[np.float16]

    def to_dense(self, columns: npt.NDArray[np.integer[Any]], tokens: int, width: int) -> Probabilities:
        """Return the distributions as (tokens, width). A row without any entries is 0.

        columns (np.ndarray): The column of each entry; negative to leave it out.
        """
        dense: Probabilities = np.zeros((tokens, width))
        kept = columns >= 0
        dense[self.tokens[kept], columns[kept]] = self.probs[kept]
        sums = dense.sum(axis=1, keepdims=True)
        np.divide(dense, sums, out=dense, where=sums > 0)
        return dense


class Targets(NamedTuple):
    """The distributions of the tokens of a Doc.

    heads (Table): Values are tokens of the Doc. A root is its own head.
    labels (Table): Values are hashes of labels, given the head on the Doc.
    tags (Table): Values are the numbers that spaCy has for parts of speech.
    """

    heads: Table
    labels: Table
    tags: Table


def to_table(probabilities: Probabilities, values: npt.NDArray[np.integer[Any]]) -> Table:
    """Return distributions, (tokens, values), as a table. The values are those of the columns, or (tokens, values)."""
    tokens, columns = np.nonzero(probabilities > _LEAST)
    found = np.broadcast_to(values, probabilities.shape)[tokens, columns]
    return Table(tokens.astype(np.int32), found, probabilities[tokens, columns].astype(np.float16))


def read_targets(doc: Doc) -> Targets | None:
    """Return the teachers' distributions for a Doc; None if it has none."""
    found = read_extension(doc, "arc_targets")
    return None if found is None else Targets(*(Table(*map(np.asarray, table)) for table in found))


def write_targets(doc: Doc, targets: Targets | None) -> None:
    """Set the teachers' distributions for a Doc, as lists that spaCy can store. None changes nothing."""
    if targets is not None:
        write_extension(doc, "arc_targets", [list(table) for table in targets])


def join_targets(docs: Sequence[Doc]) -> Targets | None:
    """Return the teachers' distributions for Docs that are joined, end to end."""
    starts = accumulate(map(len, docs), initial=0)
    moved = [
        move_targets(targets, start + np.arange(len(doc)))
        for doc, start in zip(docs, starts, strict=False)
        if (targets := read_targets(doc)) is not None
    ]
    if not moved:
        return None
    return Targets(*(Table(*map(np.concatenate, zip(*tables, strict=True))) for tables in zip(*moved, strict=True)))


def move_targets(targets: Targets, places: npt.NDArray[np.integer[Any]]) -> Targets:
    """Return the same for tokens that stand at other places of a Doc."""
    heads, labels, tags = (table._replace(tokens=places[table.tokens]) for table in targets)
    return Targets(heads._replace(values=places[heads.values]), labels, tags)
