"""Runs a pipeline on a treebank, from gold tokens or from raw text, writes its output as CoNLL-U, and times it.

Nothing of the gold annotation gets into the output. From gold tokens, it keeps their comments, multiword tokens and
spaces.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from spacy.language import Language
from spacy.tokens import Doc, Token
from tqdm import tqdm

from ...conllu import Sentence, read_pieces, sentence_to_doc
from ...conllu.columns import FORM, LEMMA, MISC
from ...conllu.docs import sentence_without_tree
from ...conllu.marks import with_attributes
from ...conllu.rows import doc_rows, rows_text, token_rows
from ...conllu.sentence import followed_by_space, format_rows
from ...doc.extensions import describe
from ...doc.reading import blank_doc, read_annotated
from ...errors import CorpusError
from ...pipeline.head_scores import HeadScores
from ...pipeline.scoring import mind_roots, piped
from ..gold import reads_surface_tokens
from .raw_text import paragraphs, text_of

__all__ = ["predict", "predict_from_raw_text", "predict_from_tokens", "with_confidence", "words_per_cpu_second"]

_SENTENCES = 10  # in a text whose parsing is timed
_FEWEST = 5000  # words to time, if need be by reading the same texts again


def predict(
    nlp: Language,
    sentences: Sequence[Sentence],
    *,
    raw: bool = False,
    surface_tokens: bool | None = None,
    show: bool = True,
) -> list[Sentence]:
    """Return the output of a pipeline on a treebank, with the probability of each head in MISC.

    raw (bool): Whether to parse the raw text instead of gold sentences and tokens.
    surface_tokens (Optional[bool]): Whether gold tokens are multiword tokens. None: as the pipeline's config has it.
    """
    parts: Iterable[str]
    if raw:
        parts, total, unit = predict_from_raw_text(nlp, sentences), sum(1 for _ in paragraphs(sentences)), " paragraphs"
    else:
        chosen = bool(reads_surface_tokens(nlp) if surface_tokens is None else surface_tokens)
        parts, total, unit = predict_from_tokens(nlp, sentences, surface_tokens=chosen), len(sentences), " sentences"
    with with_confidence(nlp):
        text = "".join(tqdm(parts, total=total, unit=unit, disable=None if show else True, leave=False))
    pieces = read_pieces(io.BytesIO(text.encode("utf8")), "the output")
    return [piece for piece in pieces if isinstance(piece, Sentence)]


def predict_from_tokens(nlp: Language, sentences: Iterable[Sentence], *, surface_tokens: bool = False) -> Iterator[str]:
    """Yield sentences in CoNLL-U, each parsed with its gold tokens, as a Doc of its own whose boundaries are set."""
    for doc, sentence in piped(nlp, ((_gold_doc(nlp, each, surface_tokens), each) for each in sentences)):
        _check_heads(doc)
        (rows,) = token_rows(doc, [(0, len(doc))])  # one sentence, even if the parser has split it
        if not surface_tokens:
            for row, misc in zip(rows, sentence.column(MISC), strict=True):
                row[MISC] = _spaces(misc)
        for row, token in zip(rows, doc, strict=True):
            row[FORM] = row[FORM] or "_"
            row[MISC] = _with_prob(row[MISC], token)
        ranges = [] if surface_tokens else sentence.multiword_tokens()
        for _, _, cells in ranges:
            cells[LEMMA:] = ["_"] * 7 + [_spaces(cells[MISC])]
        yield format_rows([comment for comment in sentence.comments if "global.columns" not in comment], rows, ranges)


def predict_from_raw_text(nlp: Language, sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield the sentences of each paragraph of a treebank in CoNLL-U, parsed from raw text."""
    texts = list(paragraphs(sentences))
    nlp.max_length = max(nlp.max_length, *map(len, texts)) if texts else nlp.max_length
    for number, (doc, _) in enumerate(piped(nlp, ((text, None) for text in texts)), 1):
        _check_heads(doc)
        parts: list[str] = []
        for tokens, rows, ranges in doc_rows(doc):
            for row, i in zip(rows, tokens, strict=True):
                row[MISC] = _with_prob(row[MISC], doc[i])
            comments = [] if parts else [f"# newpar id = p{number}"]
            parts.append(format_rows([*comments, f"# text = {rows_text(rows, ranges)}"], rows, ranges))
        if parts:
            yield "".join(parts)


def words_per_cpu_second(nlp: Language, sentences: Sequence[Sentence]) -> int:
    """Return the tokens per second of CPU time that a pipeline makes of raw text, in texts of ten sentences."""
    batches = (sentences[i : i + _SENTENCES] for i in range(0, len(sentences), _SENTENCES))
    texts = ["".join(map(text_of, batch)).strip() for batch in batches]
    list(nlp.pipe(texts[:2]))  # warm up
    words = 0
    began = time.process_time()
    while words < _FEWEST:
        tokens = sum(len(doc) for doc in nlp.pipe(texts))
        if not tokens:
            return 0
        words += tokens
    return round(words / max(time.process_time() - began, 1e-9))


@contextmanager
def with_confidence(nlp: Language) -> Iterator[None]:
    """Let every `mind_root` set the probability of each head for a while, except those that repair given heads."""
    changed = [
        each for each in mind_roots(nlp).values() if not each.confidence and not isinstance(each.scores, HeadScores)
    ]
    try:
        for each in changed:
            each.confidence = True
        yield
    finally:
        for each in changed:
            each.confidence = False


def _gold_doc(nlp: Language, sentence: Sentence, surface_tokens: bool) -> Doc:
    if surface_tokens:
        gold = sentence_to_doc(nlp.vocab, sentence, surface_tokens=True)
    else:
        gold = sentence_without_tree(nlp.vocab, sentence)
    return blank_doc(nlp.vocab, read_annotated(gold))


def _check_heads(doc: Doc) -> None:
    if not all(token.dep for token in doc):
        raise CorpusError(
            f"{describe(doc)} has tokens without a head and a label after all components have run. Evaluate a pipeline "
            "with a parser: arc_scorer and mind_root, or spaCy's own."
        )


def _with_prob(misc: str, token: Token) -> str:
    prob = token._.head_prob
    return with_attributes(misc, {} if prob is None else {"HeadProb": f"{prob:.4f}"})


def _spaces(misc: str) -> str:
    return "_" if followed_by_space(misc) else "SpaceAfter=No"
