"""Turns CoNLL-U sentences into Docs, and back without losing what a Doc has no place for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import SENT_START
from spacy.morphology import Morphology
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..doc.extensions import describe, read_extension, write_extension
from ..doc.reading import sentence_bounds
from ..doc.words import MultiwordToken, set_multiword_tokens, texts_of, word_forms
from ..errors import ConlluError
from ..labels import SPACY_ROOT, UD_ROOT
from ..trees import MISSING, find_cycles, shown_cycle
from .columns import CONLLU, DEPREL, FEATS, FORM, HEAD, LEMMA, MISC, UPOS, XPOS, Columns
from .rows import Rows, doc_rows, rows_text, token_rows
from .sentence import Sentence, closed, columns_named, followed_by_space, format_rows, to_sentence

__all__ = [
    "doc_to_conllu",
    "keep_sentences",
    "sentence_to_doc",
    "sentence_without_tree",
    "sentences_to_doc",
    "updated_sentences",
    "write_predicted",
]

_ANNOTATION = (LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL)


class _Token(NamedTuple):
    """The annotation of a token on a Doc; "" stands for none. The head is an index in the sentence, None if unknown."""

    form: str
    space: bool
    lemma: str
    pos: str
    tag: str
    morph: str
    head: int | None
    dep: str


def sentence_to_doc(vocab: Vocab, sentence: Sentence, *, surface_tokens: bool = False) -> Doc:
    """Return a Doc of one sentence. See `sentences_to_doc`."""
    return sentences_to_doc(vocab, [sentence], surface_tokens=surface_tokens)


def sentences_to_doc(vocab: Vocab, sentences: Iterable[Sentence], *, surface_tokens: bool = False) -> Doc:
    """Return a Doc of sentences in CoNLL-U: form, space, lemma, pos, tag, morph, head, dep and sentence starts.

    The words of a multiword token divide its form, and a span group says what belongs together: see
    `spacy_mindroot.doc.words`.

    The complete sentences, with comments, multiword tokens, empty nodes, DEPS and MISC, are kept as a list of strings
    in `doc._.conllu`. `doc_to_conllu` puts the annotation of the Doc back into them.

    vocab (Vocab): The vocabulary of the pipeline.
    sentences (Iterable[Sentence]): Words whose HEAD is "_" have no head on the Doc. UPOS and FEATS that spaCy cannot
        hold are left off the Doc and kept in `doc._.conllu`.
    surface_tokens (bool): Whether tokens are multiword tokens, where there are any, instead of the words in them. Such
        a token takes head, label, tag, lemma and features from the word in it that is nearest to the root, or from the
        first of several. A tree thus stays a tree with the same number of roots.
    RETURNS (Doc): The label of the root is "ROOT", as spaCy expects.
    RAISES (ConlluError): If a sentence has several roots or a cycle. spaCy would split the sentence, or never return.
        The message names file and line.
    """
    words: list[_Token] = []
    heads: list[int] = []
    starts: list[int] = []
    multiword: list[MultiwordToken] = []
    kept = []
    for sentence in sentences:
        kept.append(sentence)
        first = len(words)
        if surface_tokens:
            tokens = _surface(sentence)
        else:
            tokens = _tokens(sentence)
            multiword += _multiword(sentence, first)
        starts.append(first)
        words += tokens
        heads += [first + (i if token.head is None else token.head) for i, token in enumerate(tokens)]
    doc = _doc(vocab, words, multiword, heads=heads, deps=[token.dep for token in words])
    if words:
        sent_starts = np.full(len(words), -1, dtype=np.int64)
        sent_starts[starts] = 1
        doc.from_array([SENT_START], sent_starts.view(np.uint64))  # spaCy derives others from incomplete trees
    keep_sentences(doc, kept)
    return doc


def sentence_without_tree(vocab: Vocab, sentence: Sentence) -> Doc:
    """Return a Doc of one sentence with all its annotation except HEAD and DEPREL, which may be malformed.

    `write_predicted` takes what a pipeline has added back to the sentence.

    RAISES (ConlluError): If a cell is not UTF-8. The message names file and line.
    """
    words = _tokens(sentence, with_tree=False)
    return _doc(vocab, words, _multiword(sentence), sent_starts=[i == 0 for i in range(len(words))])


def _doc(vocab: Vocab, tokens: Sequence[_Token], multiword: Sequence[MultiwordToken], **structure: list[Any]) -> Doc:
    texts, spaces = texts_of([token.form for token in tokens], [token.space for token in tokens], multiword)
    doc = Doc(
        vocab,
        words=texts,
        spaces=spaces,
        lemmas=[token.lemma for token in tokens],
        pos=[token.pos for token in tokens],
        tags=[token.tag for token in tokens],
        morphs=[token.morph for token in tokens],
        **structure,
    )
    if multiword:
        set_multiword_tokens(doc, multiword)
    return doc


def _multiword(sentence: Sentence, offset: int = 0) -> list[MultiwordToken]:
    """Return the multiword tokens of a sentence that begins at token `offset` of a Doc."""
    ranges = sentence.multiword_tokens()
    forms = sentence.words if ranges else ()
    return [
        MultiwordToken(offset + first - 1, offset + last, tuple(forms[first - 1 : last]), cells[FORM])
        for first, last, cells in ranges
    ]


def keep_sentences(doc: Doc, sentences: Iterable[Sentence]) -> None:
    """Set `doc._.conllu`, from which `doc_to_conllu` writes, to the text of sentences.

    All but the last end in an empty line, and where columns change, a header names them.
    """
    texts: list[str] = []
    columns = CONLLU
    for sentence in sentences:
        if texts:
            texts[-1] = closed(texts[-1].encode("utf8")).decode("utf8")
        texts.append(_with_header(sentence, columns))
        columns = sentence.columns
    write_extension(doc, "conllu", texts)


def write_predicted(sentence: Sentence, doc: Doc) -> None:
    """Write what a pipeline has predicted into the cells of a sentence. All other cells stay.

    sentence (Sentence): Changed in place. Where the Doc has a tree, its HEAD and DEPREL are written; elsewhere, the
        cells in which the Doc differs from the sentence.
    doc (Doc): From `sentence_without_tree`.
    RAISES (ConlluError): If the Doc has other tokens than the sentence, or heads in other sentences.
    """
    if word_forms(doc) != sentence.words:
        raise ConlluError(f"{describe(doc)} has other tokens than the words of its sentence.")
    bounds = sentence_bounds(doc)
    if len(bounds) > 1:
        raise ConlluError(f"{describe(doc)} was one sentence, and has been split into {len(bounds)}.")
    _write_cells(sentence, _tokens(sentence, with_tree=False), *token_rows(doc, bounds))


def doc_to_conllu(doc: Doc) -> str:
    """Return a Doc in CoNLL-U, sentence by sentence.

    If the Doc came from CoNLL-U (`doc._.conllu`), comments, multiword tokens, empty nodes, DEPS, MISC, and every cell
    that agrees with the Doc come out as they were. If it came from CoNLL-U Plus, the text begins with the header that
    names the columns, and annotation without a column is not written.

    Otherwise the cells are written from the Doc alone, with the text of each sentence as a comment. CoNLL-U has no
    white-space tokens: see `rows.doc_rows`.

    doc (Doc): A Doc with sentence boundaries; without any, it is one sentence. A token without a dep has no head ("_").
        Heads may be malformed: they are written as they are.
    RETURNS (str): Ends with an empty line, unless the file that it came from does not.
    RAISES (ConlluError): If tokens or sentences are not those of `doc._.conllu`, or if heads are in other sentences.
    """
    if read_extension(doc, "conllu") is None:
        return "".join(
            format_rows([f"# text = {rows_text(rows, ranges)}"], rows, ranges) for _, rows, ranges in doc_rows(doc)
        )
    return "".join(sentence.text() for sentence in updated_sentences(doc))


def updated_sentences(doc: Doc) -> list[Sentence]:
    """Return the sentences that a Doc came from (`doc._.conllu`), with the annotation of the Doc.

    RAISES (ConlluError): As `doc_to_conllu`.
    """
    spans = sentence_bounds(doc)
    sentences = _kept(read_extension(doc, "conllu") or [], describe(doc))
    found = [len(sentence) for sentence in sentences]
    lengths = [end - start for start, end in spans]
    if lengths != found:
        raise ConlluError(
            f"{describe(doc)} has sentences of {lengths} tokens, but came from sentences of {found} words. Surface "
            "tokens and changed boundaries can't be put back into CoNLL-U. Set doc._.conllu to None to write the Doc "
            "alone."
        )
    forms = word_forms(doc)
    for sentence, (start, end), rows in zip(sentences, spans, token_rows(doc, spans), strict=True):
        if forms[start:end] != sentence.words:
            raise ConlluError(f"{describe(doc)} has other tokens than the words in its doc._.conllu.")
        _write_cells(sentence, _tokens(sentence), rows)
    return sentences


def _with_header(sentence: Sentence, before: Columns) -> str:
    """Return the text of a sentence, after a header if its columns differ from those `before` and it has no header."""
    has_header = columns_named(sentence.lines, before, sentence.source, sentence.line) is sentence.columns
    text = sentence.text()
    return text if has_header else sentence.columns.header() + sentence.line_end.decode() + text


def _kept(texts: Iterable[str], name: str) -> list[Sentence]:
    """Return the sentences of `doc._.conllu`."""
    sentences: list[Sentence] = []
    for text in texts:
        columns = sentences[-1].columns if sentences else CONLLU
        sentences.append(to_sentence(text, f"doc._.conllu of {name}", columns))
    return sentences


def _tokens(sentence: Sentence, *, with_tree: bool = True) -> list[_Token]:
    heads = sentence.heads
    if with_tree:
        _check_tree(sentence)
    else:
        heads = [MISSING] * len(sentence)
    columns = [sentence.column(number) for number in (FORM, LEMMA, UPOS, XPOS, FEATS, DEPREL)]
    return [
        _Token(
            form,
            space,
            _text(lemma, form),
            upos if upos in POS_IDS else "",
            _text(xpos),
            _feats(feats),
            None if head == MISSING else i if head == 0 else head - 1,
            "" if head == MISSING else SPACY_ROOT if head == 0 else _text(deprel) or "dep",
        )
        for i, (form, lemma, upos, xpos, feats, deprel, space, head) in enumerate(
            zip(*columns, sentence.spaces(), heads, strict=True)
        )
    ]


def _surface(sentence: Sentence) -> list[_Token]:
    """Return the surface tokens. See `sentences_to_doc`."""
    words = _tokens(sentence)
    ranges = {first: (last, cells) for first, last, cells in sentence.multiword_tokens()}
    depths = _depths(words) if ranges else []
    of_word: list[int] = []  # the surface token of each word
    tokens: list[_Token] = []
    for i, word in enumerate(words):
        if i < len(of_word):  # inside the last multiword token
            continue
        last, cells = ranges.get(i + 1, (i + 1, None))
        if cells is not None:
            inner = range(i, last)
            word = words[min(inner, key=lambda k: (depths[k], k))]
            word = word._replace(form=cells[FORM], space=followed_by_space(cells[MISC]))
        of_word += [len(tokens)] * (last - i)
        tokens.append(word)
    return [token if token.head is None else token._replace(head=of_word[token.head]) for token in tokens]


def _depths(words: Sequence[_Token]) -> list[int]:
    """Return the number of arcs from each word up to the root. Words below one without a head count as the deepest."""
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
    remedy = "`spacy mindroot repair` makes single-rooted trees of the trees in a file."
    sentence.check_heads()
    roots = [word for word, head in enumerate(sentence.heads, 1) if head == 0]
    if len(roots) > 1:
        raise sentence.fault(
            roots[1],
            f"is the second root of its sentence: word {roots[1]} besides {roots[0]}. spaCy would split it. {remedy}",
        )
    for cycle in find_cycles(sentence.heads):
        raise sentence.fault(cycle[0], f"is in a cycle of its sentence: {shown_cycle(cycle)}. {remedy}")


def _write_cells(sentence: Sentence, before: list[_Token], rows: Rows) -> None:
    """Write back the cells where the rows of a Doc differ from the tokens `before`."""
    for word, (token, now) in enumerate(zip(before, rows, strict=True), 1):
        was = _cells(word - 1, token)
        for column in _ANNOTATION:
            if now[column] in ("_", was[column]) or (column == FEATS and _same_feats(was[FEATS], now[FEATS])):
                continue
            sentence.replace(word, column, now[column])


def _cells(i: int, token: _Token) -> list[str]:
    """Return the ten cells that `rows` gives for a token, which is number i of its sentence, from 0."""
    is_root = token.head == i
    head = "_" if token.head is None else "0" if is_root else str(token.head + 1)
    dep = UD_ROOT if is_root and token.dep == SPACY_ROOT else token.dep
    annotation = (token.lemma, token.pos, token.tag, token.morph, head, dep)
    return [str(i + 1), token.form, *(" ".join(cell.split()) or "_" for cell in annotation), "_", "_"]


def _text(cell: str, form: str = "") -> str:
    """Return the text of a cell: "_" means none, except in the lemma of an underscore."""
    return "" if cell == "_" and form != "_" else cell


@lru_cache(maxsize=4096)
def _feats(cell: str) -> str:
    """Return FEATS if spaCy gives them back without loss, in whatever order; else ""."""
    try:  # a string store of its own, which does not grow
        held = Morphology(StringStore()).normalize_features(cell)
    except ValueError:  # no pairs of names and values
        return ""
    return cell if _same_feats(cell, held) else ""


def _same_feats(cell: str, morph: str) -> bool:
    """Whether two cells have the same features. spaCy sorts the features, and the values of each."""
    return _sorted_feats(cell) == _sorted_feats(morph)


def _sorted_feats(feats: str) -> list[tuple[str, list[str]]]:
    pairs = (feat.partition("=") for feat in "".join(feats.split()).split("|"))
    return sorted((name, sorted(values.split(","))) for name, _, values in pairs)
