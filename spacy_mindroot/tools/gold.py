"""Reads the sentences of an annotated corpus, and scores them with a pipeline.

Each sentence becomes a Doc of its own, with gold tokens.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import load_model
from spacy.vocab import Vocab

from ..arc_scorer.component import ArcScorer
from ..conllu import Sentence, conllu_files, read_conllu, sentence_to_doc
from ..conllu.columns import DEPREL, HEAD, read_header
from ..conllu.docs import sentence_without_tree
from ..conllu.rows import SentenceRows, doc_rows, heads_among, rows_text
from ..conllu.sentence import format_rows, to_sentence
from ..doc.reading import AnnotatedSentence, blank_doc, read_annotated, sentence_bounds
from ..errors import CalibrationError, ConlluError, CorpusError
from ..escapes import printable
from ..labels import SPACY_ROOT, UD_ROOT
from ..pipeline.arc_labels import ArcLabels
from ..pipeline.mind_root import MindRoot
from ..pipeline.scoring import find_mind_root, piped, scored
from ..pipeline.valid_trees import pos_of_rules
from ..scored import ScoredSentence
from ..trees import MISSING

__all__ = [
    "GoldSentence",
    "keep_probabilities",
    "load_pipeline",
    "parse_sentences",
    "read_corpus",
    "reads_surface_tokens",
    "score_sentences",
    "sentences_in_text",
    "unparsed",
]

_READERS = ("spacy-mindroot.ConlluCorpus.v1", "spacy-mindroot.PassageCorpus.v1")
_UNKNOWN = re.compile(r"^\[E(002|893)\]")  # spaCy's errors for components and functions that it does not know


_NO_ROWS = SentenceRows((), [], [])


@dataclass(frozen=True)
class GoldSentence(AnnotatedSentence):
    """An annotated sentence of a corpus, which can be written as CoNLL-U with another tree."""

    conllu: Sentence | None = None  # the sentence of the CoNLL-U file, if it has the same words
    rows: SentenceRows = _NO_ROWS  # otherwise, the tokens, from 0, without white space
    comments: Sequence[str] = ()

    def numbers(self) -> dict[int, int]:
        """Return the number of each token in CoNLL-U, by its number here; both from 1. White space has none."""
        tokens = range(len(self.words)) if self.conllu is not None else self.rows[0]
        return {token + 1: number for number, token in enumerate(tokens, 1)}

    def with_tree(self, heads: Sequence[int], labels: Sequence[str | None]) -> Sentence:
        """Return the sentence in CoNLL-U with another tree, and all other annotation. `conllu` is changed in place.

        Where the label is None, the arc stays as it is.
        """
        sentence = self.conllu
        if sentence is None:
            tokens, rows, ranges = self.rows
            sentence = to_sentence(format_rows(self.comments, rows, ranges), self.name)
            before, heads = heads, heads_among(tokens, heads)
            labels = [
                labels[token] if head or before[token] == 0 else UD_ROOT
                for token, head in zip(tokens, heads, strict=True)
            ]
        for word, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
            if label is not None:
                sentence.replace(word, HEAD, str(head))
                sentence.replace(word, DEPREL, label)
        return sentence


def load_pipeline(model: str) -> Language:
    """Load a pipeline."""
    try:
        return load_model(model)
    except Exception as error:  # of spaCy, msgpack, the config parser, or any component
        hint = " If it is in a Python file of yours, name that with --code." if _UNKNOWN.search(str(error)) else ""
        raise CorpusError(f"{model} is not a pipeline that spaCy can load: {error}{hint}") from error


def reads_surface_tokens(nlp: Language) -> bool | None:
    """Whether the pipeline's own corpus reader reads the multiword tokens of CoNLL-U rather than the words in them.

    None if its config names no reader for CoNLL-U. The development corpus has precedence over the training corpus.
    """
    corpora: dict[str, Any] = nlp.config.get("corpora") or {}
    for name in ("dev", "train", *corpora):
        reader = corpora.get(name)
        if isinstance(reader, dict) and reader.get("@readers") in _READERS:
            value = reader.get("surface_tokens", False)
            return value if isinstance(value, bool) else None  # it may be a variable
    return None


def read_corpus(path: Path, vocab: Vocab, *, surface_tokens: bool = False) -> Iterator[GoldSentence]:
    """Yield all sentences of a `.spacy` file, or of a CoNLL-U file or folder.

    surface_tokens (bool): Whether the tokens of CoNLL-U are its multiword tokens. See `conllu.sentences_to_doc`.
    """
    found = _read_docs(path, vocab) if path.suffix == ".spacy" else _read_conllu(path, vocab, surface_tokens)
    first = next(found, None)
    if first is None:
        raise CorpusError(f"There are no sentences in {path}.")
    yield first
    yield from found


def _read_conllu(path: Path, vocab: Vocab, surface_tokens: bool) -> Iterator[GoldSentence]:
    for file in conllu_files(path):
        for number, sentence in enumerate(read_conllu(file), 1):
            doc = sentence_to_doc(vocab, sentence, surface_tokens=surface_tokens)
            (annotated,) = read_annotated(doc)
            found = GoldSentence(**vars(annotated) | {"name": sentence.sent_id or f"{printable(file.stem)}-{number}"})
            if surface_tokens:
                comments = [comment for comment in sentence.comments if read_header(comment.encode("utf8")) is None]
                (rows,) = doc_rows(doc, bounds=[(0, len(doc))]) or [_NO_ROWS]
                yield replace(found, rows=rows, comments=comments)
            else:
                yield replace(found, conllu=sentence)


def _read_docs(path: Path, vocab: Vocab) -> Iterator[GoldSentence]:
    try:
        docs = DocBin().from_disk(path)
        several, stem = len(docs) > 1, printable(path.stem)
        for d, doc in enumerate(docs.get_docs(vocab), 1):
            yield from _sentences_of(doc, f"{stem}-{d}" if several else stem)
    except Exception as error:  # of zlib, msgpack, numpy or spaCy
        raise CorpusError(f"{path} can't be read as a .spacy file: {error}") from error


def _sentences_of(doc: Doc, name: str) -> Iterator[GoldSentence]:
    written = deque(doc_rows(doc))
    pairs = zip(sentence_bounds(doc), read_annotated(doc), strict=True)
    for number, ((start, end), annotated) in enumerate(pairs, 1):
        own = written.popleft() if written and written[0].tokens[0] < end else _NO_ROWS
        sent_id, text = " ".join(f"{name}-{number}".split()), rows_text(own.rows, own.ranges)
        yield GoldSentence(
            **vars(annotated) | {"name": f"{name}-{number}"},
            rows=own._replace(tokens=[token - start for token in own.tokens]),
            comments=[f"# sent_id = {sent_id}", f"# text = {text}"],
        )


def sentences_in_text(nlp: Language, text: str, name: str) -> Iterator[GoldSentence]:
    """Yield the sentences that a pipeline finds in a text whose paragraphs have empty lines between them. No trees."""
    paragraphs = (" ".join(each.split()) for each in re.split(r"\n[^\S\n]*\n", text))
    at = next((k for k, (_, pipe) in enumerate(nlp.pipeline) if isinstance(pipe, (ArcScorer, MindRoot))), None)
    with nlp.select_pipes(enable=nlp.pipe_names[:at]):
        for number, (doc, _) in enumerate(piped(nlp, ((each, None) for each in paragraphs if each)), 1):
            yield from _sentences_of(doc, f"{name}-{number}")


def unparsed(vocab: Vocab, sentences: Iterable[Sentence]) -> Iterator[GoldSentence]:
    """Yield sentences without their trees, which may be malformed. The name of each is the number of its first line.

    Sentences that are not UTF-8 are left out.
    """
    for sentence in sentences:
        with suppress(ConlluError):
            (annotated,) = read_annotated(sentence_without_tree(vocab, sentence))
            yield GoldSentence(**vars(annotated) | {"name": str(sentence.line)})


def score_sentences(
    nlp: Language, sentences: Iterable[GoldSentence], *, all_labels: bool = False
) -> Iterator[ScoredSentence]:
    """Score sentences with a pipeline, up to its `mind_root`, and read the scores as that component would.

    Without a `mind_root`, they are read from `doc._.arc_scores`.

    all_labels (bool): Whether to keep the scores of all labels, if the scorer has them, and parts of speech.
    """
    for doc, sourced, (gold,) in scored(nlp, ([each] for each in sentences)):
        labels = None if sourced.arc_labels is None else sourced.arc_labels[0]
        yield ScoredSentence(
            scores=sourced.matrices[0],
            words=gold.words,
            best_labels=None if labels is None else np.asarray(labels),
            label_names=[UD_ROOT if name == SPACY_ROOT else name for name in sourced.label_names or ()],
            gold_heads=gold.heads,
            gold_labels=gold.labels,
            name=gold.name,
            label_scores=labels.scores_of_all_arcs() if all_labels and isinstance(labels, ArcLabels) else None,
            pos=pos_of_rules(doc) if all_labels else None,
        )


def keep_probabilities(nlp: Language, *, kbest: int = 1, coverage: float | None = None) -> None:
    """Let the `mind_root` of a pipeline set `token._.head_prob`, leave arc scores on the Doc, and keep k best trees.

    coverage (Optional[float]): Of sentences, for `span._.tree_set`. None leaves the settings as they are.
    """
    _, component = find_mind_root(nlp)
    if coverage is not None:
        if component.calibration is None:
            raise CalibrationError(
                "--coverage needs a calibrated pipeline, and this one is not. Calibrate it: spacy mindroot calibrate"
            )
        component.calibration.threshold(coverage, "sentence")  # for its checks
        component.coverage, component.coverage_of = coverage, "sentence"
    component.keep_scores = component.confidence = True
    component.kbest = max(component.kbest, kbest)
    component.check_settings()


def parse_sentences(
    nlp: Language, sentences: Iterable[GoldSentence], *, given: bool = False
) -> Iterator[tuple[Doc, GoldSentence]]:
    """Parse sentences with a whole pipeline, each as a Doc of its own, with its tokens. See `keep_probabilities`.

    given (bool): The heads of the sentences that are known are required (`doc._.arc_constraints`).
    """
    for doc, gold in piped(nlp, ((_blank(nlp, each, given), each) for each in sentences)):
        found = len(list(doc.sents))
        if found != 1:
            raise CorpusError(
                f"{gold.name} is one sentence, but has {found} once it is parsed. Does a component of the pipeline "
                "split sentences anew?"
            )
        yield doc, gold


def _blank(nlp: Language, sentence: GoldSentence, given: bool) -> Doc:
    doc = blank_doc(nlp.vocab, [sentence])
    known = [(i, head - 1 if head else i) for i, head in enumerate(sentence.heads.tolist()) if head != MISSING]
    if given and known:
        doc._.arc_constraints = {"required": known}
    return doc
