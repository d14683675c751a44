"""Trees that are valid under rules, for `mind_root`: which rules apply to a Doc, and the best tree of each sentence."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from spacy.attrs import MORPH, POS
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..constraints import Constraints
from ..decoding import Heads
from ..doc.extensions import describe
from ..doc.reading import conllu_heads, sentence_bounds
from ..doc.targets import read_targets
from ..errors import LabelsError, RulesError
from ..rules import Rules, to_rules
from ..rules.labelled import Problem, find_tree_on_demand
from ..rules.learning import Tree
from ..scores import FloatArray
from ..trees import MISSING, is_tree
from .arc_labels import ArcLabels, Labels
from .sources import SourcedScores

__all__ = ["LEARNT", "SearchLimitWarning", "ValidTrees", "keep_json", "labelled_trees", "pos_of_rules"]

LEARNT = "learnt"
_FILE = "rules.json"
_POS_AND_MORPH = (POS, MORPH)
_POS = {number: name for name, number in IDS.items()}
_EXT_POS: dict[int, str] = {}
_MOST_EXT_POS = 1 << 16


class SearchLimitWarning(UserWarning):
    """The search for the best valid tree reached its limit. The tree that was written is valid, but perhaps another one
    is better."""


class _ChosenLabels(ArcLabels):
    """The labels of one tree, which were chosen together with its arcs."""

    def __init__(self, labels: npt.NDArray[np.int32], all_arcs: ArcLabels) -> None:
        self.shape, self.dtype = all_arcs.shape, all_arcs.dtype
        self._labels, self._all_arcs = labels, all_arcs

    def of_tree(self, heads: npt.NDArray[np.integer[Any]]) -> Labels:
        return self._labels.astype(self.dtype)

    def of_all_arcs(self) -> Labels:
        return self._all_arcs.of_all_arcs()

    def scores_of_tree(self, heads: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.floating[Any]] | None:
        return self._all_arcs.scores_of_tree(heads)

    def choose(self, scores: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int32]:
        return self._labels


class ValidTrees:
    """The setting `rules` of `mind_root`, and the rules that were learnt from a treebank.

    setting (Optional[str | Mapping]): None, "ud", "learnt", or rules as `Rules.from_dict` takes them.
    name (str): The name of the component, for messages.
    """

    def __init__(self, setting: str | Mapping[str, Any] | None, name: str) -> None:
        self.name = name
        self.learnt: Rules | None = None
        self._fixed: Rules | None = None
        self.change(setting)

    def change(self, setting: str | Mapping[str, Any] | None) -> None:
        """Take a new setting."""
        if setting is None or setting == LEARNT:
            self._fixed = None
        elif isinstance(setting, str) and setting != "ud":
            raise RulesError(f'{self.name}: rules are null, "ud", "learnt" or a table of rules; found {setting!r}.')
        else:
            self._fixed = to_rules(setting, what=self.name)
        self.setting = setting

    def __bool__(self) -> bool:
        return self.setting is not None

    @property
    def rules(self) -> Rules:
        """The rules that apply."""
        if self._fixed is not None:
            return self._fixed
        if self.learnt is None:
            raise RulesError(
                f'{self.name}: rules = "learnt", but none have been learnt. They are learnt from the training corpus '
                "when the pipeline is initialized, as `spacy train` does; or write them to a file with `spacy mindroot "
                "rules` and use them as the setting."
            )
        return self.learnt

    def decode(
        self,
        doc: Doc,
        sourced: SourcedScores,
        constraints: Sequence[Constraints] | None,
        masked: Sequence[FloatArray],
        *,
        projective: bool,
    ) -> SourcedScores:
        """Return the input with the best valid trees as its heads, and their labels as its labels.

        `masked` are the arc scores of each sentence under its constraints. The parts of speech of the Doc count where
        they are set.
        """
        rules = self.rules
        if sourced.arc_labels is None or sourced.label_names is None:
            raise LabelsError(f"{self.name}: {describe(doc)} has no labels for the arcs, which rules need. {_REMEDY}")
        names = tuple([name or "" for name in sourced.label_names])
        pos = pos_of_rules(doc)
        heads: list[Heads] = []
        labels: list[ArcLabels] = []
        start = 0
        for k, (matrix, own) in enumerate(zip(masked, sourced.arc_labels, strict=True)):
            end = start + len(matrix)
            own_pos = None if pos is None else pos[start:end]
            found = None
            if isinstance(own, ArcLabels) and own.shape == matrix.shape:  # the label scores of few arcs may be enough
                found = find_tree_on_demand(matrix, own.scores_of_arcs, names, rules, own_pos, projective=projective)
            if found is None:
                all_scores = _scores_of_all_labels(doc, k, own, len(matrix), len(names))
                constraint = constraints[k] if constraints else None
                problem = Problem(sourced.matrices[k], all_scores, names, rules, own_pos, constraint, projective)
                words = [token.text for token in doc[start:end]]
                found = problem.solve(where=describe(doc, k), words=words, sentence=k)
            if found.bound > found.value:
                warnings.warn(
                    f"{describe(doc, k)}: the search for the best tree that is valid under the rules ended after "
                    f"{found.nodes:,} trees. The tree is valid, but another one may be better, by at most "
                    f"{found.bound - found.value:.3g}.",
                    SearchLimitWarning,
                    stacklevel=2,
                )
            own_heads, own_labels = found.tree
            heads.append(own_heads)
            labels.append(_ChosenLabels(own_labels, cast(ArcLabels, own)))
            start = end
        return sourced._replace(heads=heads, arc_labels=labels)

    def to_dict(self) -> dict[str, Any] | None:
        """Return the learnt rules as JSON; None if none have been learnt."""
        return None if self.learnt is None else self.learnt.to_dict()

    def from_dict(self, data: Mapping[str, Any] | None) -> None:
        """Take what `to_dict` returns."""
        self.learnt = None if data is None else Rules.from_dict(data)

    def to_disk(self, folder: str | Path) -> None:
        """Write the learnt rules to `rules.json` in the folder. Without any, nothing is written."""
        keep_json(Path(folder) / _FILE, self.to_dict())

    def from_disk(self, folder: str | Path) -> None:
        """Read the learnt rules, if there are any."""
        file = Path(folder) / _FILE
        self.learnt = to_rules(str(file)) if file.exists() else None


def keep_json(file: Path, data: Any) -> None:
    """Write JSON to a file; None removes it. Not with srsly, which drops digits of floats."""
    if data is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data, indent=2), encoding="utf8")
    else:
        file.unlink(missing_ok=True)


def pos_of_rules(doc: Doc) -> list[str] | None:
    """Return the part of speech of each token as rules see it; None if none is set.

    A word that acts as another part of speech says so in the feature `ExtPos`, and that is the one that counts.
    """
    numbers, morphs = doc.to_array(_POS_AND_MORPH).T.tolist()
    if not any(numbers):
        return None
    tags = [_POS[number] for number in numbers]
    for k, morph in enumerate(morphs):
        if morph and (ext_pos := _ext_pos(doc.vocab, morph)):
            tags[k] = ext_pos
    return tags


def _ext_pos(vocab: Vocab, morph: int) -> str:
    """Return the value of `ExtPos` in the features with this hash, or ""."""
    found = _EXT_POS.get(morph)
    if found is None:
        features = vocab.strings[morph].split("|")
        if len(_EXT_POS) >= _MOST_EXT_POS:
            _EXT_POS.clear()
        found = _EXT_POS[morph] = next((one[7:].split(",")[0] for one in features if one.startswith("ExtPos=")), "")
    return found


_REMEDY = (
    "Use the arc_scorer of this package with joint = false, or leave ArcLabels with `scores_of_all_arcs` in "
    "doc._.arc_labels; see the documentation on rules."
)


def _scores_of_all_labels(doc: Doc, k: int, labels: Any, n: int, n_labels: int) -> FloatArray:
    scores = labels.scores_of_all_arcs() if isinstance(labels, ArcLabels) else None
    if scores is None:
        raise LabelsError(
            f"{describe(doc, k)}: rules need the score of every label of every arc, but doc._.arc_labels has only the "
            f"best label of each. {_REMEDY}"
        )
    if scores.shape != (n, n + 1, n_labels):
        raise LabelsError(
            f"{describe(doc, k)}: label scores must have the shape (n, n+1, labels) = {(n, n + 1, n_labels)}; found "
            f"{scores.shape}."
        )
    return scores


def labelled_trees(docs: Iterable[Doc]) -> Iterator[Tree]:
    """Yield heads, labels and parts of speech of each sentence of gold Docs.

    Sentences without a complete tree, with several roots or with a token without a label are left out. So are white
    space, which treebanks do not have, and all but the first of several sentences that are the same: a training corpus
    may have copies of each (`spacy-mindroot.PassageCorpus.v1`). What teachers have labelled is not gold.
    """
    known = set()
    for doc in docs:
        if read_targets(doc) is not None:
            continue
        pos = pos_of_rules(doc)
        for (start, end), own in zip(sentence_bounds(doc), conllu_heads(doc), strict=True):
            if not is_tree(own, single_root=True):
                continue
            words = [i for i in range(start, end) if not doc[i].is_space]
            labels = [doc[i].dep_ for i in words]
            if len(words) < end - start:
                numbers = {i - start + 1: number for number, i in enumerate(words, 1)} | {0: 0}
                own = np.array([numbers.get(own[i - start], MISSING) for i in words])
                if not is_tree(own, single_root=True):  # a word depends on white space
                    continue
            own_pos = None if pos is None else [pos[i] for i in words]
            key = hash((tuple(own.tolist()), tuple(labels), tuple(doc[i].orth for i in words), tuple(own_pos or ())))
            if key not in known:
                known.add(key)
                yield own, labels, own_pos
