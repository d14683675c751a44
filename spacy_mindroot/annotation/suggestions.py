"""Suggestions of a parser for a sentence: the best tree around what is decided, and other arcs, with probabilities."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.language import Language

from ..conllu import Sentence
from ..conllu.columns import FEATS, LEMMA, UPOS, XPOS
from ..conllu.docs import sentence_without_tree
from ..constraints import Constraints
from ..decoding import decode_matrices
from ..doc.reading import read_annotated
from ..errors import MindRootError
from ..inference.arc_confidence import confidences_of
from ..inference.calibration import Calibration, fit_to_trees, label_probabilities
from ..labels import NO_LABEL, SPACY_ROOT, UD_ROOT
from ..pipeline.arc_labels import ArcLabels
from ..pipeline.scoring import find_mind_root, scored
from ..rules import Rules
from ..rules.labelled import Problem
from ..scores import FloatArray
from ..trees import MISSING, is_projective, is_tree
from .decisions import Work

__all__ = ["Alternative", "Scores", "Suggester", "Suggestion"]

_KEPT = 64  # sentences whose scores are in memory
_PRIOR = 1000.0  # what an arc of the file is worth: more than all scores
_ALTERNATIVES = 3

Probs = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """The scores of a sentence of n words by a parser."""

    arcs: FloatArray  # (n, n+1)
    labels: Probs  # log-probabilities, (n, n+1, labels)
    names: list[str]
    cells: dict[tuple[int, int], str]  # what the pipeline predicts for other columns
    projective: bool
    known: dict[str, Probs] = field(default_factory=dict)  # what was computed of it


class Alternative(NamedTuple):
    """Another arc to a word, and the probability of its head, or, with the same head, of its label."""

    head: int
    label: str
    prob: float


class Suggestion(NamedTuple):
    """A tree, and how sure the parser is of it."""

    heads: list[int]  # MISSING where nothing is known
    labels: list[str]  # "_" where nothing is known
    head_probs: Sequence[float | None]
    label_probs: Sequence[float | None]
    marginals: Probs | None
    alternatives: list[list[Alternative]]  # the most probable other heads of each word, each with its best label
    other_labels: list[list[Alternative]]  # the most probable other labels of the same arc
    certified: bool | None = None  # whether the tree is certainly the best one under rules; None without rules


class Suggester:
    """A parser, or none, and its scores of the sentences that were looked at last.

    RAISES (CorpusError): If the pipeline has no scores of arcs.
    """

    def __init__(self, nlp: Language | None) -> None:
        self.nlp = nlp
        self._cache: OrderedDict[tuple[str, ...], Scores] = OrderedDict()
        self.calibration = Calibration()
        if nlp is not None:
            _, component = find_mind_root(nlp)
            self.calibration = component.calibration or Calibration()
            self._projective = component.projective

    def scores(self, sentence: Sentence) -> Scores | None:
        """Return the scores of a sentence; None without a parser, or if it can't parse the sentence."""
        if self.nlp is None:
            return None
        words = tuple(sentence.words)
        if words not in self._cache:
            try:
                self._cache[words] = self._scored(self.nlp, sentence)
            except MindRootError:  # it is too long for this parser, say
                return None
            while len(self._cache) > _KEPT:
                self._cache.popitem(last=False)
        self._cache.move_to_end(words)
        return self._cache[words]

    def _scored(self, nlp: Language, sentence: Sentence) -> Scores:
        annotated = read_annotated(sentence_without_tree(nlp.vocab, sentence))
        ((doc, sourced, _),) = scored(nlp, [annotated])
        names = [UD_ROOT if name == SPACY_ROOT else name or "dep" for name in sourced.label_names or ["dep"]]
        n = len(doc)
        own = None if sourced.arc_labels is None else sourced.arc_labels[0]
        labels = own.scores_of_all_arcs() if isinstance(own, ArcLabels) else None
        if labels is None:  # only the best label of each arc is known
            labels = np.full((n, n + 1, len(names)), -np.inf)
            chosen = np.zeros((n, n + 1), dtype=np.int64) if own is None else np.asarray(own, dtype=np.int64)
            np.put_along_axis(labels, chosen[:, :, None], 0.0, axis=2)
        cells: dict[tuple[int, int], str] = {}
        for number, token in enumerate(doc, 1):
            found = ((LEMMA, token.lemma_), (UPOS, token.pos_), (XPOS, token.tag_), (FEATS, str(token.morph)))
            cells |= {(number, column): "_".join(cell.split()) for column, cell in found if cell}
        arcs, of_labels = (np.asarray(each, dtype=np.float64) for each in (sourced.matrices[0], labels))
        return Scores(arcs, of_labels, names, cells, self._projective)

    def suggest(
        self,
        scores: Scores | None,
        fixed: Mapping[int, tuple[int, str]],
        heads: Sequence[int],
        labels: Sequence[str],
        *,
        rules: Rules | None = None,
        pos: Sequence[str | None] | None = None,
    ) -> Suggestion:
        """Return the best tree with the arcs that are fixed, and as many arcs of the file as possible.

        fixed (Mapping): Head and label of words, from 1, which some tree has: see `Work.fix`.
        heads, labels (Sequence): Those of the file; MISSING and "_" where there are none.
        rules, pos: If given, the tree meets the rules, which are for these parts of speech. Raises DecodingError if
            none does.
        """
        n = len(heads)
        known = {word: (head, labels[word - 1]) for word, head in enumerate(heads, 1) if head != MISSING} | {**fixed}
        if scores is None:
            together = Work()
            for own in (known, fixed):
                for word, (head, label) in own.items():
                    together.fix(word, head, label)
            arcs = [together.fixed.get(word, (MISSING, "_")) for word in range(1, n + 1)]
            return Suggestion(
                [head for head, _ in arcs],
                [label for _, label in arcs],
                [None] * n,
                [None] * n,
                None,
                [[]] * n,
                [[]] * n,
            )
        constraints = Constraints([(word, head) for word, (head, _) in fixed.items()], [])
        bonus = np.zeros_like(scores.arcs)
        for word, (head, _) in known.items():
            bonus[word - 1, head] = 0 if word in fixed else _PRIOR
        certified = None
        if rules is not None:
            problem = _problem(scores, known, fixed, bonus)
            found = replace(problem, rules=rules, pos=pos, constraints=constraints).decode()
            tree, chosen, certified = found.heads, found.labels, found.optimal
        else:
            tree = np.array([known.get(word, (MISSING, ""))[0] for word in range(1, n + 1)], dtype=np.int32)
            if not is_tree(tree, single_root=True):  # otherwise that is it, even if its arcs cross
                tree = _decoded(constraints.mask(scores.arcs + bonus), scores.projective)
            best = scores.labels[np.arange(n), tree].argmax(axis=1)
            chosen = [scores.names[k] for k in best.tolist()]
            for word, (head, label) in known.items():
                if tree[word - 1] == head and label not in NO_LABEL:
                    chosen[word - 1] = label
        return self._described(scores, fixed, constraints, tree, chosen)._replace(certified=certified)

    def _described(
        self,
        scores: Scores,
        fixed: Mapping[int, tuple[int, str]],
        constraints: Constraints,
        tree: npt.NDArray[np.int32],
        chosen: list[str],
    ) -> Suggestion:
        names = scores.names
        projective = scores.projective and is_projective(tree)
        distribution = self.calibration.distribution(projective=projective)
        _, (found,) = confidences_of([constraints.mask(scores.arcs)], [tree], **distribution, marginals=True)
        marginals = np.minimum(found, 1.0)
        of_words = marginals.copy()
        for word in fixed:  # what the parser would say of it
            of_words[word - 1] = self._freely(scores)[word - 1]
        label_probs = self._of_labels(scores)
        heads, labels, head_probs, probs_of_labels = [], [], [], []
        for i, (head, label) in enumerate(zip(tree.tolist(), chosen, strict=True)):
            of_label = label_probs[i, head]
            head_probs.append(float(of_words[i, head]))
            probs_of_labels.append(float(of_label[names.index(label)]) if label in names else 0.0)
            heads.append(
                [
                    Alternative(other, names[int(label_probs[i, other].argmax())], float(of_words[i, other]))
                    for other in _first(of_words[i], head)
                ]
            )
            own = names.index(label) if label in names else -1
            labels.append([Alternative(head, names[k], float(of_label[k])) for k in _first(of_label, own)])
        return Suggestion(tree.tolist(), chosen, head_probs, probs_of_labels, marginals, heads, labels)

    def _freely(self, scores: Scores) -> Probs:
        """Return the probability of every arc if nothing is decided."""
        if "arcs" not in scores.known:
            tree = _decoded(scores.arcs, scores.projective)
            distribution = self.calibration.distribution(projective=scores.projective)
            _, (found,) = confidences_of([scores.arcs], [tree], **distribution, marginals=True)
            scores.known["arcs"] = np.minimum(found, 1.0)
        return scores.known["arcs"]

    def _of_labels(self, scores: Scores) -> Probs:
        """Return the probability of every label of every arc, (n, n+1, labels)."""
        if "labels" not in scores.known:
            flat = scores.labels.reshape(-1, scores.labels.shape[-1])
            possible, probs = np.isfinite(flat).any(axis=1), np.zeros_like(flat)
            told = (self.calibration.label_temperature, self.calibration.label_lapse)
            probs[possible] = label_probabilities(flat[possible], *told)
            scores.known["labels"] = probs.reshape(scores.labels.shape)
        return scores.known["labels"]

    def calibrate(self, held_out: Sequence[tuple[Scores, Sequence[int]]]) -> None:
        """Fit the probabilities of heads to sentences that the parser had not learnt, with their heads.

        What their scores come from may be an earlier parser: those that are trained on few sentences are alike.
        """
        matrices = [scores.arcs for scores, _ in held_out]
        projective = all(scores.projective for scores, _ in held_out)
        trees, faults = decode_matrices(matrices, projective=projective)
        if not faults:
            gold = [np.array(heads, dtype=np.int32) for _, heads in held_out]
            fitted = fit_to_trees(matrices, trees, gold, projective=projective)
            self.calibration = replace(
                self.calibration, arc_temperature=fitted.arc_temperature, arc_lapse=fitted.arc_lapse
            )
            for scores in self._cache.values():
                scores.known.clear()

    def labels_of(self, scores: Scores | None, word: int, head: int) -> dict[str, float]:
        """Return the probability of each label of an arc, the most probable first; {} without a parser."""
        if scores is None:
            return {}
        probs = self._of_labels(scores)[word - 1, head]
        return {scores.names[k]: float(probs[k]) for k in np.argsort(-probs, kind="stable").tolist() if probs[k] > 0}


