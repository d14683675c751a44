"""Turns CoNLL-U sentences into Docs, and back without losing what a Doc has no place for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from spacy.attrs import SENT_START
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..errors import ConlluError
from ..labels import SPACY_ROOT, UD_ROOT
from ..pipeline.extensions import describe, read_extension, write_extension
from ..pipeline.reading import sentence_bounds
from ..trees import MISSING, find_cycles, shown_cycle
from .columns import CONLLU, DEPREL, FEATS, FORM, HEAD, LEMMA, MISC, UPOS, XPOS, Columns
from .sentence import Sentence, clean_form, columns_named, format_rows

__all__ = [
    "doc_rows",
    "doc_to_conllu",
    "rows_text",
    "sentence_to_doc",
    "sentence_without_tree",
    "sentences_to_doc",
    "updated_sentences",
    "write_predicted",
]

_ANNOTATION = (LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL)  # the columns of _Token's fields after form and space


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
    texts: list[str] = []
    columns = CONLLU
    for sentence in sentences:
        texts.append(_with_header(sentence, columns))
        columns = sentence.columns
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
        doc.from_array([SENT_START], sent_starts.view(np.uint64))  # spaCy derives others from incomplete trees
    write_extension(doc, "conllu", texts)
    return doc


def sentence_without_tree(vocab: Vocab, sentence: Sentence) -> Doc:
    """Return a Doc of one sentence with all its annotation except HEAD and DEPREL, which may be malformed.

    `write_predicted` takes what a pipeline has added back to the sentence.

    RAISES (ConlluError): If a cell is not UTF-8. The message names file and line.
    """
    words = _tokens(sentence, with_tree=False)
    return Doc(
        vocab,
        words=[token.form for token in words],
        spaces=[token.space for token in words],
        lemmas=[token.lemma for token in words],
        pos=[token.pos for token in words],
        tags=[token.tag for token in words],
        morphs=[token.morph for token in words],
        sent_starts=[i == 0 for i in range(len(words))],
    )


def write_predicted(sentence: Sentence, doc: Doc) -> None:
    """Write what a pipeline has predicted into the cells of a sentence. All other cells stay.

    sentence (Sentence): Changed in place. Where the Doc has a tree, its HEAD and DEPREL are written; elsewhere, the
        cells in which the Doc differs from the sentence.
    doc (Doc): From `sentence_without_tree`.
    RAISES (ConlluError): If the Doc has other tokens than the sentence, or heads in other sentences.
    """
    if [token.text for token in doc] != sentence.words:
        raise ConlluError(f"{describe(doc)} has other tokens than the words of its sentence.")
    bounds = sentence_bounds(doc)
    if len(bounds) > 1:
        raise ConlluError(f"{describe(doc)} was one sentence, and has been split into {len(bounds)}.")
    _write_cells(sentence, _tokens(sentence, with_tree=False), doc, 0, len(doc))


def doc_rows(doc: Doc) -> list[tuple[list[int], list[list[str]]]]:
    """Return the sentences of a Doc: the number of each token in the Doc, and its ten cells in CoNLL-U.

    White-space tokens are left out, as in `doc_to_conllu`, and so are sentences of nothing else.
    """
    return list(_rows(doc, sentence_bounds(doc)))


def doc_to_conllu(doc: Doc) -> str:
    """Return a Doc in CoNLL-U, sentence by sentence.

    If the Doc came from CoNLL-U (`doc._.conllu`), comments, multiword tokens, empty nodes, DEPS, MISC, and every cell
    that agrees with the Doc come out as they were. If it came from CoNLL-U Plus, the text begins with the header that
    names the columns, and annotation without a column is not written.

    Otherwise the cells are written from the Doc alone, with the text of each sentence as a comment. CoNLL-U has no
    white-space tokens: their text goes to MISC (`SpacesAfter`, or `SpacesBefore` for the first word), and their
    dependents attach to their heads.

    doc (Doc): A Doc with sentence boundaries; without any, it is one sentence. A token without a dep has no head ("_").
        Heads may be malformed: they are written as they are.
    RETURNS (str): Ends with an empty line, unless the file that it came from does not.
    RAISES (ConlluError): If tokens or sentences are not those of `doc._.conllu`, or if heads are in other sentences.
    """
    if read_extension(doc, "conllu") is None:
        return _written(doc, sentence_bounds(doc))
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
    for sentence, (start, end) in zip(sentences, spans, strict=True):
        _update(sentence, doc, start, end)
    return sentences


def _with_header(sentence: Sentence, before: Columns) -> str:
    """Return the text of a sentence, after a header if its columns differ from those `before` and it has no header."""
    has_header = columns_named(sentence.lines, before, sentence.source, sentence.line) is sentence.columns
    return sentence.text() if has_header else sentence.columns.header() + sentence.text()


def _kept(texts: Iterable[str], name: str) -> list[Sentence]:
    """Return the sentences of `doc._.conllu`."""
    source = f"doc._.conllu of {name}"
    columns: Columns | None = CONLLU
    sentences = []
    for text in texts:
        lines = [line for line in re.split(rb"(?<=\n)", text.encode("utf8")) if line]
        columns = columns_named(lines, columns, source, 1)
        sentences.append(Sentence(source, 1, lines, columns or CONLLU))
    return sentences


def _tokens(sentence: Sentence, *, with_tree: bool = True) -> list[_Token]:
    heads = sentence.heads
    if with_tree:
        _check_tree(sentence)
    else:
        heads = [MISSING] * len(sentence)
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
            _feats(feats),
            None if head == MISSING else i if head == 0 else head - 1,
            "" if head == MISSING else SPACY_ROOT if head == 0 else _text(deprel) or "dep",
        )
        for i, (form, lemma, upos, xpos, feats, deprel, space, head) in enumerate(
            zip(*columns[:6], spaces, heads, strict=True)
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
            word = word._replace(form=cells[FORM], space=_space(cells[MISC]))
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


def _update(sentence: Sentence, doc: Doc, start: int, end: int) -> None:
    """Write back the cells where the Doc differs from the sentence."""
    if [token.text for token in doc[start:end]] != sentence.words:
        raise ConlluError(f"{describe(doc)} has other tokens than the words in its doc._.conllu.")
    _write_cells(sentence, _tokens(sentence), doc, start, end)


def _write_cells(sentence: Sentence, before: list[_Token], doc: Doc, start: int, end: int) -> None:
    """Write back the cells where a Doc differs from the tokens `before`."""
    for word, (was, now) in enumerate(zip(before, _read(doc, start, end), strict=True), 1):
        for column, old, after in zip(_ANNOTATION, was[2:], now[2:], strict=True):
            if after not in ("", None, old) and not (column == FEATS and _same_feats(was.morph, now.morph)):
                sentence.replace(word, column, _cells(word - 1, now)[column])


def _read(doc: Doc, start: int, end: int) -> list[_Token]:
    """Return the tokens of a sentence of a Doc."""
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


def _cells(i: int, token: _Token, misc: str = "_") -> list[str]:
    """Return the ten cells of a token, which is number i of its sentence, from 0."""
    is_root = token.head == i
    head = "_" if token.head is None else "0" if is_root else str(token.head + 1)
    dep = UD_ROOT if is_root and token.dep == SPACY_ROOT else token.dep
    annotation = (token.lemma, token.pos, token.tag, token.morph, head, dep)
    return [str(i + 1), clean_form(token.form), *(" ".join(cell.split()) or "_" for cell in annotation), "_", misc]


def _written(doc: Doc, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text of a Doc that did not come from CoNLL-U."""
    return "".join(format_rows([f"# text = {rows_text(rows)}"], rows) for _, rows in _rows(doc, spans))


