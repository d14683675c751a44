"""The spaCy component `mind_root`: reads arc scores, decodes the best single-rooted trees, and writes them."""

# No `from __future__ import annotations` in files with registered functions: spaCy evaluates their annotations.

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt
import srsly
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from ..constraints import Constraints
from ..core.fault import Fault
from ..decoding import Heads, decode_matrices
from ..doc.extensions import (
    SPAN_ATTRIBUTES,
    TOKEN_ATTRIBUTES,
    Trees,
    describe,
    drop_extension,
    install_extensions,
    read_extension,
    write_extension,
)
from ..doc.reading import check_sentences, read_arc_constraints
from ..errors import CalibrationError, DecodingError, LabelsError, MindRootError, RulesError
from ..faults import decoding_error
from ..inference.arc_confidence import confidences_of, margin, margins_of
from ..inference.calibration import Calibration
from ..inference.conformal import COVERAGES, UNITS, head_sets
from ..inference.next_best import kbest_matrix
from ..inference.tree_sets import tree_set
from ..labels import SPACY_ROOT, is_root_label
from ..rules.learning import MAX_VIOLATION, MIN_SUPPORT, learn_rules
from ..scores import FloatArray, is_number, to_count
from .annotate import LabelHashes, drop_results, labels_of_trees, write_results, write_trees
from .arc_labels import score_all_labels
from .sources import ScoreSource, SourcedScores, matrix_of_tree, to_source
from .valid_trees import LEARNT, ValidTrees, keep_json, labelled_trees

__all__ = ["MindRoot", "make_mind_root"]

_UNCALIBRATED = Calibration()


class _Sentences(NamedTuple):
    """Inputs to the decoder, one entry per sentence."""

    sourced: SourcedScores
    constraints: list[Constraints] | None  # None if the Doc has none
    matrices: list[FloatArray]  # scores of the trees that meet the constraints; empty if there is nothing to decode


