"""Heads and labels onto the Doc. The only place that turns the core's heads (0 = ROOT) into spaCy's, and that writes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.strings import StringStore
from spacy.tokens import Doc

from ..constraints import Constraints, pairs_of_ints
from ..decoding import Heads
from ..errors import ConstraintsError, HeadsError, LabelsError, SentenceMismatchError
from ..labels import is_root_label
from ..scores import FloatArray
from ..trees import count_roots, is_tree, to_heads
from . import _annotate
from .extensions import describe

Hashes = npt.NDArray[np.uint64]

_TREE, _STARTS = (HEAD, DEP), (SENT_START,)


class TangledTreeWarning(UserWarning):
    """A tree whose sentence boundaries spaCy gets wrong when it restores the Doc from bytes."""


def check_sentences(doc: Doc, lengths: Sequence[int]) -> None:
    """Raises SentenceMismatchError unless sentences of these lengths fit the Doc.

    Boundaries that were set on the Doc must be the same. Boundaries that a parse has left there may be more: a second
    root splits a sentence in spaCy, and this is what a new tree is to mend.
    """
    if sum(lengths) != len(doc):
        raise SentenceMismatchError(
            f"{describe(doc)} has {len(doc)} tokens, but its arc scores are for sentences of {_listed(lengths)} tokens, "
            f"{sum(lengths)} together. Score the Doc with the tokenization it has."
        )
    if 0 in lengths:
        raise SentenceMismatchError(f"{describe(doc)} has arc scores for a sentence of 0 tokens. Leave it out.")
    starts = doc.to_array(_STARTS)
    if _annotate.boundaries_agree(starts, list(lengths)) is not False:
        return
    present, wanted = starts == 1, np.zeros(len(doc), dtype=bool)
    wanted[list(accumulate(lengths[:-1], initial=0))] = present[0] = True
    if not (doc.has_annotation("DEP", require_complete=True) and bool(present[wanted].all())):
        found = np.diff(np.flatnonzero(np.append(present, True)))
        raise SentenceMismatchError(
            f"{describe(doc)} has sentences of {_listed(found.tolist())} tokens, but its arc scores are for sentences of "
            f"{_listed(lengths)}. Set the boundaries before the Doc is scored, and don't change them between."
        )


def read_arc_constraints(doc: Doc, arc_constraints: Any, lengths: Sequence[int]) -> list[Constraints]:
    """What `doc._.arc_constraints` says, sentence by sentence.

    doc (Doc): The Doc.
    arc_constraints (dict[str, list[tuple[int, int]]]): Arcs (token.i, head.i) that the tree is to have, under "required", and
        not to have, under "forbidden". A root is its own head, as in spaCy.
    lengths (Sequence[int]): The tokens of each sentence. Forbidden arcs from one sentence to another change nothing.
    RAISES (ConstraintsError): If there is no such arc, or a required one leads from one sentence to another.
    """
    if not isinstance(arc_constraints, dict) or not arc_constraints.keys() <= {"required", "forbidden"}:
        raise ConstraintsError(
            f"{describe(doc)}: doc._.arc_constraints is a dict with lists of arcs under 'required' and 'forbidden', or one of "
            f"them; found {str(arc_constraints)[:100]}."
        )
    sentence_of = np.repeat(np.arange(len(lengths)), lengths)
    starts = list(accumulate(lengths, initial=0))
    arcs: dict[str, list[list[tuple[int, int]]]] = {name: [[] for _ in lengths] for name in ("required", "forbidden")}
    for name, of_doc in arc_constraints.items():
        for dependent, head in pairs_of_ints(of_doc, name, where=f"{describe(doc)}: "):
            if not (0 <= dependent < len(doc) and 0 <= head < len(doc)):
                raise ConstraintsError(
                    f"{describe(doc)} has no arc {dependent, head} to be {name}: arcs in doc._.arc_constraints are (token.i, head.i), "
                    f"from 0 to {len(doc) - 1}, and a root is its own head."
                )
            k = int(sentence_of[dependent])
            if sentence_of[head] == k:
                arcs[name][k].append((dependent - starts[k] + 1, 0 if head == dependent else head - starts[k] + 1))
            elif name == "required":
                raise ConstraintsError(
                    f"{describe(doc)}: token {dependent} ({doc[dependent].text!r}) is required to have token {head} ({doc[head].text!r}) as "
                    "head, which is in another sentence. Change the sentence boundaries, or drop it."
                )
    return [
        Constraints(required, forbidden)
        for required, forbidden in zip(arcs["required"], arcs["forbidden"], strict=True)
    ]


def write_trees(
    doc: Doc,
    heads: Sequence[Sequence[int] | npt.NDArray[np.integer[Any]]],
    labels: Hashes | None = None,
    *,
    root_label: str = "ROOT",
    fallback_label: str = "dep",
) -> None:
    """Writes one tree per sentence to the Doc: heads, deps and sentence starts, all or nothing.

    doc (Doc): Any tree that it has is replaced.
    heads (Sequence[ArrayLike]): For each sentence, in order, heads as in CoNLL-U: 0 = ROOT, j = token j of the sentence.
    labels (Optional[np.ndarray]): For each token of the Doc the hash of its label, 0 where there is none (`hash_labels`). A
        token without one keeps the dep that it has if its head stays the same, and else gets `fallback_label`.
    root_label (str): The label of the root, whatever `labels` says. No arc keeps it, or "root", from a tree before.
    fallback_label (str): See `labels`.
    RAISES (HeadsError): If the heads of a sentence are not a tree with one root: spaCy would take them without a word.
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

    # Written with the heads, the sentence starts would be overwritten by what spaCy derives from them, which is wrong
    # for very tangled trees.
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
        f"{describe(doc)}: a tree is so tangled (non-projective) that spaCy gets doc.sents wrong when it restores this Doc from "
        "bytes, a DocBin or a worker process. Heads and deps are not affected. Call spacy_mindroot.restore_sentences(doc) on "
        "the restored Doc.",
        TangledTreeWarning,
        stacklevel=3,
    )


