"""The scorer spacy-mindroot.tree_scorer.v1: evaluates trees for `spacy train` and `spacy evaluate`."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.scorer import PRFScore, Scorer
from spacy.training import Example

from ..doc.alignment import UNALIGNED, one_to_one
from ..doc.reading import read_heads, sentence_bounds
from ..labels import SPACY_ROOT, UD_ROOT

__all__ = ["SCORES", "TreeScorer", "make_tree_scorer"]

SCORES = (
    *("dep_uas", "dep_las", "dep_las_universal", "dep_uem", "dep_lem", "root_acc", "single_root"),
    "dep_las_per_type",
)


def make_tree_scorer(ignore_punct: bool = False) -> "TreeScorer":
    """Make a function that evaluates trees against the reference, sentence by sentence of the reference.

    ignore_punct (bool): Whether to leave out the tokens whose gold label is `punct` or `p`, whatever label they are
        given.
    """
    return TreeScorer(ignore_punct)


@dataclass(frozen=True)
class TreeScorer:
    """Evaluates trees; see `make_tree_scorer` for the setting.

    A token counts if the reference has a head for it. It is right if it is aligned one to one, and its head is aligned
    to the gold head. If the tokens differ from the gold tokens, attachment scores are F-scores; white space does not
    count, as in spaCy's own scorer.

    dep_uas, dep_las (float): Share of tokens with the right head, or with the right head and label. ROOT's label is
        right in upper or lower case. Subtypes count: `nmod:poss` is not `nmod`.
    dep_las_universal (float): As `dep_las`, but labels are compared up to the colon, as the scripts of the CoNLL shared
        tasks do: `nmod:poss` is right for `nmod`.
    dep_uem, dep_lem (float): Share of sentences with all heads right, or with all heads and labels right.
    root_acc (float): Share of sentences whose only root is the gold root, of those with a known gold root.
    single_root (float): Share of sentences of the reference with exactly one root among their tokens. A sentence that a
        predicted boundary splits has two.
    dep_las_per_type (dict): Precision, recall and F-score of each label.
    sents_p, sents_r, sents_f (float): Precision, recall and F-score of the sentences, as in spaCy.

    All are None if the reference has no trees.
    """

    ignore_punct: bool = False

    def __call__(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        examples = list(examples)
        counts = _Counts()
        for example in examples:
            self._count(example, counts)
        if not counts.sentences:
            scores: dict[str, Any] = dict.fromkeys(SCORES)
        else:
            n = counts.sentences
            scores = {
                "dep_uas": counts.heads.fscore,
                "dep_las": counts.labelled.fscore,
                "dep_las_universal": counts.universal.fscore,
                "dep_uem": counts.heads_match / n,
                "dep_lem": counts.labels_match / n,
                "root_acc": counts.root_right / counts.with_root if counts.with_root else 0.0,
                "single_root": counts.single_root / n,
                "dep_las_per_type": {label: score.to_dict() for label, score in sorted(counts.per_type.items())},
            }
        return scores | _sentence_scores(examples)

    def _count(self, example: Example, counts: "_Counts") -> None:
        reference, predicted = example.reference, example.predicted
        if not len(reference) or not reference.has_annotation("DEP"):
            return
        gold_heads, gold_deps = read_heads(reference)
        own_heads, own_deps = read_heads(predicted)
        to_reference, to_predicted = one_to_one(example)
        strings = reference.vocab.strings

        # For each reference token: whether it is aligned, and whether its head is right.
        aligned = to_predicted != UNALIGNED
        own_head_in_gold = np.full(len(reference), UNALIGNED)
        own_head_in_gold[aligned] = to_reference[own_heads[to_predicted[aligned]]]
        has_head = np.zeros(len(reference), dtype=bool)
        has_head[aligned] = own_deps[to_predicted[aligned]] != 0
        right = has_head & (own_head_in_gold == gold_heads)
        own_dep_in_gold = np.zeros(len(reference), dtype=np.uint64)
        own_dep_in_gold[aligned] = own_deps[to_predicted[aligned]]
        names = _names(strings, gold_deps)
        own_names = _names(predicted.vocab.strings, own_dep_in_gold)
        labelled = right & (names == own_names)
        universal = right & (_universal(names) == _universal(own_names))
        counted = gold_deps != 0
        if self.ignore_punct:
            counted &= (names != "punct") & (names != "p")

        # A predicted token without an aligned token counts against precision; one aligned to a token that is left out
        # does not.
        is_space = np.array([token.is_space for token in predicted], dtype=bool)
        surplus = int(((to_reference == UNALIGNED) & ~is_space).sum())
        _add(counts.heads, right & counted, counted, int((counted & aligned).sum()) + surplus)
        _add(counts.labelled, labelled & counted, counted, int((counted & aligned).sum()) + surplus)
        _add(counts.universal, universal & counted, counted, int((counted & aligned).sum()) + surplus)
        for name in set(names[counted]) | set(own_names[counted & aligned]):
            score = counts.per_type[str(name) or "(none)"]
            true = int((labelled & counted & (names == name)).sum())
            score.tp += true
            score.fn += int((counted & (names == name)).sum()) - true
            score.fp += int((counted & aligned & (own_names == name)).sum()) - true

        gold_root = (gold_heads == np.arange(len(reference))) & (gold_deps != 0)
        own_root = np.zeros(len(reference), dtype=bool)
        own_root[aligned] = own_heads[to_predicted[aligned]] == to_predicted[aligned]
        roots = _roots_by_reference_token(example, own_heads)
        for start, end in sentence_bounds(reference):
            tokens = slice(start, end)
            if not counted[tokens].any():
                continue
            counts.sentences += 1
            counts.heads_match += bool(right[tokens][counted[tokens]].all())
            counts.labels_match += bool(labelled[tokens][counted[tokens]].all())
            single = int(roots[tokens].sum()) == 1
            counts.single_root += single
            counts.with_root += bool(gold_root[tokens].any())
            counts.root_right += single and bool((own_root[tokens] & gold_root[tokens]).any())


def _roots_by_reference_token(example: Example, own_heads: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the number of predicted roots in each reference token. A root across several tokens is in the first."""
    alignment = example.alignment.x2y
    counts, targets = np.asarray(alignment.lengths), np.asarray(alignment.data)
    is_root = (own_heads == np.arange(len(own_heads))) & (counts > 0)
    first = targets[(np.cumsum(counts) - counts)[is_root]]
    return np.bincount(first, minlength=len(example.reference))


