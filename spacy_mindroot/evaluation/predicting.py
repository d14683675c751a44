"""Runs a pipeline on a treebank, from gold tokens or from raw text, and writes its output as CoNLL-U.

Nothing of the gold annotation gets into the output. From gold tokens, it keeps their comments, multiword tokens and
spaces.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from spacy.language import Language
from spacy.tokens import Doc, Token
from tqdm import tqdm

from ..audit.corpus import piped, reads_surface_tokens
from ..conllu import Sentence, doc_to_conllu, read_pieces, sentence_to_doc
from ..conllu.columns import COLUMNS, DEPREL, FEATS, FORM, HEAD, ID, LEMMA, MISC, UPOS, XPOS
from ..conllu.sentence import clean_form, format_rows
from ..errors import CorpusError
from ..labels import SPACY_ROOT, UD_ROOT
from ..pipeline.extensions import describe
from ..pipeline.head_scores import HeadScores
from ..pipeline.mind_root import MindRoot
from ..pipeline.reading import read_heads
from .raw_text import paragraphs

__all__ = ["predict", "predict_from_raw_text", "predict_from_tokens", "sentences_in", "set_confidence"]


def predict(
    nlp: Language,
    sentences: Sequence[Sentence],
    *,
    raw: bool = False,
    surface_tokens: bool | None = None,
    show: bool = True,
) -> str:
    """Return the output of a pipeline on a treebank in CoNLL-U, with the probability of each head in MISC.

    Makes every `mind_root` of the pipeline set these probabilities, as `set_confidence` does.

    sentences (Sequence[Sentence]): All sentences of the treebank, in order.
    raw (bool): Whether to parse the raw text instead of gold sentences and tokens.
    surface_tokens (Optional[bool]): Whether gold tokens are multiword tokens instead of the words in them. None: as
        the corpus reader in the pipeline's config has it, or words if that names none.
    show (bool): Whether to show the progress, if standard error is a terminal.
    RAISES (CorpusError): If the pipeline fails, or sets no heads.
    """
    set_confidence(nlp)
    parts: Iterable[str]
    if raw:
        parts, total, unit = predict_from_raw_text(nlp, sentences), sum(1 for _ in paragraphs(sentences)), " paragraphs"
    else:
        chosen = bool(reads_surface_tokens(nlp) if surface_tokens is None else surface_tokens)
        parts, total, unit = predict_from_tokens(nlp, sentences, surface_tokens=chosen), len(sentences), " sentences"
    return "".join(tqdm(parts, total=total, unit=unit, disable=None if show else True, leave=False))


def predict_from_tokens(nlp: Language, sentences: Iterable[Sentence], *, surface_tokens: bool = False) -> Iterator[str]:
    """Parse sentences with their gold tokens, each as a Doc of its own whose boundaries are set.

    nlp (Language): The pipeline. It has to set heads.
    surface_tokens (bool): Whether its tokens are multiword tokens instead of the words in them.
    YIELDS (str): Each sentence in CoNLL-U.
    RAISES (CorpusError): If the pipeline fails, or sets no heads.
    """
    for doc, sentence in piped(nlp, ((_gold_doc(nlp, each, surface_tokens), each) for each in sentences)):
        rows = _rows(doc)
        if not surface_tokens:
            for first, last, cells in reversed(sentence.multiword_tokens()):
                rows.insert(first - 1, [f"{first}-{last}", cells[FORM], *["_"] * 7, _spaces(cells[MISC])])
            plain = [row for row in rows if "-" not in row[ID]]
            for row, misc in zip(plain, sentence.column(MISC), strict=True):
                row[MISC] = _joined(_spaces(misc), row[MISC])
        yield format_rows([comment for comment in sentence.comments if "global.columns" not in comment], rows)


def predict_from_raw_text(nlp: Language, sentences: Iterable[Sentence]) -> Iterator[str]:
    """Parse the raw text of a treebank, paragraph by paragraph.

    nlp (Language): The pipeline. It has to set heads and sentence boundaries.
    sentences (Iterable[Sentence]): All sentences of the treebank, in order.
    YIELDS (str): The sentences of each paragraph in CoNLL-U.
    RAISES (CorpusError): If the pipeline fails, or sets no heads.
    """
    texts = list(paragraphs(sentences))
    nlp.max_length = max(nlp.max_length, *map(len, texts)) if texts else nlp.max_length
    for number, (doc, _) in enumerate(piped(nlp, ((text, None) for text in texts)), 1):
        _check_heads(doc)
        words = (token for token in doc if not token.text.isspace())
        lines = [f"# newpar id = p{number}"]
        for line in doc_to_conllu(doc).split("\n"):
            cells = line.split("\t")
            if len(cells) == len(COLUMNS):
                cells[MISC] = _joined(cells[MISC], _head_prob(next(words)))
                line = "\t".join(cells)
            lines.append(line)
        if len(lines) > 2:
            yield "\n".join(lines)


def sentences_in(text: str, source: str) -> list[Sentence]:
    """Return the sentences of a text in CoNLL-U.

    source (str): The name of the text in messages.
    RAISES (ConlluError): For the first sentence at fault.
    """
    pieces = read_pieces(io.BytesIO(text.encode("utf8")), source)
    sentences = [piece for piece in pieces if isinstance(piece, Sentence)]
    for sentence in sentences:
        sentence.check_heads()
    return sentences


def set_confidence(nlp: Language) -> None:
    """Make every `mind_root` of a pipeline set the probability of each head, except those that repair given heads."""
    for _, component in nlp.pipeline:
        if isinstance(component, MindRoot) and not isinstance(component.scores, HeadScores):
            component.confidence = True


def _gold_doc(nlp: Language, sentence: Sentence, surface_tokens: bool) -> Doc:
    if surface_tokens:
        gold = sentence_to_doc(nlp.vocab, sentence, surface_tokens=True)
        words = [token.text for token in gold]
        spaces = [bool(token.whitespace_) for token in gold]
    else:
        words = sentence.words
        spaces = [_spaces(misc) == "_" for misc in sentence.column(MISC)]
        for first, last, cells in sentence.multiword_tokens():
            spaces[first - 1 : last] = [True] * (last - first) + [_spaces(cells[MISC]) == "_"]
    return Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=[i == 0 for i in range(len(words))])


def _rows(doc: Doc) -> list[list[str]]:
    """Return the ten cells of each token of a Doc that is one sentence, even if the parser has split it."""
    _check_heads(doc)
    heads, _ = read_heads(doc)
    rows = []
    for token, head in zip(doc, heads.tolist(), strict=True):
        is_root = head == token.i
        row = ["_"] * 10
        row[ID], row[FORM] = str(token.i + 1), clean_form(token.text)
        row[LEMMA], row[UPOS], row[XPOS], row[FEATS] = map(
            _cell, (token.lemma_, token.pos_, token.tag_, str(token.morph))
        )
        row[HEAD] = "0" if is_root else str(head + 1)
        row[DEPREL] = UD_ROOT if is_root and token.dep_ == SPACY_ROOT else _cell(token.dep_)
        row[MISC] = _head_prob(token)
        rows.append(row)
    return rows


def _check_heads(doc: Doc) -> None:
    if not all(token.dep for token in doc):
        raise CorpusError(
            f"{describe(doc)} has tokens without a head and a label after all components have run. Evaluate a pipeline "
            "with a parser: arc_scorer and mind_root, or spaCy's own."
        )


def _head_prob(token: Token) -> str:
    prob = token._.head_prob
    return "_" if prob is None else f"HeadProb={prob:.4f}"


def _spaces(misc: str) -> str:
    return "SpaceAfter=No" if "SpaceAfter=No" in misc.strip().split("|") else "_"


def _joined(*cells: str) -> str:
    """Join cells of MISC, in the order that UD asks for."""
    return "|".join(sorted((part for cell in cells if cell != "_" for part in cell.split("|")), key=str.lower)) or "_"


def _cell(text: str) -> str:
    return " ".join(text.split()) or "_"
