"""What an Example says of the heads and labels of the predicted Doc's tokens, and what it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.attrs import POS
from spacy.tokens import Doc
from spacy.training import Example

from ..errors import MissingSentencesError
from ..pipeline import reading
from ..pipeline.alignment import UNALIGNED, one_to_one
from ..pipeline.extensions import describe
from ..trees import MISSING


class GoldArcs(NamedTuple):
    """The arcs of an example, by tokens of its predicted Doc.

    lengths (list[int]): Tokens of each sentence.
    heads (np.ndarray): Head of each token, counted from the start of its sentence, 0 = ROOT; MISSING where the reference
        has none, where tokens can't be aligned one to one, or where the head is in another sentence. (n,)
    labels (np.ndarray): Number of the label of each arc; MISSING where the head is, on arcs from ROOT, and where the
        label is not among those given. (n,)
    tags (np.ndarray): Number of the part of speech of each token; MISSING likewise. (n,)
    """

    lengths: list[int]
    heads: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    tags: npt.NDArray[np.int64]


def sentence_lengths(doc: Doc, *, whole_doc: bool) -> list[int]:
    """Tokens of each sentence of a Doc.

    whole_doc (bool): A Doc without any sentence boundaries is one sentence.
    RAISES (MissingSentencesError): If there are no boundaries and `whole_doc` is False.
    """
    lengths = reading.sentence_lengths(doc)
    if lengths is not None:
        return lengths
    if whole_doc:
        return [len(doc)]
    raise MissingSentencesError(
        f"{describe(doc)} has no sentence boundaries, and arcs are scored sentence by sentence. Add a `senter` (trained) or "
        "`sentencizer` (by rules) before this component; or set whole_doc = true for it if every Doc is one sentence."
    )


def read_gold(
    example: Example, label_numbers: Mapping[int, int], tag_numbers: Mapping[int, int], *, whole_doc: bool
) -> GoldArcs:
    """The gold arcs of an example. Its sentences are those of the reference.

    label_numbers, tag_numbers (Mapping[int, int]): The number of each label and each part of speech, by the hash of its name.
    """
    predicted, reference = example.predicted, example.reference
    reference_lengths = sentence_lengths(reference, whole_doc=whole_doc)
    n = len(predicted)
    if n == 0 or not reference_lengths:
        empty = np.empty(0, dtype=np.int64)
        return GoldArcs([], empty, empty, empty)
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
    known = known[deps[to_reference[known]] != 0]  # the head of a token without a label is not known
    gold = to_reference[known]
    is_root = reference_heads[gold] == gold
    heads[known[is_root]] = 0
    dependents = known[~is_root]
    head_tokens = to_predicted[reference_heads[gold[~is_root]]]
    inside = (head_tokens != UNALIGNED) & (sentence[head_tokens] == sentence[dependents])
    dependents, head_tokens = dependents[inside], head_tokens[inside]
    heads[dependents] = head_tokens - first[sentence[dependents]] + 1
    labels[dependents] = [label_numbers.get(dep, MISSING) for dep in deps[to_reference[dependents]].tolist()]
    return GoldArcs(lengths, heads, labels, tags)


def _aligned_starts(example: Example, reference_lengths: list[int]) -> npt.NDArray[np.bool_]:
    """A sentence begins at the first predicted token that is aligned to any of its tokens."""
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