def restore_sentences(doc: Doc) -> None:
    """Sets the sentence starts of a parsed Doc from its trees: a sentence is what hangs together.

    For Docs that were restored from bytes, a DocBin or a worker process: spaCy derives their sentence starts from the left
    edges of the roots, and gives up on very tangled trees. Each sentence must be one tree, as `mind_root` writes them: arcs
    that cross from one to another would join them, and a token without a head stands alone.
    """
    if len(doc) == 0 or not doc.has_annotation("DEP"):
        return
    tokens = np.arange(len(doc))
    heads = doc.to_array([HEAD]).view(np.int64) + tokens
    begun = np.bincount(np.minimum(tokens, heads), minlength=len(doc))
    ended = np.bincount(np.maximum(tokens, heads), minlength=len(doc))
    arcs_across = np.cumsum(begun - ended)  # between each token and the next
    sent_starts = np.full(len(doc), -1, dtype=np.int64)
    sent_starts[0] = 1
    sent_starts[1:][arcs_across[:-1] == 0] = 1
    doc.from_array([SENT_START], sent_starts.view(np.uint64))


def hash_labels(strings: StringStore, names: Sequence[str | None], root_label: str = "ROOT") -> Hashes:
    """The hash of each label, to write as dep; 0 for one that only the root may have ("root" in upper or lower case, too)."""
    own = root_label.lower()
    hashes = [0 if not name or is_root_label(name) or name.lower() == own else strings.add(name) for name in names]
    return np.array(hashes, dtype=np.uint64)


