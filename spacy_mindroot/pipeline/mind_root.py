"""The spaCy component: reads arc scores off the Doc, decodes the best tree with one root of each sentence, writes it."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.util import minibatch

from ..constraints import Constraints
from ..core.fault import Fault
from ..decoding import Heads, decode_matrices
from ..errors import CountError, DecodingError, LabelsError
from ..faults import decoding_error
from ..inference.arc_confidence import Confidence, confidence_of, margin
from ..inference.next_best import kbest_matrix
from ..labels import is_root_label
from ..scores import FloatArray, to_count, to_root_column
from .annotate import Hashes, check_sentences, hash_labels, labels_of_trees, read_arc_constraints, write_trees
from .extensions import (
    Trees,
    describe,
    drop_extension,
    drop_from_tokens_and_spans,
    install_extensions,
    read_extension,
    write_extension,
    write_span,
    write_tokens,
    write_trees_of_span,
)
from .sources import ScoreSource


@Language.factory(
    "mind_root",
    assigns=["token.head", "token.dep", "token.is_sent_start", "doc.sents"],
    requires=["doc._.arc_scores"],
    default_config={
        "scores": {"@misc": "spacy-mindroot.doc_arc_scores.v1"},
        "keep_scores": False,
        "projective": False,
        "kbest": 1,
        "confidence": False,
        "root_label": "ROOT",
        "fallback_label": "dep",
        "scorer": {"@scorers": "spacy-mindroot.tree_scorer.v1"},
    },
    default_score_weights={
        "dep_uas": 0.5,
        "dep_las": 0.5,
        "dep_uem": 0.0,
        "dep_lem": 0.0,
        "root_acc": 0.0,
        "single_root": 0.0,
        "dep_las_per_type": None,
        "sents_p": None,
        "sents_r": None,
        "sents_f": 0.0,
    },
)
def make_mind_root(
    nlp: Language,
    name: str,
    scores: ScoreSource,
    keep_scores: bool,
    projective: bool,
    kbest: int,
    confidence: bool,
    root_label: str,
    fallback_label: str,
    scorer: Callable[..., dict[str, Any]] | None,
) -> "MindRoot":
    """Makes the component from its config. See `MindRoot` for the settings."""
    install_extensions()
    return MindRoot(
        name,
        scores=scores,
        keep_scores=keep_scores,
        projective=projective,
        kbest=kbest,
        confidence=confidence,
        root_label=root_label,
        fallback_label=fallback_label,
        scorer=scorer,
    )


class _Sentences(NamedTuple):
    """What there is to decode of a Doc: one of each for each sentence.

    scores: Arc scores as the source gave them.
    constraints: None if the Doc has none at all.
    masked: The scores of the trees that meet the constraints; `scores` itself if there are none.
    """

    scores: list[FloatArray]
    constraints: list[Constraints] | None
    masked: list[FloatArray]


class MindRoot(Pipe):
    """Writes, for each sentence, the tree with the greatest total arc score among those with exactly one root.

    The sentences are what the shapes of the scores say. Labels come from `doc._.arc_labels` and `doc._.arc_label_names`
    where these are given; otherwise an arc that the Doc has already keeps its label. See `annotate.write_trees`.

    If `doc._.arc_constraints` requires or forbids arcs, it is the best of the trees that comply; see
    `annotate.read_arc_constraints`. The constraints stay on the Doc.

    name (str): The component's name in the pipeline.
    scores (Callable[[Doc], Sequence[ArrayLike]]): Gives the arc scores of a Doc, one (n, n+1) array per sentence.
    keep_scores (bool): Leave scores and labels on the Doc. They make it slow to store and to send between processes.
    projective (bool): Write the best of the trees without crossing arcs.
    kbest (int): If more than 1, set `span._.trees` of each sentence to so many of its best trees, best first: pairs (heads, weight)
        as from `inference.kbest`, where 0 = ROOT and j = token j of the sentence. The first is the one that is written.
    confidence (bool): Set `token._.head_prob` and `token._.head_entropy`, `span._.tree_logprob` and `span._.tree_margin` of each
        sentence. See `inference.confidence`, and `inference.tree_margin`.
    root_label (str): The dep of the root. spaCy itself expects "ROOT", for `noun_chunks` among others.
    fallback_label (str): The dep of an arc that nothing else gives a label to.
    scorer (Optional[Callable]): Scores trees for `spacy train` and `spacy evaluate`.
    """

    def __init__(
        self,
        name: str = "mind_root",
        *,
        scores: ScoreSource,
        keep_scores: bool = False,
        projective: bool = False,
        kbest: int = 1,
        confidence: bool = False,
        root_label: str = "ROOT",
        fallback_label: str = "dep",
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        self.name = name
        self.scores = scores
        self.keep_scores = keep_scores
        self.projective = projective
        self.kbest = kbest
        self.confidence = confidence
        self.root_label = root_label
        self.fallback_label = fallback_label
        self.scorer = scorer
        self._hashed: tuple[Any, Hashes] | None = None
        self._check_settings()

    def __call__(self, doc: Doc) -> Doc:
        """Parses one Doc, in place. On an error it is as it was.

        doc (Doc): A Doc with arc scores. An empty one is returned as it is.
        RAISES (MindRootError): If scores or labels are missing or don't fit, or if there is no tree to be had.
        """
        for _, error in self._parse([doc]):
            if error is not None:
                raise error
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parses a stream of Docs, each batch in one call of the core.

        A Doc that can't be parsed goes to the error handler (`nlp.set_error_handler`), unchanged; if that does not
        raise, the Doc is left out of the stream, as in spaCy's own components. The others are not affected.

        stream (Iterable[Doc]): The Docs.
        batch_size (int): How many are decoded together.
        YIELDS (Doc): The parsed Docs, in order.
        """
        handle_error = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            for doc, error in self._parse(docs):
                if error is None:
                    yield doc
                else:
                    handle_error(self.name, self, [doc], error)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The settings, which `Language.from_bytes` would not take from the config."""
        settings: bytes = srsly.msgpack_dumps({name: getattr(self, name) for name in self._SETTINGS})
        return settings

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "MindRoot":
        """Takes over the settings. Where the scores come from is a function, and stays as it is."""
        settings = srsly.msgpack_loads(bytes_data)
        for name in self._SETTINGS:
            setattr(self, name, settings.get(name, getattr(self, name)))
        self._check_settings()
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes nothing: there is nothing to know but the settings, and those are in the config.cfg beside it."""

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "MindRoot":
        """Reads nothing, so that settings given to `spacy.load(..., config=...)` hold."""
        return self

    _SETTINGS = ("keep_scores", "projective", "kbest", "confidence", "root_label", "fallback_label")

    def _check_settings(self) -> None:
        if to_count(self.kbest, "kbest") > 1 and self.projective:
            raise CountError(
                f"{self.name}: kbest is {self.kbest}, but these trees may have crossing arcs. With projective = true, leave it at 1."
            )
        if not self.root_label or not self.fallback_label:
            raise LabelsError(
                f"{self.name}: root_label and fallback_label must not be empty; spaCy hides heads without a label."
            )
        if is_root_label(self.fallback_label) or self.fallback_label.lower() == self.root_label.lower():
            raise LabelsError(
                f"{self.name}: fallback_label is {self.fallback_label!r}, which would mark other tokens as roots."
            )

    def _parse(self, docs: Iterable[Doc]) -> Iterator[tuple[Doc, Exception | None]]:
        """Parses Docs, decoding all in one call. Yields each with what went wrong, or None."""
        batch: list[tuple[Doc, _Sentences | Exception]] = []
        for doc in docs:
            try:
                batch.append((doc, self._read(doc)))
            except Exception as error:
                batch.append((doc, error))
        heads, faults = decode_matrices(
            [matrix for _, read in batch if not isinstance(read, Exception) for matrix in read.masked],
            projective=self.projective,
        )
        at = 0
        for doc, read in batch:
            if isinstance(read, Exception):
                yield doc, read
                continue
            own = range(at, at + len(read.masked))
            at = own.stop
            try:
                for fault in faults:
                    if fault.sentence in own:
                        raise self._error(doc, read, fault._replace(sentence=fault.sentence - own.start))
                self._write(doc, read, heads[own.start : own.stop])
            except Exception as error:
                yield doc, error
            else:
                yield doc, None

    def _read(self, doc: Doc) -> _Sentences:
        if len(doc) == 0:
            return _Sentences([], None, [])
        matrices = [
            to_root_column(scores, where=partial(describe, doc, k)) for k, scores in enumerate(self.scores(doc))
        ]
        lengths = [len(matrix) for matrix in matrices]
        if not hasattr(self.scores, "relabel"):  # which repairs the sentences of a Doc along with its trees
            check_sentences(doc, lengths)
        arc_constraints = read_extension(doc, "arc_constraints")
        if not arc_constraints:
            return _Sentences(matrices, None, matrices)
        constraints = read_arc_constraints(doc, arc_constraints, lengths)
        masked = [some.mask(matrix) if some else matrix for some, matrix in zip(constraints, matrices, strict=True)]
        return _Sentences(matrices, constraints, masked)

    def _write(self, doc: Doc, sentences: _Sentences, heads: list[Heads]) -> None:
        matrices = sentences.masked
        trees = self._next_best(doc, sentences)
        if self.kbest > 1:
            heads = [best[0][0] for best in trees]
        confidences = [confidence_of(*pair) for pair in zip(matrices, heads, strict=True)] if self.confidence else []
        labels, report = self.scores.relabel(doc) if hasattr(self.scores, "relabel") else (None, None)
        arc_labels = read_extension(doc, "arc_labels")
        if arc_labels is not None:
            if hasattr(self.scores, "rearrange"):
                arc_labels = self.scores.rearrange(doc, arc_labels, "doc._.arc_labels")
            labels = labels_of_trees(doc, arc_labels, self._hash_labels(doc), matrices, heads)
        write_trees(doc, heads, labels, root_label=self.root_label, fallback_label=self.fallback_label)
        drop_from_tokens_and_spans(doc)
        if self.kbest > 1:
            self._write_trees(doc, trees)
        if self.confidence:
            self._write_confidence(doc, matrices, heads, trees, confidences)
        if report is not None:
            write_extension(doc, "mind_root_report", report)
        if not self.keep_scores:
            if hasattr(self.scores, "drop"):
                self.scores.drop(doc)
            drop_extension(doc, "arc_labels")
            drop_extension(doc, "arc_label_names")

    def _next_best(self, doc: Doc, sentences: _Sentences) -> list[Trees]:
        """The best trees of each sentence, at least two where there are two, if they are asked for."""
        if self.kbest == 1 and not self.confidence:
            return []
        found = []
        for k, matrix in enumerate(sentences.masked):
            trees = kbest_matrix(matrix, max(self.kbest, 2))
            if isinstance(trees, Fault):
                raise self._error(doc, sentences, trees._replace(sentence=k))
            found.append(trees)
        return found

    def _write_trees(self, doc: Doc, trees: list[Trees]) -> None:
        start = 0
        for best in trees:
            end = start + len(best[0][0])
            write_trees_of_span(doc, start, end, best)
            start = end

    def _write_confidence(
        self,
        doc: Doc,
        matrices: list[FloatArray],
        heads: list[Heads],
        trees: list[Trees],
        confidences: list[Confidence],
    ) -> None:
        start = 0
        for matrix, own, best, confidence in zip(matrices, heads, trees, confidences, strict=True):
            end = start + len(own)
            write_span(doc, "tree_logprob", start, end, confidence.tree_logprob)
            write_span(doc, "tree_margin", start, end, margin(matrix, own, best))
            start = end
        for name in ("head_prob", "head_entropy"):
            write_tokens(doc, name, np.concatenate([getattr(c, name) for c in confidences] or [[]]).tolist())

    def _hash_labels(self, doc: Doc) -> Hashes:
        """The hashes of the label names of a Doc. The next Doc most likely has the same."""
        names = read_extension(doc, "arc_label_names")
        if names is None:
            raise LabelsError(
                f"{describe(doc)} has doc._.arc_labels, but no doc._.arc_label_names to say what they mean."
            )
        key = (doc.vocab, self.root_label, tuple(names))
        if self._hashed is None or self._hashed[0] != key:
            self._hashed = (key, hash_labels(doc.vocab.strings, names, self.root_label))
        return self._hashed[1]

    def _error(self, doc: Doc, sentences: _Sentences, fault: Fault) -> DecodingError:
        k = fault.sentence
        start = sum(len(matrix) for matrix in sentences.scores[:k])
        words = [token.text for token in doc[start : start + len(sentences.scores[k])]]
        return decoding_error(
            fault,
            sentences.scores[k],
            sentences.constraints[k] if sentences.constraints else None,
            where=describe(doc, k),
            words=words,
            projective=self.projective,
        )
