"""Sentences of CoNLL-U to spaCy's Docs, and back without losing what a Doc has no place for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import SENT_START
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..errors import ConlluError
from ..pipeline.annotate import write_extension
from ..pipeline.extensions import describe, read_extension
from ..trees import MISSING, find_cycles, shown_cycle
from .sentence import (
    DEPREL,
    FEATS,
    FORM,
    HEAD,
    LEMMA,
    MISC,
    UPOS,
    XPOS,
    Sentence,
    clean_form,
    format_rows,
)

_ANNOTATION = (LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL)  # in the order of what _Token has after form and space


class _Token(NamedTuple):
    """What a Doc holds of a token. "" where there is nothing; the head counts from 0 in the sentence, None if it is not known."""

    form: str
    space: bool
    lemma: str
    pos: str
    tag: str
    morph: str
    head: int | None
    dep: str


def sentence_to_doc(vocab: Vocab, sentence: Sentence, *, surface_tokens: bool = False) -> Doc:
    """A Doc of one sentence; see `sentences_to_doc`."""
    return sentences_to_doc(vocab, [sentence], surface_tokens=surface_tokens)


def sentences_to_doc(vocab: Vocab, sentences: Iterable[Sentence], *, surface_tokens: bool = False) -> Doc:
    """A Doc of sentences of CoNLL-U, with all that it has a place for: form, space, lemma, pos, tag, morph, head, dep, sentence start.

    The whole sentences, with comments, multiword tokens, empty nodes, DEPS and MISC, are kept as text in `doc._.conllu`, a list of
    strings; `doc_to_conllu` puts the Doc's own annotation back into them.

    vocab (Vocab): Of the pipeline.
    sentences (Iterable[Sentence]): Words whose HEAD is "_" have no head in the Doc. A UPOS that spaCy does not know is left out.
    surface_tokens (bool): Tokens are multiword tokens where there are some, and not the words in them. Such a token has the head, label,
        tag, lemma and features of the word in it that is nearest to the root (the first, if several are), so that a tree
        stays a tree with as many roots.
    RETURNS (Doc): ROOT's label is "ROOT", as spaCy wants it.
    RAISES (ConlluError): If the words of a sentence have several roots, or a cycle: spaCy would split the sentence, or never come back. It
        names file and line.
    """
    words: list[_Token] = []
    heads: list[int] = []
    starts: list[int] = []
    texts: list[str] = []
    for sentence in sentences:
        texts.append(sentence.text())
        tokens = _surface(sentence) if surface_tokens else _tokens(sentence)
        first = len(words)
        starts.append(first)
        words += tokens
        heads += [first + (i if token.head is None else token.head) for i, token in enumerate(tokens)]
    doc = Doc(
        vocab,
        words=[token.form for token in words],
        spaces=[token.space for token in words],
        lemmas=[token.lemma for token in words],
        pos=[token.pos for token in words],
        tags=[token.tag for token in words],
        morphs=[token.morph for token in words],
        heads=heads,
        deps=[token.dep for token in words],
    )
    if words:
        sent_starts = np.full(len(words), -1, dtype=np.int64)
        sent_starts[starts] = 1
        doc.from_array([SENT_START], sent_starts.view(np.uint64))  # spaCy has derived others from incomplete trees
    write_extension(doc, "conllu", texts)
    return doc


def doc_to_conllu(doc: Doc) -> str:
    """A Doc in CoNLL-U, sentence by sentence.

    If it came from CoNLL-U (`doc._.conllu`), every cell in which the Doc does not say anything else is as it was, and so are comments,
    multiword tokens, empty nodes, DEPS and MISC. Else the cells are written from the Doc alone, with its text as a comment.

    doc (Doc): With sentence boundaries, or one sentence. A token without a dep has no head: "_". It may be malformed; what is on the
        Doc is what is written.
    RETURNS (str): Ends with an empty line, unless the file that it came from does not.
    RAISES (ConlluError): If tokens or sentences are not those of `doc._.conllu`, or if heads lie in other sentences.
    """
    texts = read_extension(doc, "conllu")
    spans = [(sentence.start, sentence.end) for sentence in doc.sents] if doc.has_annotation("SENT_START") else []
    if not spans and len(doc):
        spans = [(0, len(doc))]
    if texts is None:
        return "".join(_written(doc, *span) for span in spans)
    sentences = [Sentence(f"doc._.conllu of {describe(doc)}", 1, _lines(text)) for text in texts]
    found = [len(sentence) for sentence in sentences]
    if [end - start for start, end in spans] != found:
        raise ConlluError(
            f"{describe(doc)} has sentences of {[end - start for start, end in spans]} tokens, but came from sentences of {found} words. "
            "Surface tokens and changed boundaries can't be put back into CoNLL-U; set doc._.conllu to None to write the Doc alone."
        )
    for sentence, (start, end) in zip(sentences, spans, strict=True):
        _update(sentence, doc, start, end)
    return "".join(sentence.text() for sentence in sentences)


def _tokens(sentence: Sentence) -> list[_Token]:
    _check_tree(sentence)
    columns = [sentence.column(number) for number in (FORM, LEMMA, UPOS, XPOS, FEATS, DEPREL, MISC)]
    spaces = [_space(misc) for misc in columns[6]]
    for first, last, cells in sentence.multiword_tokens():
        spaces[first - 1 : last] = [True] * (last - first) + [_space(cells[MISC])]
    return [
        _Token(
            form,
            space,
            _text(lemma, form),
            upos if upos in POS_IDS else "",
            _text(xpos),
            _text(feats),
            None if head == MISSING else i if head == 0 else head - 1,
            "" if head == MISSING else "ROOT" if head == 0 else _text(deprel) or "dep",
        )
        for i, (form, lemma, upos, xpos, feats, deprel, space, head) in enumerate(
            zip(*columns[:6], spaces, sentence.heads, strict=True)
        )
    ]


def _surface(sentence: Sentence) -> list[_Token]:
    """The tokens of the surface; see `sentences_to_doc`."""
    words = _tokens(sentence)
    ranges = {first: (last, cells) for first, last, cells in sentence.multiword_tokens()}
    depths = _depths(words) if ranges else []
    of_word: list[int] = []  # the surface token of each word
    tokens: list[_Token] = []
    for i, word in enumerate(words):
        if i < len(of_word):  # in a multiword token that has been seen
            continue
        last, cells = ranges.get(i + 1, (i + 1, None))
        if cells is not None:
            inner = range(i, last)
            word = words[min(inner, key=lambda k: (depths[k], k))]
            word = word._replace(form=cells[FORM], space=_space(cells[MISC]))
        of_word += [len(tokens)] * (last - i)
        tokens.append(word)
    return [token if token.head is None else token._replace(head=of_word[token.head]) for token in tokens]


def _depths(words: Sequence[_Token]) -> list[int]:
    """Arcs from each word up to the root. What hangs on a word without a head is below all else."""
    depths: list[int] = [-1] * len(words)
    for start in range(len(words)):
        path = []
        word = start
        while depths[word] < 0:
            head = words[word].head
            if head is None or head == word:
                depths[word] = 0 if head == word else len(words)
            else:
                path.append(word)
                word = head
        for below in reversed(path):
            depths[below] = depths[word] + 1
            word = below
    return depths


def _check_tree(sentence: Sentence) -> None:
    remedy = "`spacy mindroot repair` makes trees with one root of what is in a file."
    sentence.check_heads()
    roots = [word for word, head in enumerate(sentence.heads, 1) if head == 0]
    if len(roots) > 1:
        raise sentence.fault(
            roots[1],
            f"is the second root of its sentence: word {roots[1]} besides {roots[0]}. spaCy would split it. {remedy}",
        )
    for cycle in find_cycles(sentence.heads):
        raise sentence.fault(cycle[0], f"is in a cycle of its sentence: {shown_cycle(cycle)}. {remedy}")


def _update(sentence: Sentence, doc: Doc, start: int, end: int) -> None:
    """Writes what the tokens say otherwise than the words do."""
    if [token.text for token in doc[start:end]] != sentence.words:
        raise ConlluError(f"{describe(doc)} has other tokens than the words in its doc._.conllu.")
    for word, (was, now) in enumerate(zip(_tokens(sentence), _read(doc, start, end), strict=True), 1):
        for column, before, after in zip(_ANNOTATION, was[2:], now[2:], strict=True):
            if after not in ("", None, before) and not (column == FEATS and _same_feats(was.morph, now.morph)):
                sentence.replace(word, column, _cells(word - 1, now)[column])


def _read(doc: Doc, start: int, end: int) -> list[_Token]:
    """A sentence of a Doc."""
    tokens = []
    for token in doc[start:end]:
        head = token.head.i
        if token.dep and not start <= head < end:
            raise ConlluError(f"{describe(doc)}: the head of token {token.i} ({token.text!r}) is in another sentence.")
        tokens.append(
            _Token(
                token.text,
                bool(token.whitespace_) or token.i + 1 == len(doc),
                token.lemma_,
                token.pos_,
                token.tag_,
                str(token.morph),
                head - start if token.dep else None,
                token.dep_,
            )
        )
    return tokens


def _cells(i: int, token: _Token) -> list[str]:
    """The ten cells of a token, which is number i of its sentence, from 0."""
    is_root = token.head == i
    head = "_" if token.head is None else "0" if is_root else str(token.head + 1)
    dep = "root" if is_root and token.dep == "ROOT" else token.dep
    annotation = (token.lemma, token.pos, token.tag, token.morph, head, dep)
    misc = "_" if token.space else "SpaceAfter=No"
    return [str(i + 1), clean_form(token.form), *(" ".join(cell.split()) or "_" for cell in annotation), "_", misc]


def _written(doc: Doc, start: int, end: int) -> str:
    rows = [_cells(i, token) for i, token in enumerate(_read(doc, start, end))]
    return format_rows([f"# text = {' '.join(doc[start:end].text.split())}"], rows)


def _lines(text: str) -> list[bytes]:
    """As a file gives them: line ends are line feeds, and only those."""
    return [line for line in re.split(rb"(?<=\n)", text.encode("utf8")) if line]


def _text(cell: str, form: str = "") -> str:
    """A cell's text; "_" is nothing, but for the lemma of an underscore."""
    return "" if cell == "_" and form != "_" else cell


def _space(misc: str) -> bool:
    return "SpaceAfter=No" not in misc.split("|")


def _same_feats(cell: str, morph: str) -> bool:
    """spaCy sorts the features, and the values of each."""

    def sets(feats: str) -> Any:
        pairs = (feat.partition("=") for feat in feats.split("|"))
        return sorted((name, sorted(values.split(","))) for name, _, values in pairs)

    return bool(sets(cell) == sets(morph))