def rows_text(rows: Sequence[Sequence[str]]) -> str:
    """Return the text of a sentence, from its cells: the forms, with single spaces for any white space between them."""
    return "".join(row[FORM] + (" " if "SpaceAfter=No" not in row[MISC].split("|") else "") for row in rows).rstrip()


def _rows(doc: Doc, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield the tokens of each sentence that are more than white space, and their cells."""
    spaces = _spaces(doc)
    for start, end in spans:
        tokens = _read(doc, start, end)
        words = [i for i in range(len(tokens)) if start + i in spaces]
        gaps = [spaces[start + i] for i in words]
        rows = [
            _cells(i, token, _misc(before, after))
            for i, (token, (before, after)) in enumerate(zip(_without_spaces(tokens, words), gaps, strict=True))
        ]
        if rows:
            yield [start + i for i in words], rows


def _spaces(doc: Doc) -> dict[int, tuple[str, str]]:
    """Return the white space before and after each token that is more than white space.

    Space before is given for the first of these tokens alone. Space after includes white-space tokens. The last of
    these tokens counts as followed by a space.
    """
    text = doc.text
    words = [token for token in doc if not token.text.isspace()]
    spaces = {}
    for number, token in enumerate(words):
        end = token.idx + len(token.text)
        after = text[end : words[number + 1].idx] if number + 1 < len(words) else text[end:] or " "
        spaces[token.i] = ("" if number else text[: token.idx], after)
    return spaces


def _without_spaces(tokens: Sequence[_Token], words: Sequence[int]) -> list[_Token]:
    """Return the tokens `words` of a sentence without the others, which are white space.

    What depends on white space attaches to its head. If white space is the root, the first of its dependents takes its
    place.
    """
    if len(words) == len(tokens):
        return list(tokens)
    numbers = {i: number for number, i in enumerate(words)}
    new_root: int | None = None
    kept = []
    for number, i in enumerate(words):
        token, head, seen = tokens[i], tokens[i].head, set[int]()
        while head is not None and head not in numbers and head not in seen:
            seen.add(head)
            head = tokens[head].head
        if head is None or (head == i and seen):  # the latter: a cycle through white space
            kept.append(token._replace(head=None, dep=""))
        elif head in numbers:
            kept.append(token._replace(head=numbers[head]))
        elif new_root is None:
            new_root = number
            kept.append(token._replace(head=number, dep=SPACY_ROOT))
        else:
            kept.append(token._replace(head=new_root))
    return kept


def _misc(before: str, after: str) -> str:
    """Return the cell MISC for the white space around a token."""
    found = []
    if not after:
        found.append("SpaceAfter=No")
    elif after != " ":
        found.append(f"SpacesAfter={_escaped(after)}")
    if before:
        found.append(f"SpacesBefore={_escaped(before)}")
    return "|".join(found) or "_"


def _escaped(spaces: str) -> str:
    """White space as UDPipe writes it in MISC: `\\s`, `\\n`, `\\t`, `\\r`; other characters as in Python, `\\xa0`."""
    return "".join("\\s" if space == " " else space.encode("unicode_escape").decode() for space in spaces)


def _text(cell: str, form: str = "") -> str:
    """Return the text of a cell: "_" means none, except in the lemma of an underscore."""
    return "" if cell == "_" and form != "_" else cell


def _space(misc: str) -> bool:
    return "SpaceAfter=No" not in misc.split("|")


@lru_cache(maxsize=4096)
def _feats(cell: str) -> str:
    """Return FEATS if spaCy can hold them without loss, as `Name=Value` pairs with different names; else ""."""
    pairs = [feat.split("=") for feat in cell.split("|")]
    good = all(len(pair) == 2 for pair in pairs) and len({name for name, *_ in pairs}) == len(pairs)
    return cell if good else ""


def _same_feats(cell: str, morph: str) -> bool:
    """Whether two strings have the same features. spaCy sorts the features, and the values of each."""
    return _sorted_feats(cell) == _sorted_feats(morph)


def _sorted_feats(feats: str) -> list[tuple[str, list[str]]]:
    pairs = (feat.partition("=") for feat in feats.split("|"))
    return sorted((name, sorted(values.split(","))) for name, _, values in pairs)
