"""The score source spacy-mindroot.answers.v1: decodes what a language model has said about each sentence of a Doc."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc

from ..answers import DecodedAnswer, decode_answer, read_answer
from ..decoding import Heads
from ..doc.extensions import describe
from ..doc.reading import read_annotated
from ..errors import MissingScoresError, SentenceMismatchError
from ..labels import SPACY_ROOT, is_root_label
from .annotate import Hashes
from .sources import Report, ScoreSource, SourcedScores, matrix_of_tree

__all__ = ["ANSWERS", "AnswerScores"]

ANSWERS = "mindroot_answers"


@dataclass(frozen=True)
class AnswerScores(ScoreSource):
    """Reads `doc.user_data[key]`: a list with what a language model has said about each sentence of the Doc.

    Each item is a dict, a list or a string, as for `answers.read_answer`. A single parse becomes the nearest
    single-rooted tree, several samples vote, and log-probabilities are arc scores. Words of an answer are aligned with
    the tokens of the Doc. `doc._.mind_root_report` says what was wrong: a dict for each fault, with the indexes of its
    `sentence` and its `token` (None for the whole answer), `why`, and `what` was found.

    key (str): The key in `doc.user_data`.
    labels (Optional[list[str]]): All labels. Others count as unknown. By default, any label is taken.
    """

    key: str = ANSWERS
    labels: list[str] | None = None

    def read(self, doc: Doc) -> SourcedScores:
        answers = doc.user_data.get(self.key)
        sentences = read_annotated(doc)
        if not isinstance(answers, (list, tuple)):
            raise MissingScoresError(
                f"{describe(doc)} has no doc.user_data[{self.key!r}]: a list with the answer for each sentence."
            )
        if len(answers) != len(sentences):
            raise SentenceMismatchError(
                f"{describe(doc)} has {len(sentences)} sentences, but doc.user_data[{self.key!r}] has {len(answers)} "
                "answers."
            )
        found = []
        for k, (given, sentence) in enumerate(zip(answers, sentences, strict=True)):
            decoded = decode_answer(read_answer(given, sentence.words, self.labels or ()), sentence.words)
            if decoded.heads is None:
                faults = "; ".join(map(str, decoded.faults))
                raise MissingScoresError(f"{describe(doc, k)}: the answer has no head that can be used ({faults}).")
            found.append(decoded)
        names = list(dict.fromkeys([SPACY_ROOT, *(name for each in found for name in _names(each))]))
        heads: list[Heads] = [np.array(each.heads, dtype=np.int32) for each in found]
        has_scores = any(each.is_probability for each in found)
        matrices = [
            each.sentence.scores if each.is_probability and each.sentence is not None else matrix_of_tree(doc, k, tree)
            for k, (each, tree) in enumerate(zip(found, heads, strict=True))
            if has_scores
        ]

        def relabel(_: Sequence[Heads]) -> tuple[Hashes, Report]:
            return np.zeros(len(doc), dtype=np.uint64), _report(found)

        return SourcedScores(
            matrices=matrices,
            arc_labels=[_arc_labels(each, names) for each in found],
            label_names=names,
            heads=None if has_scores else heads,
            relabel=relabel,
        )

    def drop(self, doc: Doc) -> None:
        doc.user_data.pop(self.key, None)


def _names(decoded: DecodedAnswer) -> list[str]:
    names = decoded.labels if decoded.sentence is None else [*decoded.sentence.label_names, *decoded.labels]
    return ["dep", *(name for name in names if name and not is_root_label(name))]


def _arc_labels(decoded: DecodedAnswer, names: list[str]) -> np.ndarray:
    """Return the best label of each arc: that of the scores, or that of the word in the tree."""
    numbers = {name: number for number, name in enumerate(names)}
    if decoded.is_probability and decoded.sentence is not None and decoded.sentence.best_labels is not None:
        own = [numbers.get(name, 0) for name in decoded.sentence.label_names]
        return np.array(own)[decoded.sentence.best_labels]
    own = [numbers["dep"] if is_root_label(label) else numbers[label] for label in decoded.labels]
    labels = np.repeat(np.array(own)[:, np.newaxis], len(own) + 1, axis=1)
    labels[:, 0] = 0
    return labels


def _report(found: list[DecodedAnswer]) -> Report:
    report: Report = []
    start = 0
    for k, decoded in enumerate(found):
        for fault in decoded.faults:
            token = start + fault.word - 1 if fault.word else None
            report.append({"sentence": k, "token": token, "why": fault.kind, "what": fault.what})
        start += len(decoded.labels)
    return report
