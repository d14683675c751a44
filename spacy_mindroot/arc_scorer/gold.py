"""Reads the gold heads, labels and tags of an Example, by tokens of its predicted Doc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.attrs import POS
from spacy.tokens import Doc
from spacy.training import Example

from ..doc import reading
from ..doc.alignment import UNALIGNED, one_to_one
from ..doc.extensions import describe
from ..doc.targets import Targets, read_targets
from ..errors import MissingSentencesError, SentenceTooLongError
from ..trees import MISSING

__all__ = ["GoldArcs", "SoftGold", "join_soft", "lengths_to_score", "read_gold"]


class GoldArcs(NamedTuple):
    """The gold arcs of an example, by tokens of its predicted Doc.

    What the reference does not have, what is not among the labels and tags given, and what belongs to a token that is
    not aligned one to one is MISSING. So are heads in another sentence, and labels on arcs from ROOT. A sentence that
    is longer than allowed is cut into pieces in `lengths`, and its heads and labels are MISSING.
    """

    lengths: list[int]  # of the sentences; all 1 if the reference has neither sentences nor heads
    heads: npt.NDArray[np.int64]  # (n,): 0 = ROOT, j = token j of the sentence
    labels: npt.NDArray[np.int64]  # (n,): indexes
    tags: npt.NDArray[np.int64]  # (n,): indexes of parts of speech
    too_long: list[int]  # lengths of sentences
    soft: SoftGold | None = None  # in place of these, where teachers have set it


class SoftGold(NamedTuple):
    """The teachers' distributions for an example, by tokens of its predicted Doc. Rows of 0 say nothing."""

    heads: list[npt.NDArray[np.floating[Any]] | None]  # the probability of each arc of each sentence, (n, n+1)
    labels: npt.NDArray[np.floating[Any]]  # (n, labels)
    tags: npt.NDArray[np.floating[Any]]  # (n, tags)


def lengths_to_score(doc: Doc, *, whole_doc: bool, max_length: int = 0) -> list[int]:
    """Return the number of tokens of each sentence of a Doc. Without boundaries, it is one if `whole_doc`.

    RAISES (MissingSentencesError): If there are no boundaries and `whole_doc` is False.
    RAISES (SentenceTooLongError): If a sentence has more than `max_length` tokens; 0 for no limit.
    """
    lengths = reading.sentence_lengths(doc)
    if lengths is None and not whole_doc:
        raise MissingSentencesError(
            f"{describe(doc)} has no sentence boundaries, and arcs are scored sentence by sentence. Add a `senter` "
            "(trained) or a `sentencizer` (rules) before this component, or set its whole_doc = true if every Doc is "
            "one sentence."
        )
    lengths = [len(doc)] if lengths is None else lengths
    longest = max(lengths, default=0)
    if 0 < max_length < longest:
        where = describe(doc, lengths.index(longest))
        error = SentenceTooLongError(
            f"{where[0].upper()}{where[1:]} has {longest:,} tokens, but max_length is {max_length:,}, since time and "
            "memory grow with the square of a sentence's length. Set sentence boundaries before this component, with a "
            "`senter` or a `sentencizer`, or raise its max_length (0: no limit)."
        )
        error.most = max_length
        raise error
    return lengths


def read_gold(
    example: Example,
    label_numbers: Mapping[int, int],
    tag_numbers: Mapping[int, int],
    *,
    max_length: int = 0,
) -> GoldArcs:
    """Return the gold arcs of an example. Its sentences are those of the reference.

    A reference with heads and no sentence boundaries is one sentence. Labels are numbered by the hash of their name,
    tags by their ID in spaCy. The arcs of sentences with more than `max_length` tokens, if it is not 0, are left out.
    """
    predicted, reference = example.predicted, example.reference
    reference_lengths = reading.sentence_lengths(reference)
    if reference_lengths is None:
        reference_lengths = [len(reference)] if reference.has_annotation("DEP") else [1] * len(reference)
    n = len(predicted)
    if n == 0 or not reference_lengths:
        empty = np.empty(0, dtype=np.int64)
        return GoldArcs([], empty, empty, empty, [])
    reference_heads, deps = reading.read_heads(reference)
    parts_of_speech = reference.to_array(POS)
    tokens = np.arange(len(reference))
    to_reference, to_predicted = one_to_one(example)

    same = n == len(tokens) and np.array_equal(to_reference, tokens)
    lengths = reference_lengths if same else reading.lengths_between(_aligned_starts(example, reference_lengths))
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths

    heads = np.full(n, MISSING, dtype=np.int64)
    labels = np.full(n, MISSING, dtype=np.int64)
    tags = np.full(n, MISSING, dtype=np.int64)
    known = np.flatnonzero(to_reference != UNALIGNED)
    tags[known] = [tag_numbers.get(tag, MISSING) for tag in parts_of_speech[to_reference[known]].tolist()]
    known = known[deps[to_reference[known]] != 0]  # a token without a label has no known head
    gold = to_reference[known]
    is_root = reference_heads[gold] == gold
    heads[known[is_root]] = 0
    dependents = known[~is_root]
    head_tokens = to_predicted[reference_heads[gold[~is_root]]]
    inside = (head_tokens != UNALIGNED) & (sentence[head_tokens] == sentence[dependents])
    dependents, head_tokens = dependents[inside], head_tokens[inside]
    heads[dependents] = head_tokens - first[sentence[dependents]] + 1
    labels[dependents] = [label_numbers.get(dep, MISSING) for dep in deps[to_reference[dependents]].tolist()]
    too_long = [length for length in lengths if 0 < max_length < length]
    longest = max_length or max(lengths)
    left_out = np.repeat(np.array(lengths) > longest, lengths)
    heads[left_out] = labels[left_out] = MISSING
    targets = read_targets(reference) if same else None
    soft = None if targets is None else _to_soft(targets, lengths, heads, longest, label_numbers, tag_numbers)
    if soft is not None:
        soft.labels[left_out] = 0
    lengths = [piece for length in lengths for piece in _pieces(length, longest)]
    return GoldArcs(lengths, heads, labels, tags, too_long, soft)


