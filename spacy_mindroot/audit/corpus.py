"""The sentences of an annotated corpus, scored by a pipeline: gold tokens, gold boundaries, one sentence a Doc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from ..conllu import conllu_files, read_conllu, sentence_to_doc
from ..errors import CorpusError, ScoresShapeError
from ..pipeline.mind_root import MindRoot
from ..pipeline.reading import check_sentences
from ..pipeline.sources import DocArcScores
from ..scored import ScoredSentence
from ..trees import MISSING


class GoldSentence(NamedTuple):
    """An annotated sentence.

    words (list[str]): Its tokens.
    spaces (list[bool]): Whether a space follows each.
    heads (np.ndarray): (n,), 0 = ROOT, -1 = not known.
    labels (list[str]): Of each token; `root` on arcs from ROOT.
    name (str): What to call it in reports.
    """

    words: list[str]
    spaces: list[bool]
    heads: npt.NDArray[np.int64]
    labels: list[str]
    name: str


def read_corpus(path: Path, vocab: Vocab) -> list[GoldSentence]:
    """All sentences of a `.spacy` file, or of a CoNLL-U file or folder.

    RAISES (CorpusError): If it can't be read, or has no sentences. ConlluError: for the first fault in a CoNLL-U file.
    """
    read = _read_docs if path.suffix == ".spacy" else _read_conllu
    sentences = read(path, vocab)
    if not sentences:
        raise CorpusError(f"There are no sentences in {path}.")
    return sentences


def _read_conllu(path: Path, vocab: Vocab) -> list[GoldSentence]:
    return [
        _gold_sentence(sentence_to_doc(vocab, sentence)[:], sentence.sent_id or f"{file.stem}-{number}")
        for file in conllu_files(path)
        for number, sentence in enumerate(read_conllu(file), 1)
    ]


def _read_docs(path: Path, vocab: Vocab) -> list[GoldSentence]:
    try:
        docs = list(DocBin().from_disk(path).get_docs(vocab))
    except Exception as error:  # zlib's, msgpack's and more
        raise CorpusError(f"{path} can't be read as a .spacy file: {error}") from error
    return [
        _gold_sentence(span, f"{path.stem}-{d}-{s}" if len(docs) > 1 else f"{path.stem}-{s}")
        for d, doc in enumerate(docs, 1)
        for s, span in enumerate(_sentences(doc), 1)
    ]


def _sentences(doc: Doc) -> Iterable[Span]:
    return doc.sents if doc.has_annotation("SENT_START") else [doc[:]] if len(doc) else []


def _gold_sentence(span: Span, name: str) -> GoldSentence:
    # A token without a label has no head that is known; spaCy makes it its own.
    heads = [MISSING if not t.dep else 0 if t.head == t else t.head.i - span.start + 1 for t in span]
    return GoldSentence(
        words=[token.text for token in span],
        spaces=[bool(token.whitespace_) for token in span],
        heads=np.array(heads, dtype=np.int64),
        labels=["root" if head == 0 else token.dep_ for head, token in zip(heads, span, strict=True)],
        name=name,
    )


def score_sentences(nlp: Language, sentences: Iterable[GoldSentence]) -> Iterator[ScoredSentence]:
    """Runs a pipeline up to its `mind_root` and reads the arc scores as that would; without one, off `doc._.arc_scores`.

    nlp (Language): With an `arc_scorer`, or any other component that leaves arc scores.
    RAISES (MindRootError): If a Doc has no scores, or not those of a single sentence.
    """
    at = next((i for i, (_, pipe) in enumerate(nlp.pipeline) if isinstance(pipe, MindRoot)), None)
    component = None if at is None else nlp.pipeline[at][1]
    source = component.scores if isinstance(component, MindRoot) else DocArcScores()
    with nlp.select_pipes(enable=nlp.pipe_names[:at]):
        pairs = (
            (Doc(nlp.vocab, words=s.words, spaces=s.spaces, sent_starts=[i == 0 for i in range(len(s.words))]), s)
            for s in sentences
        )
        for doc, gold in nlp.pipe(pairs, as_tuples=True):
            sourced = source.read(doc)
            matrices = sourced.matrices
            if len(matrices) != 1:
                raise ScoresShapeError(
                    f"{gold.name} is one sentence, but has arc scores of {len(matrices)}. Does a component of the pipeline "
                    "split sentences anew?"
                )
            check_sentences(doc, [len(matrices[0])])
            labels, names = sourced.arc_labels, sourced.label_names
            yield ScoredSentence(
                scores=matrices[0],
                words=gold.words,
                best_labels=None if labels is None else np.asarray(labels[0]),
                label_names=[] if names is None else ["root" if name == "ROOT" else name for name in names],
                gold_heads=gold.heads,
                gold_labels=gold.labels,
                name=gold.name,
            )