def _problem(
    scores: Scores, known: Mapping[int, tuple[int, str]], fixed: Mapping[int, tuple[int, str]], bonus: FloatArray
) -> Problem:
    """Return the search for the best labelled tree, in which fixed labels are the only ones of their arcs."""
    names = list(dict.fromkeys([*scores.names, *(label for _, label in known.values() if label not in NO_LABEL)]))
    labels = np.full((*bonus.shape, len(names)), -np.inf)
    labels[:, :, : len(scores.names)] = scores.labels
    for word, (head, label) in known.items():
        if label not in NO_LABEL:
            if word in fixed:
                labels[word - 1, head] = -np.inf
            labels[word - 1, head, names.index(label)] = 0.0 if word in fixed else _PRIOR / 2
    return Problem(scores.arcs + bonus, labels, names, Rules(), projective=scores.projective)


def _first(probs: Probs, own: int) -> list[int]:
    """Return the most probable choices besides one's own, the most probable first. Ties go to the first."""
    order = np.argsort(-probs, kind="stable")[: _ALTERNATIVES + 1].tolist()
    return [k for k in order if k != own and probs[k] > 0][:_ALTERNATIVES]


def _decoded(matrix: FloatArray, projective: bool) -> npt.NDArray[np.int32]:
    """Return the best tree. If arcs that cross are fixed, it is not projective."""
    for without_crossing in [True, False][not projective :]:
        heads, faults = decode_matrices([matrix], projective=without_crossing)
        if not faults:
            return heads[0]
    raise MindRootError("No tree has these arcs.")  # `Work.fix` does not let that happen