def _to_soft(
    targets: Targets,
    lengths: list[int],
    heads: npt.NDArray[np.int64],
    longest: int,
    label_numbers: Mapping[int, int],
    tag_numbers: Mapping[int, int],
) -> SoftGold:
    """Return the teachers' distributions for a Doc with sentences of these lengths.

    A sentence with more than `longest` tokens is cut into pieces without arcs. Tokens that the teachers have not seen,
    such as inserted white space, have their own head in a sentence that they have seen.
    """
    starts, n = list(accumulate(lengths, initial=0)), len(heads)
    first, length = np.repeat(starts[:-1], lengths), np.repeat(lengths, lengths)
    tokens, values, _ = targets.heads
    columns = np.where(values == tokens, 0, values - first[tokens] + 1)  # a root is its own head
    columns[(values < first[tokens]) | (columns > length[tokens])] = -1  # of a Doc whose sentences have changed
    columns[length[tokens] > longest] = -1
    dense = targets.heads.to_dense(columns, n, min(max(lengths), longest) + 1)
    seen = dense.max(axis=1) > 0
    own = np.flatnonzero(~seen & (heads != MISSING))
    dense[own, heads[own]] = 1
    known = dense.max(axis=1) > 0
    of_sentences = [
        dense[start:end, : end - start + 1] if seen[start:end].any() and known[start:end].all() else None
        for start, end in pairwise(starts)
    ]
    of_sentences = [own for own, n in zip(of_sentences, lengths, strict=True) for _ in _pieces(n, longest)]
    of_labels, of_tags = (
        table.to_dense(
            np.array([numbers.get(value, MISSING) for value in table.values.tolist()], dtype=np.int64),
            n,
            max(numbers.values(), default=-1) + 1,
        )
        for table, numbers in ((targets.labels, label_numbers), (targets.tags, tag_numbers))
    )
    return SoftGold(of_sentences, of_labels, of_tags)


def join_soft(gold: Sequence[GoldArcs], labels: int, tags: int) -> SoftGold | None:
    """Return the teachers' distributions for a batch of examples, end to end; None if they have seen none of them.

    labels, tags (int): The numbers of these.
    """
    if all(arcs.soft is None for arcs in gold):
        return None
    parts = [
        arcs.soft or SoftGold([None] * len(arcs.lengths), np.zeros((n, labels)), np.zeros((n, tags)))
        for arcs in gold
        for n in [len(arcs.heads)]
    ]
    return SoftGold(
        [own for part in parts for own in part.heads],
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.tags for part in parts]),
    )


def _pieces(length: int, max_length: int) -> list[int]:
    """Return the lengths of the pieces of a sentence, the last of which may be shorter than `max_length`."""
    whole, rest = divmod(length, max_length)
    return [max_length] * whole + [rest] * (rest > 0)


def _aligned_starts(example: Example, reference_lengths: list[int]) -> npt.NDArray[np.bool_]:
    """Return whether a sentence begins at each predicted token: at the first one aligned to a token of the sentence."""
    starts = np.zeros(len(example.predicted), dtype=bool)
    aligned = example.alignment.y2x
    counts, targets = np.asarray(aligned.lengths), np.asarray(aligned.data)
    ends = np.cumsum(counts)
    first = 0
    for length in reference_lengths:
        own = targets[ends[first] - counts[first] : ends[first + length - 1]]
        if len(own):
            starts[own.min()] = True
        first += length
    return starts