class MindRoot(Pipe):
    """Writes the best single-rooted tree of each sentence: the one with the greatest total arc score.

    The shapes of the scores say where the sentences are. Labels come from `doc._.arc_labels` and
    `doc._.arc_label_names`, if these are set; otherwise an arc that the Doc has already keeps its label. See
    `annotate.write_trees`.

    `doc._.arc_constraints` may require or forbid arcs; the tree is then the best one that complies. See
    `reading.read_arc_constraints`. The constraints stay on the Doc.

    name (str): The name of the component in the pipeline.
    scores (ScoreSource | Callable[[Doc], Sequence[ArrayLike]]): Where the arc scores of a Doc come from: a score
        source, or a function that returns one (n, n+1) array per sentence. See `sources`.
    keep_scores (bool): Whether scores and labels stay on the Doc. They make it slow to store and to send between
        processes.
    projective (bool): Whether to write the best tree without crossing arcs. Next best trees, `span._.tree_margin` and
        all probabilities are then those of such trees.
    kbest (int): The number of best trees per sentence that are kept in `span._.trees` if it is greater than 1: pairs
        (heads, weight) as from `inference.kbest`, best first, where 0 = ROOT and j = token j of the sentence. The first
        one is written.
    confidence (bool): Whether to set `token._.head_prob` and `token._.head_entropy`, and `span._.tree_logprob` and
        `span._.tree_margin` of each sentence. See `inference.confidence` and `inference.tree_margin`. If the scorer has
        label scores, also `token._.dep_prob`, the probability of the label given the head. These attributes, and
        `span._.trees`, are None once the heads or labels that they describe have changed.
    coverage (float): If greater than 0, `token._.head_set` holds the heads that contain the right one with this
        probability, from 0.5 to 0.99. See `inference.head_sets`. Needs `confidence`, and a calibration: without one,
        there are no head sets.
    coverage_of (str): What this is a share of: "token", or "sentence". With "sentence", all heads of a sentence are in
        their sets with this probability, and `span._.tree_set` holds the trees that can be made of them, without heads
        that are in no such tree. See `inference.tree_sets`.
    rules (Optional[str | dict]): Rules that every tree must meet; the best labelled tree that does is written. None,
        "ud" (Universal Dependencies), "learnt" (learnt from the corpus when the pipeline is initialized), or a table of
        rules as for `Rules.from_dict`. Needs the scores of all labels, which `arc_scorer` has, and `kbest = 1`. Parts
        of speech count if an earlier component has set them. See `decode_labelled`.
    root_label (str): The label of the root. spaCy itself expects "ROOT", for example in `noun_chunks`.
    fallback_label (str): The label of an arc that has no other.
    scorer (Optional[Callable]): Evaluates the trees for `spacy train` and `spacy evaluate`.
    nlp (Optional[Language]): Not used. spaCy passes it.

    `calibration` is an attribute, not a setting: an `inference.Calibration`, or None. All probabilities and head sets
    are computed with it; trees, their weights and `span._.tree_margin` never depend on it. It is saved with the
    component. `spacy mindroot calibrate` and the callback spacy-mindroot.calibrate.v1 set it.
    """

    def __init__(
        self,
        name: str = "mind_root",
        *,
        scores: ScoreSource | Callable[[Doc], Sequence[npt.ArrayLike]],
        keep_scores: bool = False,
        projective: bool = False,
        kbest: int = 1,
        confidence: bool = False,
        coverage: float = 0.0,
        coverage_of: str = "token",
        rules: str | dict[str, Any] | None = None,
        root_label: str = SPACY_ROOT,
        fallback_label: str = "dep",
        scorer: Callable[..., dict[str, Any]] | None = None,
        nlp: Language | None = None,
    ) -> None:
        install_extensions()
        self.name = name
        self.scores = to_source(scores)
        self.keep_scores = keep_scores
        self.projective = projective
        self.kbest = kbest
        self.confidence = confidence
        self.coverage = coverage
        self.coverage_of = coverage_of
        self.calibration: Calibration | None = None
        self.root_label = root_label
        self.fallback_label = fallback_label
        self.scorer = scorer
        self.valid_trees = ValidTrees(rules, name)
        self._label_hashes = LabelHashes()
        self.check_settings()

    def __call__(self, doc: Doc) -> Doc:
        """Parse one Doc, in place. An error leaves it unchanged.

        doc (Doc): A Doc with arc scores. An empty one is returned unchanged.
        RAISES (MindRootError): If scores or labels are missing or do not fit, or if there is no tree.
        """
        for _, error in self._parse([doc]):
            if error is not None:
                raise error
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of Docs, decoding each batch in one call of the core.

        A Doc that cannot be parsed goes to the error handler (`nlp.set_error_handler`), unchanged. If the handler does
        not raise, that Doc is left out of the stream, as in spaCy's own components. The other Docs are not affected.

        stream (Iterable[Doc]): The Docs.
        batch_size (int): The number of Docs that are decoded together.
        YIELDS (Doc): The parsed Docs, in order.
        """
        handle_error = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            for doc, error in self._parse(docs):
                if error is None:
                    yield doc
                else:
                    handle_error(self.name, self, [doc], error)

    @property
    def rules(self) -> str | Mapping[str, Any] | None:
        """The setting `rules`."""
        return self.valid_trees.setting

    @rules.setter
    def rules(self, setting: str | Mapping[str, Any] | None) -> None:
        self.valid_trees.change(setting)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        min_support: int = MIN_SUPPORT,
        max_violation: float = MAX_VIOLATION,
    ) -> None:
        """Learn rules from the examples if `rules` is "learnt". Nothing else is initialized.

        get_examples (Callable[[], Iterable[Example]]): Returns examples with gold trees.
        nlp (Optional[Language]): Not used.
        min_support (int): As for `learn_rules`.
        max_violation (float): As for `learn_rules`.
        """
        if self.rules == LEARNT:
            trees = labelled_trees(example.reference for example in get_examples())
            self.valid_trees.learnt = learn_rules(trees, min_support=min_support, max_violation=max_violation)

    def __repr__(self) -> str:
        return f"MindRoot({', '.join(f'{name}={getattr(self, name)!r}' for name in _SETTINGS)})"

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the settings, which `Language.from_bytes` would not take from the config, and what was learnt.

        exclude (Iterable[str]): "cfg" leaves out the calibration and the learnt rules.
        """
        settings = {name: getattr(self, name) for name in _SETTINGS}
        if "cfg" not in exclude:
            settings["calibration"] = None if self.calibration is None else self.calibration.to_dict()
            settings["learnt_rules"] = self.valid_trees.to_dict()
        return srsly.msgpack_dumps(settings)

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "MindRoot":
        """Load the settings and the calibration. The score source is a function, and stays as it is.

        exclude (Iterable[str]): "cfg" leaves the calibration and the learnt rules as they are.
        """
        settings = srsly.msgpack_loads(bytes_data)
        for name in _SETTINGS:
            setattr(self, name, settings.get(name, getattr(self, name)))
        if "cfg" not in exclude:
            if "calibration" in settings:
                self._set_calibration(settings["calibration"])
            if "learnt_rules" in settings:
                self.valid_trees.from_dict(settings["learnt_rules"])
        self.check_settings()
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the calibration and the learnt rules. The settings are in the config.cfg of the pipeline.

        path (str | Path): The folder. Without a calibration and learnt rules, it is not made.
        exclude (Iterable[str]): "cfg" leaves out both.
        """
        if "cfg" not in exclude:
            calibration = None if self.calibration is None else {"calibration": self.calibration.to_dict()}
            keep_json(Path(path) / "cfg", calibration)
            self.valid_trees.to_disk(path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "MindRoot":
        """Read the calibration and the learnt rules, if there are any, but no setting.

        So settings in `spacy.load(..., config=...)` take effect.

        path (str | Path): The folder. Pipelines without a calibration and learnt rules have none.
        exclude (Iterable[str]): "cfg" leaves both as they are.
        """
        if "cfg" not in exclude:
            file = Path(path) / "cfg"
            self._set_calibration(json.loads(file.read_text("utf8")).get("calibration") if file.exists() else None)
            self.valid_trees.from_disk(path)
        return self

    def _set_calibration(self, values: dict[str, Any] | None) -> None:
        self.calibration = None if values is None else Calibration.from_dict(values)

    def check_settings(self) -> None:
        """Raise an error if a setting is none, or settings do not go together. Call it after changing them."""
        for setting in ("keep_scores", "projective", "confidence"):
            if not isinstance(getattr(self, setting), bool):
                raise MindRootError(f"{self.name}: {setting} is {getattr(self, setting)!r}; it must be True or False.")
        if not is_number(self.coverage):
            raise CalibrationError(f"{self.name}: coverage is {self.coverage!r}; it must be a number.")
        if self.coverage and not (self.confidence and COVERAGES[0] <= 100 * self.coverage <= COVERAGES[-1]):
            raise CalibrationError(
                f"{self.name}: coverage is {self.coverage}. It must be 0 (no head sets), or from {COVERAGES[0] / 100} "
                f"to {COVERAGES[-1] / 100} and with confidence = true."
            )
        if self.coverage_of not in UNITS:
            raise CalibrationError(
                f"{self.name}: coverage_of is {self.coverage_of!r}; it must be {' or '.join(map(repr, UNITS))}."
            )
        if to_count(self.kbest, "kbest") > 1 and self.valid_trees:
            raise RulesError(
                f"{self.name}: kbest is {self.kbest}, but the k best trees need not be valid under the rules. Leave it "
                "at 1, or set rules = null."
            )
        if not all(isinstance(label, str) and label for label in (self.root_label, self.fallback_label)):
            raise LabelsError(
                f"{self.name}: root_label and fallback_label must be strings, and not empty: spaCy hides heads without "
                "a label."
            )
        if is_root_label(self.fallback_label) or self.fallback_label.lower() == self.root_label.lower():
            raise LabelsError(
                f"{self.name}: fallback_label is {self.fallback_label!r}, which would mark other tokens as roots."
            )

    def _parse(self, docs: Iterable[Doc]) -> Iterator[tuple[Doc, Exception | None]]:
        """Parse Docs, decoding all in one call. Yields each with the error that it caused, or None."""
        batch: list[tuple[Doc, _Sentences | Exception]] = []
        for doc in docs:
            try:
                batch.append((doc, self._read_valid(doc) if self.valid_trees else self._read(doc)))
            except Exception as error:
                batch.append((doc, error))
        heads, faults = decode_matrices(
            [matrix for _, read in batch if not isinstance(read, Exception) for matrix in self._to_decode(read)],
            projective=self.projective,
        )
        at = 0
        for doc, read in batch:
            if isinstance(read, Exception):
                yield doc, read
                continue
            own = range(at, at + len(self._to_decode(read)))
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

    def _to_decode(self, read: _Sentences) -> list[FloatArray]:
        """Return the matrices whose trees are not known and are not found as the first of the k best trees."""
        return read.matrices if self.kbest == 1 and read.sourced.heads is None else []

    def _read(self, doc: Doc) -> _Sentences:
        if len(doc) == 0:
            return _Sentences(SourcedScores([]), None, [])
        sourced = self.scores.read(doc)
        given = sourced.heads
        lengths = [len(sentence) for sentence in (sourced.matrices if given is None else given)]
        if not sourced.sets_sentences:
            check_sentences(doc, lengths)
        arc_constraints = read_extension(doc, "arc_constraints")
        if given is not None:
            if not (arc_constraints or self.projective or self.kbest > 1 or self.confidence):
                return _Sentences(sourced, None, [])
            matrices = [matrix_of_tree(doc, k, heads) for k, heads in enumerate(given)]
            sourced = sourced._replace(matrices=matrices, heads=None)
        if not arc_constraints:
            return _Sentences(sourced, None, sourced.matrices)
        constraints = read_arc_constraints(doc, arc_constraints, lengths)
        pairs = zip(constraints, sourced.matrices, strict=True)
        return _Sentences(sourced, constraints, [own.mask(matrix) if own else matrix for own, matrix in pairs])

    def _read_valid(self, doc: Doc) -> _Sentences:
        """Read a Doc, and find the best valid trees of its sentences."""
        read = self._read(doc)
        if len(doc) == 0:
            return read
        if read.sourced.relabel is not None:
            raise RulesError(
                f"{self.name}: the scores come from heads that are there already, and rules need the scores of all "
                "labels. Set rules = null, and mend the trees with `spacy mindroot repair --rules`."
            )
        sourced = self.valid_trees.decode(
            doc, read.sourced, read.constraints, read.matrices, projective=self.projective
        )
        return read._replace(sourced=sourced)

    def _write(self, doc: Doc, sentences: _Sentences, heads: list[Heads]) -> None:
        """Write the trees of a Doc. Whatever can fail comes before the first change to it."""
        sourced = sentences.sourced
        if sourced.heads is not None:
            heads = sourced.heads
        trees = self._next_best(doc, sentences)
        if self.kbest > 1:
            heads = [best[0][0] for best in trees]
        calibration = self.calibration or _UNCALIBRATED
        labels, report = (None, None) if sourced.relabel is None else sourced.relabel(heads)
        label_probs = None
        if sourced.arc_labels is not None:
            hashes = self._label_hashes.of(doc, sourced.label_names or (), self.root_label)
            labels, label_probs = labels_of_trees(
                doc, sourced.arc_labels, hashes, heads, calibration if self.confidence else None
            )
        results = self._results(doc, sentences, heads, trees, label_probs)
        write_trees(doc, heads, labels, root_label=self.root_label, fallback_label=self.fallback_label)
        drop_results(doc)
        if self.kbest > 1 or self.confidence:
            write_results(doc, heads, results)
        if report is not None:
            write_extension(doc, "mind_root_report", report)
        drop_extension(doc, "arc_distribution")  # of an earlier parse
        if self.keep_scores:
            score_all_labels(doc)
            if self.confidence:
                write_extension(doc, "arc_distribution", calibration.distribution(projective=self.projective))
        else:
            self.scores.drop(doc)
            drop_extension(doc, "arc_labels")
            drop_extension(doc, "arc_label_names")

    def _results(
        self,
        doc: Doc,
        sentences: _Sentences,
        heads: list[Heads],
        trees: list[Trees],
        label_probs: list[list[float | None]] | None,
    ) -> list[dict[str, Any]]:
        """Return the attributes of each sentence and its tokens, by their names in `doc/extensions.py`.

        trees (list[Trees]): The k best trees of each sentence, if k > 1.
        label_probs (Optional[list]): The probability of the label of each token of each sentence.
        """
        results: list[dict[str, Any]] = [{"trees": best} for best in trees] or [{} for _ in heads]
        if not self.confidence:
            return results
        calibration = self.calibration or _UNCALIBRATED
        with_sets = self.coverage > 0 and self.calibration is not None
        confidences, marginals = confidences_of(
            sentences.matrices,
            heads,
            **calibration.distribution(projective=self.projective),
            marginals=with_sets,
            where=lambda k: describe(doc, k),
        )
        margins = self._margins(doc, sentences, heads, trees)
        for k, (own, found) in enumerate(zip(results, confidences, strict=True)):
            own["head_prob"], own["head_entropy"] = found.head_prob.tolist(), found.head_entropy.tolist()
            own["tree_logprob"], own["tree_margin"] = found.tree_logprob, margins[k]
            if label_probs is not None:
                own["dep_prob"] = label_probs[k]
            if with_sets:
                threshold = calibration.threshold(self.coverage, self.coverage_of)
                if self.coverage_of == "token":
                    own["head_set"] = head_sets(marginals[k], threshold, heads=heads[k])
                else:
                    own["tree_set"] = tree_set(marginals[k], threshold, heads[k], scores=sentences.matrices[k])
                    own["head_set"] = own["tree_set"].heads
        return results

    def _next_best(self, doc: Doc, sentences: _Sentences) -> list[Trees]:
        """Return the best trees of each sentence if the settings need them."""
        if self.kbest == 1:
            return []
        found = []
        for k, matrix in enumerate(sentences.matrices):
            trees = kbest_matrix(matrix, self.kbest, projective=self.projective)
            if isinstance(trees, Fault):
                raise self._error(doc, sentences, trees._replace(sentence=k))
            found.append(trees)
        return found

    def _margins(self, doc: Doc, sentences: _Sentences, heads: list[Heads], trees: list[Trees]) -> list[float]:
        """Return by how much each tree outweighs the best other one. `trees` are the k best trees, if k > 1."""
        if trees:
            return [margin(*sentence) for sentence in zip(sentences.matrices, heads, trees, strict=True)]
        margins = margins_of(sentences.matrices, heads, projective=self.projective)
        if isinstance(margins, Fault):
            raise self._error(doc, sentences, margins)
        return margins

    def _error(self, doc: Doc, sentences: _Sentences, fault: Fault) -> DecodingError:
        k, matrices = fault.sentence, sentences.sourced.matrices
        start = sum(len(matrix) for matrix in matrices[:k])
        words = [token.text for token in doc[start : start + len(matrices[k])]]
        return decoding_error(
            fault,
            matrices[k],
            sentences.constraints[k] if sentences.constraints else None,
            where=describe(doc, k),
            words=words,
            projective=self.projective,
        )


_DEFAULTS = {  # of all settings, as in a config
    **{
        name: parameter.default
        for name, parameter in signature(MindRoot).parameters.items()
        if name not in ("name", "nlp")
    },
    "scores": {"@misc": "spacy-mindroot.doc_arc_scores.v1"},
    "scorer": {"@scorers": "spacy-mindroot.tree_scorer.v1"},
}
_SETTINGS = tuple(name for name in _DEFAULTS if name not in ("scores", "scorer"))  # those that are no functions

make_mind_root = Language.factory(
    "mind_root",
    # No `requires`: spaCy keeps one list per factory, and whether arc scores must be on the Doc depends on the source.
    assigns=[
        "token.head",
        "token.dep",
        "token.is_sent_start",
        "doc.sents",
        *(f"token._.{name}" for name in TOKEN_ATTRIBUTES),
        *(f"span._.{name}" for name in SPAN_ATTRIBUTES),
    ],
    default_config=_DEFAULTS,
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
)(MindRoot)