@dataclass
class _Counts:
    heads: PRFScore = field(default_factory=PRFScore)
    labelled: PRFScore = field(default_factory=PRFScore)
    universal: PRFScore = field(default_factory=PRFScore)
    per_type: dict[str, PRFScore] = field(default_factory=lambda: defaultdict(PRFScore))
    sentences: int = 0
    with_root: int = 0
    heads_match: int = 0
    labels_match: int = 0
    root_right: int = 0
    single_root: int = 0


def _names(strings: Any, deps: npt.NDArray[np.uint64]) -> npt.NDArray[np.str_]:
    names = [strings[dep] if dep else "" for dep in deps.tolist()]
    return np.array([UD_ROOT if name == SPACY_ROOT else name for name in names], dtype=np.str_)


def _universal(names: npt.NDArray[np.str_]) -> npt.NDArray[np.str_]:
    """Return labels without subtypes."""
    return np.array([name.partition(":")[0] for name in names.tolist()], dtype=np.str_)


def _add(score: PRFScore, right: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_], predicted: int) -> None:
    true = int(right.sum())
    score.tp += true
    score.fn += int(counted.sum()) - true
    score.fp += predicted - true


def _sentence_scores(examples: list[Example]) -> dict[str, Any]:
    scores: dict[str, Any] = Scorer.score_spans(
        examples,
        "sents",
        getter=lambda doc, attr: doc.sents,
        has_annotation=lambda doc: doc.has_annotation("SENT_START"),
    )
    scores.pop("sents_per_type", None)
    return scores
