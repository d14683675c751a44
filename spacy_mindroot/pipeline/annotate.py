"""Writes trees and their results to a Doc.

Nothing else in this package turns heads into spaCy's own form, except `conllu/docs.py`, which makes Docs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, HEAD, IDX, LENGTH, SENT_START
from spacy.strings import StringStore
from spacy.tokens import Doc

from ..decoding import Heads
from ..doc import _annotate
from ..doc.extensions import SPAN_EXTENSIONS, TOKEN_EXTENSIONS, WRITTEN_DEPS, WRITTEN_HEADS, Trees, describe
from ..doc.reading import listed, read_heads
from ..errors import HeadsError, LabelsError
from ..inference.arc_confidence import Confidence
from ..inference.calibration import Calibration, label_probabilities
from ..labels import SPACY_ROOT, is_root_label
from ..trees import count_roots, is_tree, to_heads
from .arc_labels import ArcLabels

__all__ = [
    "Hashes",
    "TangledTreeWarning",
    "drop_results",
    "hash_labels",
    "labels_of_trees",
    "labels_with_probabilities",
    "restore_sentences",
    "write_confidence",
    "write_kbest",
    "write_trees",
]

Hashes = npt.NDArray[np.uint64]

_TREE, _STARTS = (HEAD, DEP), (SENT_START,)
_PLACES = (IDX, LENGTH)
_RESULTS = frozenset((*TOKEN_EXTENSIONS, *SPAN_EXTENSIONS, WRITTEN_HEADS, WRITTEN_DEPS))


class TangledTreeWarning(UserWarning):
    """A tree whose sentence boundaries spaCy gets wrong when it restores the Doc from bytes."""


def write_trees(
    doc: Doc,
    heads: Sequence[Sequence[int] | npt.NDArray[np.integer[Any]]],
    labels: Hashes | None = None,
    *,
    root_label: str = SPACY_ROOT,
    fallback_label: str = "dep",
) -> None:
    """Write one tree per sentence to the Doc: heads, labels and sentence starts, all of them or none.

    doc (Doc): The Doc. Any tree that it has is replaced.
    heads (Sequence[ArrayLike]): Heads of each sentence, in order, as in CoNLL-U: 0 = ROOT, j = token j of the sentence.
    labels (Optional[np.ndarray]): The hash of each token's label, (len(doc),), 0 for none (see `hash_labels`). A token
        without one keeps the label that it has if its head stays the same, and gets `fallback_label` otherwise.
    root_label (str): The label of the root, whatever `labels` says. Other tokens lose it, and "root", if they have it.
    fallback_label (str): The label of an arc that has no other.
    RAISES (HeadsError): If the heads of a sentence are not a tree with one root, which spaCy would accept silently.
    """
    lengths = [len(sentence) for sentence in heads]
    flat = _join(heads)
    tree, sent_starts = np.empty((2, len(flat)), dtype=np.int64), np.empty(len(flat), dtype=np.int64)
    malformed = _annotate.relative_heads(flat, lengths, tree[0], sent_starts)
    if malformed >= 0:
        raise _malformed(doc, malformed, to_heads(heads[malformed]))
    if labels is not None and len(labels) != len(doc):
        raise LabelsError(f"{describe(doc)} has {len(doc)} tokens, but there are labels for {len(labels)}.")
    if not fallback_label or not root_label:
        raise LabelsError("root_label and fallback_label must not be empty: spaCy hides heads without a label.")
    if len(flat) != len(doc):
        raise HeadsError(f"{describe(doc)} has {len(doc)} tokens, but there are heads for {len(flat)}.")
    if len(doc) == 0:
        return

    before = doc.to_array(_TREE + _STARTS)
    columns = tree.view(np.uint64)
    columns[1] = _choose_deps(doc, before, tree[0], labels, root_label, fallback_label)

    # The sentence starts are written separately. Written along with the heads they would be replaced by those that
    # spaCy derives from the heads, which are wrong for very tangled trees.
    doc.from_array(_TREE, columns.T)
    derived = doc.to_array(_STARTS)
    doc.from_array(_STARTS, sent_starts.view(np.uint64))
    if _annotate.boundaries_agree(derived, lengths) is False:
        try:
            _warn_of_tangle(doc)
        except TangledTreeWarning:  # warnings are errors here
            doc.from_array(_TREE, before[:, :2])
            doc.from_array(_STARTS, before[:, 2])
            raise


def _warn_of_tangle(doc: Doc) -> None:
    warnings.warn(
        f"{describe(doc)}: a tree is so tangled (non-projective) that spaCy gets doc.sents wrong when it restores this "
        "Doc from bytes, from a DocBin or from a worker process. Heads and labels are not affected. Call "
        "spacy_mindroot.restore_sentences(doc) on the restored Doc.",
        TangledTreeWarning,
        stacklevel=3,
    )


def restore_sentences(doc: Doc) -> None:
    """Set the sentence starts of a parsed Doc from its trees: the tokens that arcs connect are a sentence.

    Use it on Docs that were restored from bytes, from a DocBin or from a worker process. spaCy derives their sentence
    starts from the left edges of the roots, and gives up on very tangled trees. Each sentence must be one tree, as
    `mind_root` writes them: an arc between two sentences would join them, and a token without a head stands alone.

    doc (Doc): The Doc. One without a parse is left as it is.
    """
    if len(doc) == 0 or not doc.has_annotation("DEP"):
        return
    tokens = np.arange(len(doc))
    heads, _ = read_heads(doc)
    begun = np.bincount(np.minimum(tokens, heads), minlength=len(doc))
    ended = np.bincount(np.maximum(tokens, heads), minlength=len(doc))
    arcs_across = np.cumsum(begun - ended)  # between each token and the next
    sent_starts = np.full(len(doc), -1, dtype=np.int64)
    sent_starts[0] = 1
    sent_starts[1:][arcs_across[:-1] == 0] = 1
    doc.from_array(_STARTS, sent_starts.view(np.uint64))


def drop_results(doc: Doc) -> None:
    """Remove what `mind_root` has written about an earlier tree from the tokens and sentences."""
    _annotate.drop_keys(doc.user_data, _RESULTS)


def write_kbest(doc: Doc, heads: Sequence[Heads], trees: Sequence[Trees]) -> None:
    """Set `span._.trees` of each sentence.

    heads (Sequence[np.ndarray]): The heads of each sentence, as they were written.
    trees (Sequence[Trees]): Its best trees and their weights, best first.
    """
    places = doc.to_array(_PLACES).tolist()
    for (start, end), own, best in zip(_spans(heads), heads, trees, strict=True):
        key = _mark(doc, places, start, end, own)
        # Lists, not arrays, so that Doc.to_json can write them.
        kbest = {"heads": [tree.tolist() for tree, _ in best], "weights": [weight for _, weight in best]}
        doc.user_data[("._.", "trees", *key)] = kbest


def write_confidence(
    doc: Doc,
    heads: Sequence[Heads],
    confidences: Sequence[Confidence],
    margins: Sequence[float],
    label_probs: Sequence[float | None] | None = None,
    head_sets: Sequence[Sequence[npt.NDArray[np.integer[Any]]]] | None = None,
) -> None:
    """Set what `confidence = true` promises on the tokens and sentences. The trees must have been written before.

    heads (Sequence[np.ndarray]): The heads of each sentence, as they were written.
    confidences (Sequence[Confidence]): See `inference.confidence`.
    margins (Sequence[float]): See `inference.tree_margin`. An infinite one is kept as None, since JSON has no infinity.
    label_probs (Optional[Sequence[Optional[float]]]): The probability of the label of each token of the Doc.
    head_sets (Optional[Sequence]): The head sets of each sentence, see `inference.head_sets`.
    """
    data = doc.user_data
    places = doc.to_array(_PLACES).tolist()
    deps = None if label_probs is None else doc.to_array((DEP,)).tolist()
    for k, ((start, end), own, confidence, margin) in enumerate(
        zip(_spans(heads), heads, confidences, margins, strict=True)
    ):
        key = _mark(doc, places, start, end, own)
        data["._.", "tree_logprob", *key] = confidence.tree_logprob
        data["._.", "tree_margin", *key] = None if margin == math.inf else margin
        if deps is not None and label_probs is not None:
            data["._.", WRITTEN_DEPS, *key] = deps[start:end]
        _annotate.write_values(data, "head_prob", places, start, confidence.head_prob)
        _annotate.write_values(data, "head_entropy", places, start, confidence.head_entropy)
        if head_sets is not None:
            for (offset, _), head_set in zip(places[start:end], head_sets[k], strict=True):
                data["._.", "head_set", offset, None] = head_set.tolist()
    if label_probs is not None:
        for (offset, _), label_prob in zip(places, label_probs, strict=True):
            if label_prob is not None:
                data["._.", "dep_prob", offset, None] = label_prob


def _spans(heads: Sequence[Heads]) -> Iterable[tuple[int, int]]:
    """Yield the first token of each sentence, and the one after its last."""
    start = 0
    for sentence in heads:
        yield start, start + len(sentence)
        start += len(sentence)


def _mark(doc: Doc, places: list[list[int]], start: int, end: int, heads: Heads) -> tuple[int, int]:
    """Keep the heads that results of a sentence describe. Returns where the sentence lies in the text.

    places (list[list[int]]): Where each token of the Doc begins in the text, and its length.
    """
    place = places[start][0], sum(places[end - 1])
    doc.user_data["._.", WRITTEN_HEADS, *place] = heads.tolist()
    return place


def hash_labels(strings: StringStore, names: Sequence[str | None], root_label: str = SPACY_ROOT) -> Hashes:
    """Return the hash of each label, to be written as a dep; 0 for a label that only the root may have.

    These are `root_label` and "root", in upper or lower case. Names that the store lacks are added to it.
    """
    own = root_label.lower()
    hashes = [0 if not name or is_root_label(name) or name.lower() == own else strings.add(name) for name in names]
    return np.array(hashes, dtype=np.uint64)


def labels_of_trees(
    doc: Doc,
    arc_labels: Sequence[npt.ArrayLike | ArcLabels],
    label_hashes: Hashes,
    heads: Sequence[Heads],
) -> Hashes:
    """Return the hash of the label of each token's arc, (len(doc),).

    arc_labels (Sequence[ArrayLike | ArcLabels]): The best label of each arc of each sentence, as numbers laid out like
        the arc scores, (n, n+1).
    label_hashes (np.ndarray): The hash of each label, by its number.
    heads (Sequence[np.ndarray]): The heads of each sentence, 0 = ROOT.
    RAISES (LabelsError): If the labels do not fit the arc scores, or a number has no label.
    """
    if len(arc_labels) != len(heads):
        raise LabelsError(
            f"{describe(doc)} has doc._.arc_labels for {len(arc_labels)} sentences, but arc scores for {len(heads)}."
        )
    hashes = [
        _hashes_of_tree(doc, k, labels, label_hashes, sentence)
        for k, (labels, sentence) in enumerate(zip(arc_labels, heads, strict=True))
    ]
    if len(hashes) == 1:
        return hashes[0]
    return np.concatenate([label_hashes[:0], *hashes])


def labels_with_probabilities(
    doc: Doc,
    arc_labels: Sequence[npt.ArrayLike | ArcLabels],
    label_hashes: Hashes,
    heads: Sequence[Heads],
    calibration: Calibration,
) -> tuple[Hashes, list[float | None] | None]:
    """Return what `labels_of_trees` does, and the probability of the label of each token, given its head.

    calibration (Calibration): Its temperature and lapse of labels apply.
    RETURNS (tuple): The second is None if no sentence has label scores. A token has None if its sentence has none, or
        if its label can't be written.
    RAISES (LabelsError): As `labels_of_trees`.
    """
    if len(arc_labels) != len(heads):
        return labels_of_trees(doc, arc_labels, label_hashes, heads), None
    hashes: list[Hashes] = []
    probabilities: list[float | None] = []
    for k, (labels, sentence) in enumerate(zip(arc_labels, heads, strict=True)):
        scores = None
        if isinstance(labels, ArcLabels) and labels.shape == (len(sentence), len(sentence) + 1):
            scores = labels.scores_of_tree(sentence)
        if scores is None:
            hashes.append(_hashes_of_tree(doc, k, labels, label_hashes, sentence))
            probabilities += [None] * len(sentence)
        else:
            chosen = cast(ArcLabels, labels).choose(scores)
            hashes.append(label_hashes.take(chosen))
            of_labels = label_probabilities(scores, calibration.label_temperature, calibration.label_lapse)
            probabilities += of_labels[np.arange(len(chosen)), chosen].tolist()
    flat = np.concatenate([label_hashes[:0], *hashes])
    if all(probability is None for probability in probabilities):
        return flat, None
    roots = np.concatenate([sentence == 0 for sentence in heads])
    for i in np.flatnonzero((flat == 0) & ~roots).tolist():
        probabilities[i] = None
    return flat, probabilities


def _hashes_of_tree(
    doc: Doc, k: int, labels: npt.ArrayLike | ArcLabels, label_hashes: Hashes, sentence: Heads
) -> Hashes:
    """Return the hashes of the labels of the arcs of a tree, (n,)."""
    shape = (len(sentence), len(sentence) + 1)
    if isinstance(labels, ArcLabels) and labels.shape == shape:
        return label_hashes.take(labels.of_tree(sentence))
    labels = np.asarray(labels)
    if labels.shape != shape or labels.dtype.kind not in "iu":
        raise LabelsError(
            f"{describe(doc, k)}: arc labels must be ints, of shape {shape} for these scores; found dtype "
            f"{labels.dtype}, shape {labels.shape}."
        )
    chosen = labels[np.arange(len(sentence)), sentence]
    if not (labels.dtype.kind == "i" and bool((chosen < 0).any())):
        try:
            return label_hashes.take(chosen)
        except IndexError:
            pass
    i = int(((chosen < 0) | (chosen >= len(label_hashes))).argmax())
    raise LabelsError(
        f"{describe(doc, k)}: the label of the arc from head {sentence[i]} to dependent {i + 1} is {chosen[i]}, but "
        f"doc._.arc_label_names has {len(label_hashes)} names, counted from 0."
    )


def _join(heads: Sequence[Sequence[int] | npt.NDArray[np.integer[Any]]]) -> Heads:
    """Return all heads end to end, as int32. A head beyond 32 bits stays out of range when it is clipped."""
    if heads and all(type(sentence) is np.ndarray and sentence.dtype == np.int32 for sentence in heads):
        return np.concatenate(heads) if len(heads) > 1 else np.ascontiguousarray(heads[0])
    trees = [to_heads(sentence) for sentence in heads]
    return np.concatenate([np.empty(0, np.int64), *trees]).clip(-1, np.iinfo(np.int32).max).astype(np.int32)


def _malformed(doc: Doc, k: int, heads: npt.NDArray[np.int64]) -> HeadsError:
    """Return the error for the heads of sentence k."""
    where, n = describe(doc, k), len(heads)
    wrong = (heads < 0) | (heads > n)
    if wrong.any():
        dependent = int(wrong.argmax()) + 1
        return HeadsError(
            f"{where}: the head of token {dependent} is {heads[dependent - 1]}, but heads count from the start of "
            f"their sentence, from 0 (ROOT) to {n}."
        )
    if not is_tree(heads):
        return HeadsError(
            f"{where}: the heads {listed(heads.tolist())} are not a tree, since some tokens depend on each "
            "other in a cycle."
        )
    return HeadsError(
        f"{where}: the tree has {count_roots(heads)} roots. spaCy would split the sentence at each of them; decode "
        "with single_root=True."
    )


def _choose_deps(
    doc: Doc,
    before: Hashes,
    offsets: npt.NDArray[np.int64],
    labels: Hashes | None,
    root_label: str,
    fallback: str,
) -> Hashes:
    """Return the hash of each token's label; see `write_trees`. `before` holds the present head offsets and labels."""
    strings = doc.vocab.strings
    deps = before[:, 1].copy()
    if np.count_nonzero(deps):  # several times faster than deps.any()
        deps[before[:, 0] != offsets.view(np.uint64)] = 0
        for dep in set(deps.tolist()) - {0}:
            if not hash_labels(strings, [strings[dep]], root_label)[0]:
                deps[deps == dep] = 0
    if labels is not None:
        labels = np.ascontiguousarray(labels, dtype=np.uint64)
    _annotate.fill_labels(deps, offsets, labels, strings.add(root_label), strings.add(fallback))
    return deps
