"""Heads and labels onto the Doc. The only place that turns the core's heads (0 = ROOT) into spaCy's, and that writes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.tokens import Doc

from .decoding import Heads
from .docs import describe
from .errors import HeadsError, LabelsError, SentenceMismatchError
from .scores import FloatArray
from .trees import count_roots, is_tree, to_heads


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
    if not doc.has_annotation("SENT_START"):
        return
    wanted = np.cumsum([0, *lengths[:-1]])
    present = doc.to_array([SENT_START]) == 1
    present[0] = True
    if doc.has_annotation("DEP", require_complete=True):
        agree = bool(present[wanted].all())
    else:
        agree = np.array_equal(np.flatnonzero(present), wanted)
    if not agree:
        found = np.diff(np.flatnonzero(np.append(present, True)))
        raise SentenceMismatchError(
            f"{describe(doc)} has sentences of {_listed(found.tolist())} tokens, but its arc scores are for sentences of "
            f"{_listed(lengths)}. Set the boundaries before the Doc is scored, and don't change them between."
        )


def write_trees(
    doc: Doc,
    heads: Sequence[npt.ArrayLike],
    labels: Sequence[Sequence[str | None]] | None = None,
    *,
    root_label: str = "ROOT",
    fallback_label: str = "dep",
) -> None:
    """Writes one tree per sentence to the Doc: heads, deps and sentence starts, all or nothing.

    doc (Doc): Any tree that it has is replaced.
    heads (Sequence[ArrayLike]): For each sentence, in order, heads as in CoNLL-U: 0 = ROOT, j = token j of the sentence.
    labels (Sequence[Sequence[Optional[str]]]): For each sentence the labels of the arcs, None where there is none. A
        token without one keeps the dep that it has if its head stays the same, and else gets `fallback_label`.
    root_label (str): The label of the root. On any other arc it (or "root", in upper or lower case) counts as no label.
    fallback_label (str): See `labels`.
    RAISES (HeadsError): If the heads of a sentence are not a tree with one root: spaCy would take them without a word.
    """
    trees = [to_heads(sentence) for sentence in heads]
    for k, tree in enumerate(trees):
        _check_tree(doc, k, tree)
        if labels is not None and (len(labels) != len(trees) or len(labels[k]) != len(tree)):
            raise LabelsError(
                f"{describe(doc, k)}: there are labels for other numbers of sentences or tokens than heads."
            )
    if not fallback_label or not root_label:
        raise LabelsError("root_label and fallback_label must not be empty: spaCy hides heads without a label.")
    lengths = [len(tree) for tree in trees]
    if sum(lengths) != len(doc):
        raise HeadsError(f"{describe(doc)} has {len(doc)} tokens, but there are heads for {sum(lengths)}.")
    if len(doc) == 0:
        return

    starts = np.cumsum([0, *lengths[:-1]])
    flat = np.concatenate(trees)
    tokens = np.arange(len(doc))
    is_root = flat == 0
    offsets = np.where(is_root, 0, flat - 1 + np.repeat(starts, lengths) - tokens).view(np.uint64)
    deps = _choose_deps(doc, offsets, is_root, labels, root_label, fallback_label)
    sent_starts = np.full(len(doc), -1, dtype=np.int64)
    sent_starts[starts] = 1

    # Written with the heads, the sentence starts would be overwritten by what spaCy derives from them, which is wrong
    # for very tangled trees.
    before = doc.to_array([HEAD, DEP, SENT_START])
    doc.from_array([HEAD, DEP], np.column_stack([offsets, deps]))
    derived = doc.to_array([SENT_START]).view(np.int64)
    doc.from_array([SENT_START], sent_starts.view(np.uint64))
    if not np.array_equal(derived, sent_starts):
        try:
            _warn_of_tangle(doc)
        except TangledTreeWarning:  # warnings are errors here
            doc.from_array([HEAD, DEP], before[:, :2])
            doc.from_array([SENT_START], before[:, 2])
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


def name_labels(
    doc: Doc, arc_labels: Sequence[npt.ArrayLike], matrices: Sequence[FloatArray], heads: Sequence[Heads]
) -> list[list[str]]:
    """The names of the labels of the arcs that are in the trees, from `doc._.arc_label_names`.

    arc_labels (Sequence[ArrayLike]): For each sentence the number of the best label of each arc, (n, n+1) like the scores.
    matrices (Sequence[np.ndarray]): The scores.
    heads (Sequence[np.ndarray]): The heads, 0 = ROOT.
    RAISES (LabelsError): If they do not fit the arc scores or each other.
    """
    names = doc._.arc_label_names
    if names is None:
        raise LabelsError(f"{describe(doc)} has doc._.arc_labels, but no doc._.arc_label_names to say what they mean.")
    if len(arc_labels) != len(matrices):
        raise LabelsError(
            f"{describe(doc)} has doc._.arc_labels for {len(arc_labels)} sentences, but arc scores for {len(matrices)}."
        )
    chosen = []
    for k, (labels, matrix, sentence) in enumerate(zip(arc_labels, matrices, heads, strict=True)):
        labels = np.asarray(labels)
        if labels.shape != matrix.shape or labels.dtype.kind not in "iu":
            raise LabelsError(
                f"{describe(doc, k)}: arc labels are ints, of shape {matrix.shape} for these scores; found dtype {labels.dtype}, "
                f"shape {labels.shape}."
            )
        indices = labels[np.arange(len(sentence)), sentence]
        wrong = (indices < 0) | (indices >= len(names))
        if wrong.any():
            i = int(wrong.argmax())
            raise LabelsError(
                f"{describe(doc, k)}: the label of the arc from head {sentence[i]} to dependent {i + 1} is {indices[i]}, but "
                f"doc._.arc_label_names has {len(names)} names, counted from 0."
            )
        chosen.append([str(names[index]) for index in indices.tolist()])
    return chosen


def _check_tree(doc: Doc, k: int, heads: npt.NDArray[np.int64]) -> None:
    where, n = describe(doc, k), len(heads)
    if n and (heads.min() < 0 or heads.max() > n):
        dependent = int(((heads < 0) | (heads > n)).argmax()) + 1
        raise HeadsError(
            f"{where}: the head of token {dependent} is {heads[dependent - 1]}, but heads count from the start of their "
            f"sentence, from 0 (ROOT) to {n}."
        )
    if not is_tree(heads):
        raise HeadsError(
            f"{where}: the heads {_listed(heads.tolist())} are not a tree, since some tokens hang on each other in a cycle."
        )
    roots = count_roots(heads)
    if roots != 1:
        raise HeadsError(
            f"{where}: the tree has {roots} roots. spaCy would split the sentence at each; decode with single_root=True."
        )


def _choose_deps(
    doc: Doc,
    offsets: npt.NDArray[np.uint64],
    is_root: npt.NDArray[np.bool_],
    labels: Sequence[Sequence[str | None]] | None,
    root_label: str,
    fallback_label: str,
) -> npt.NDArray[np.uint64]:
    """The hash of each token's dep; see `write_trees`."""
    strings = doc.vocab.strings
    root_labels = ("root", root_label.lower())
    old_offsets, deps = doc.to_array([HEAD, DEP]).T
    deps = np.where(old_offsets == offsets, deps, np.uint64(0))
    for dep in set(deps.tolist()):
        if dep and strings[dep].lower() in root_labels:
            deps[deps == dep] = 0
    if labels is not None:
        given = [
            strings.add(name) if name and name.lower() not in root_labels else 0 for names in labels for name in names
        ]
        deps = np.where(given, np.array(given, dtype=np.uint64), deps)
    deps[deps == 0] = strings.add(fallback_label)
    deps[is_root] = strings.add(root_label)
    return deps


def _listed(numbers: Sequence[int]) -> str:
    """At most ten of them, for a message."""
    shown = ", ".join(map(str, numbers[:10]))
    return f"{shown}, ... ({len(numbers)} in all)" if len(numbers) > 10 else shown