def labels_of_trees(
    doc: Doc,
    arc_labels: Sequence[npt.ArrayLike],
    label_hashes: Hashes,
    matrices: Sequence[FloatArray],
    heads: Sequence[Heads],
) -> Hashes:
    """The labels of the arcs that are in the trees: the hash for each token of the Doc.

    arc_labels (Sequence[ArrayLike]): For each sentence the number of the best label of each arc, (n, n+1) like the scores.
    label_hashes (np.ndarray): The hash of each label.
    matrices (Sequence[np.ndarray]): The scores.
    heads (Sequence[np.ndarray]): The heads, 0 = ROOT.
    RAISES (LabelsError): If the labels do not fit the arc scores or each other.
    """
    if len(arc_labels) != len(matrices):
        raise LabelsError(
            f"{describe(doc)} has doc._.arc_labels for {len(arc_labels)} sentences, but arc scores for {len(matrices)}."
        )
    hashes: list[Hashes] = []
    for k, (labels, matrix, sentence) in enumerate(zip(arc_labels, matrices, heads, strict=True)):
        labels = np.asarray(labels)
        if labels.shape != matrix.shape or labels.dtype.kind not in "iu":
            raise LabelsError(
                f"{describe(doc, k)}: arc labels are ints, of shape {matrix.shape} for these scores; found dtype {labels.dtype}, "
                f"shape {labels.shape}."
            )
        chosen = labels[np.arange(len(sentence)), sentence]
        try:
            hashes.append(label_hashes.take(chosen))
            out_of_range = labels.dtype.kind == "i" and bool((chosen < 0).any())
        except IndexError:
            out_of_range = True
        if out_of_range:
            i = int(((chosen < 0) | (chosen >= len(label_hashes))).argmax())
            raise LabelsError(
                f"{describe(doc, k)}: the label of the arc from head {sentence[i]} to dependent {i + 1} is {chosen[i]}, but "
                f"doc._.arc_label_names has {len(label_hashes)} names, counted from 0."
            )
    if len(hashes) == 1:
        return hashes[0]
    return np.concatenate([label_hashes[:0], *hashes])


def _join(heads: Sequence[Sequence[int] | npt.NDArray[np.integer[Any]]]) -> Heads:
    """All heads end to end. Those beyond 32 bits stay out of range when they are cut off."""
    if heads and all(type(sentence) is np.ndarray and sentence.dtype == np.int32 for sentence in heads):
        return np.concatenate(heads) if len(heads) > 1 else np.ascontiguousarray(heads[0])
    trees = [to_heads(sentence) for sentence in heads]
    return np.concatenate([np.empty(0, np.int64), *trees]).clip(-1, np.iinfo(np.int32).max).astype(np.int32)


def _malformed(doc: Doc, k: int, heads: npt.NDArray[np.int64]) -> HeadsError:
    """Says what is wrong with the heads of sentence k."""
    where, n = describe(doc, k), len(heads)
    wrong = (heads < 0) | (heads > n)
    if wrong.any():
        dependent = int(wrong.argmax()) + 1
        return HeadsError(
            f"{where}: the head of token {dependent} is {heads[dependent - 1]}, but heads count from the start of their "
            f"sentence, from 0 (ROOT) to {n}."
        )
    if not is_tree(heads):
        return HeadsError(
            f"{where}: the heads {_listed(heads.tolist())} are not a tree, since some tokens hang on each other in a cycle."
        )
    return HeadsError(
        f"{where}: the tree has {count_roots(heads)} roots. spaCy would split the sentence at each; decode with single_root=True."
    )


def _choose_deps(
    doc: Doc,
    before: Hashes,
    offsets: npt.NDArray[np.int64],
    labels: Hashes | None,
    root_label: str,
    fallback: str,
) -> Hashes:
    """The hash of each token's dep; see `write_trees`. `before` holds heads and deps as they are."""
    strings = doc.vocab.strings
    deps = before[:, 1].copy()
    if np.count_nonzero(deps):  # several times as fast as deps.any()
        deps[before[:, 0] != offsets.view(np.uint64)] = 0
        for dep in set(deps.tolist()) - {0}:
            if not hash_labels(strings, [strings[dep]], root_label)[0]:
                deps[deps == dep] = 0
    if labels is not None:
        labels = np.ascontiguousarray(labels, dtype=np.uint64)
    _annotate.fill_labels(deps, offsets, labels, strings.add(root_label), strings.add(fallback))
    return deps


def _listed(numbers: Sequence[int]) -> str:
    """At most ten of them, for a message."""
    shown = ", ".join(map(str, numbers[:10]))
    return f"{shown}, ... ({len(numbers)} in all)" if len(numbers) > 10 else shown
