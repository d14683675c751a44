"""Writes trees and their results to a Doc.

Nothing else in this package turns heads into spaCy's own form, except `conllu/docs.py`, which makes Docs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, HEAD, IDX, LENGTH, SENT_START
from spacy.strings import StringStore
from spacy.tokens import Doc

from ..decoding import Heads
from ..doc import _annotate
from ..doc.extensions import SPAN_ATTRIBUTES, TOKEN_ATTRIBUTES, WRITTEN_DEPS, WRITTEN_HEADS, describe, key_at
from ..doc.reading import listed, read_heads
from ..errors import HeadsError, LabelsError
from ..inference.calibration import Calibration, label_probabilities
from ..labels import SPACY_ROOT, is_root_label
from ..trees import count_roots, is_tree, to_heads
from .arc_labels import ArcLabels

__all__ = [
    "Hashes",
    "LabelHashes",
    "TangledTreeWarning",
    "drop_results",
    "hash_labels",
    "labels_of_trees",
    "restore_sentences",
    "write_results",
    "write_trees",
]

Hashes = npt.NDArray[np.uint64]

_TREE, _STARTS = (HEAD, DEP), (SENT_START,)
_PLACES = (IDX, LENGTH)
_RESULTS = frozenset((*TOKEN_ATTRIBUTES, *SPAN_ATTRIBUTES, WRITTEN_HEADS, WRITTEN_DEPS))
_OF_LABELS = frozenset(name for name, attribute in TOKEN_ATTRIBUTES.items() if attribute.of_label)


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
            warnings.warn(
                f"{describe(doc)}: a tree is so tangled (non-projective) that spaCy gets doc.sents wrong when it "
                "restores this Doc from bytes, from a DocBin or from a worker process. Heads and labels are not "
                "affected. Call spacy_mindroot.restore_sentences(doc) on the restored Doc.",
                TangledTreeWarning,
                stacklevel=2,
            )
        except TangledTreeWarning:  # warnings are errors here
            doc.from_array(_TREE, before[:, :2])
            doc.from_array(_STARTS, before[:, 2])
            raise


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


def write_results(doc: Doc, heads: Sequence[Heads], results: Sequence[Mapping[str, Any]]) -> None:
    """Set attributes of the sentences and their tokens. The trees must have been written before.

    results (Sequence[Mapping[str, Any]]): The attributes of each sentence, by their names in `SPAN_ATTRIBUTES` and
        `TOKEN_ATTRIBUTES`; for the latter, a list with the value of each token, None if it is unknown.
    """
    data, places = doc.user_data, doc.to_array(_PLACES).tolist()
    deps = None if all(map(_OF_LABELS.isdisjoint, results)) else doc.to_array((DEP,)).tolist()
    start = 0
    for own, values in zip(heads, results, strict=True):
        end = start + len(own)
        place = places[start][0], sum(places[end - 1])
        data[key_at(WRITTEN_HEADS, *place)] = own.tolist()
        if deps is not None:
            data[key_at(WRITTEN_DEPS, *place)] = deps[start:end]
        for name, value in values.items():
            if name in SPAN_ATTRIBUTES:
                store = SPAN_ATTRIBUTES[name].store
                data[key_at(name, *place)] = value if store is None else store(value)
            else:
                store = TOKEN_ATTRIBUTES[name].store
                _annotate.write_values(data, name, places, start, value if store is None else list(map(store, value)))
        start = end


def hash_labels(strings: StringStore, names: Sequence[str | None], root_label: str = SPACY_ROOT) -> Hashes:
    """Return the hash of each label, to be written as a dep; 0 for a label that only the root may have.

    These are `root_label` and "root", in upper or lower case. Names that the store lacks are added to it.
    """
    own = root_label.lower()
    hashes = [0 if not name or is_root_label(name) or name.lower() == own else strings.add(name) for name in names]
    return np.array(hashes, dtype=np.uint64)


class LabelHashes:
    """The hashes of the names of labels, kept for the next Doc, which most likely has the same."""

    def __init__(self) -> None:
        self._key: Any = None
        self._hashes: Hashes = np.empty(0, dtype=np.uint64)

    def of(self, doc: Doc, names: Sequence[str], root_label: str) -> Hashes:
        """Return what `hash_labels` does. RAISES (LabelsError): If a name is not a string."""
        key = (doc.vocab, root_label, tuple(names))
        strings = doc.vocab.strings  # which may have lost the names, at the end of a memory zone
        if self._key != key or not all(each in strings for each in self._hashes if each):
            if not all(name is None or isinstance(name, str) for name in names):
                raise LabelsError(
                    f"doc._.arc_label_names of {describe(doc)} must be a list of strings; found {str(names)[:100]}."
                )
            self._key, self._hashes = key, hash_labels(strings, names, root_label)
        return self._hashes


def labels_of_trees(
    doc: Doc,
    arc_labels: Sequence[npt.ArrayLike | ArcLabels],
    label_hashes: Hashes,
    heads: Sequence[Heads],
    calibration: Calibration | None = None,
) -> tuple[Hashes, list[list[float | None]] | None]:
    """Return the label of each token's arc, and how probable it is given the head, if there is a calibration.

    Arrays of labels are numbers laid out like the arc scores, (n, n+1); `label_hashes` has the hash of each.

    RETURNS (tuple): The hash of each label, (len(doc),), and for each sentence a list of probabilities; None instead of
        these lists if no sentence has label scores. A token has None if its sentence has none, or if its label can't be
        written.
    """
    if len(arc_labels) != len(heads):
        raise LabelsError(
            f"{describe(doc)} has doc._.arc_labels for {len(arc_labels)} sentences, but arc scores for {len(heads)}."
        )
    hashes: list[Hashes] = []
    probabilities: list[list[float | None]] = []
    any_scores = False
    for k, (labels, sentence) in enumerate(zip(arc_labels, heads, strict=True)):
        own: list[float | None] = [None] * len(sentence)
        if calibration is None or not _fit(labels, sentence) or (scores := labels.scores_of_tree(sentence)) is None:
            hashes.append(_hashes_of_tree(doc, k, labels, label_hashes, sentence))
        else:
            any_scores = True
            chosen = labels.choose(scores)
            hashes.append(label_hashes.take(chosen))
            of_labels = label_probabilities(scores, calibration.label_temperature, calibration.label_lapse)
            own = of_labels[np.arange(len(chosen)), chosen].tolist()
            for i in np.flatnonzero((hashes[k] == 0) & (sentence != 0)).tolist():
                own[i] = None
        probabilities.append(own)
    flat = hashes[0] if len(hashes) == 1 else np.concatenate([label_hashes[:0], *hashes])
    return flat, probabilities if any_scores else None


def _fit(labels: npt.ArrayLike | ArcLabels, sentence: Heads) -> TypeGuard[ArcLabels]:
    return isinstance(labels, ArcLabels) and labels.shape == (len(sentence), len(sentence) + 1)


def _hashes_of_tree(
    doc: Doc, k: int, labels: npt.ArrayLike | ArcLabels, label_hashes: Hashes, sentence: Heads
) -> Hashes:
    """Return the hashes of the labels of the arcs of a tree, (n,)."""
    shape = (len(sentence), len(sentence) + 1)
    if _fit(labels, sentence):
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
