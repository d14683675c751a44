"""Text for a student: reads and checks raw text before the training, and lets teachers label it afterwards."""

from __future__ import annotations

import hashlib
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import load_model, minibatch

from ...arc_scorer.distillation import distill, expected_uas
from ...conllu import read_conllu
from ...conllu.columns import FEATS, UPOS
from ...doc.reading import AnnotatedSentence, blank_doc, characters_of
from ...errors import ConlluError, CorpusError
from ...escapes import printable
from ...text_files import text_lines
from ..evaluation.raw_text import text_of
from ..gold import GoldSentence, read_corpus, sentences_in_text
from .treebank import PARTS, Treebank

__all__ = ["RawText", "Taught", "read_raw_text", "swap_words", "teach", "warn_of_language"]

_MOST_SENTENCES = 20_000  # of raw text: more than the schedules read
_MOST_PIECES = 100_000  # of text, which may be repeated
_LONGEST = 100  # words of a sentence: longer ones are lists and tables, mostly
_LINES = 500  # tokenized at a time
_SWAPPED = 800  # sentences, about, for lack of raw text: more are not needed
# A word in CoNLL-U. There are fewer than three other lines for each, so a quarter of the lines tells.
_CONLLU = re.compile(r"\d+(?:[-.]\d+)?(?:\t[^\t]*){9}")
_LETTERS = 20  # of a part of a sentence by which it is recognized
_PIECE = re.compile(r"\S(?:.{0,9998}\S)?(?=\s|$)|\S.{0,9999}")  # of a long line
_WORD = re.compile(r"[^\W\d_]+")
# Where a quarter to a half of the words of a sentence are in other sentences of the treebank, so are half as many of
# other kinds of text in its language, and a third of that or less in other languages.
_FEW, _FEWEST = 0.4, 0.1
_DEV_SENTENCES = 300  # for this comparison


@dataclass(frozen=True)
class RawText:
    """Files of raw text."""

    paths: list[Path]
    digest: str
    cut: bool = False  # whether there may be more text than is read

    def lines(self) -> Iterator[str]:
        """Yield the lines that are not empty, those that are very long in pieces. At most 100,000 pieces are read."""
        return islice(chain.from_iterable(map(_pieces, self.paths)), _MOST_PIECES)


def read_raw_text(paths: Sequence[Path]) -> RawText:
    """Read all of the files once, so that a fault in them is known before the training.

    RAISES (CorpusError): If one is empty, not UTF-8, not raw text, or no regular file.
    """
    digest = hashlib.sha256()
    count = 0
    for path in paths:
        if not path.is_file():
            raise CorpusError(
                f"{printable(path)} is not a regular file, but a pipe, say. Raw text is read more than once: write it "
                "to a file first."
            )
        before, in_conllu = count, 0
        for line in islice(_pieces(path), _MOST_PIECES - count):
            digest.update(f"{line}\n".encode())
            count += 1
            in_conllu += _CONLLU.fullmatch(line) is not None
        if 4 * in_conllu > count - before:
            raise CorpusError(
                f"{printable(path)} is CoNLL-U, not raw text. Take the text of its sentences, for example with "
                "`sed -n 's/^# text = //p'`."
            )
        if count == before < _MOST_PIECES:
            raise CorpusError(f"{printable(path)} has no text. Leave it out, or give a file with a text on each line.")
    return RawText(list(paths), digest.hexdigest(), cut=count == _MOST_PIECES)


def warn_of_language(raw: RawText, treebank: Treebank, warn: Callable[[str], Any]) -> None:
    """Warn if raw text seems to be in another language: if it has few words that are in the training set."""
    path = treebank.file("train")
    assert path is not None
    texts = [_words(text_of(sentence)) for sentence in read_conllu(path)]
    in_texts = Counter(chain.from_iterable(map(set, texts)))
    own = [in_texts[word] > 1 for text in texts for word in text]
    usual = sum(own) / max(1, len(own))
    remaining = _MOST_PIECES
    for path in raw.paths:
        if not remaining:
            break
        words = known = 0
        for line in islice(_pieces(path), remaining):
            remaining -= 1
            for word in _words(line):
                words += 1
                known += word in in_texts
        found = known / max(1, words)
        if usual > _FEWEST and found < _FEW * usual:
            warn(
                f"Only {found:.1%} of the words of {printable(path)} are in the training set; of the words of a "
                f"training sentence, {usual:.1%} are in others. Is it in the language and the script of the treebank? "
                "If not, give other text."
            )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _pieces(path: Path) -> Iterator[str]:
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(text_lines(file, printable(path)), 1):
                yield from _PIECE.findall(_decoded(line, path, number))
    except ConlluError as error:  # not text, or damaged
        raise CorpusError(str(error)) from error


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{printable(path)}:{number}: this line is not UTF-8 ({error.reason} at byte {error.start}). Convert the "
            "file first, for example with `iconv -f LATIN1 -t UTF-8`."
        ) from error


@dataclass
class Taught:
    """A text that teachers have labelled. Expected accuracies are shares of right heads, before calibration."""

    sentences: int = 0
    words: int = 0
    too_long: int = 0  # sentences that were left out
    repeated: int = 0  # sentences that were left out: in the treebank, or in the text before
    cut: bool = False  # whether there was more text
    megabytes: float = 0.0
    expected: float = 0.0
    expected_dev: float | None = None  # of the development set; None without one


def teach(
    folders: Sequence[Path],
    treebank: Treebank,
    raw: RawText | None,
    file: Path,
    *,
    note: Callable[[str], Any],
) -> Taught:
    """Let teachers label text, and write it to a .spacy file: raw text or, without any, that of `swap_words`.

    Sentences of the treebank are left out of raw text, those of its test set above all, also where they are parts of
    others or divided. So are sentences that have occurred before, and those of more than 100 words.

    folders (Sequence[Path]): The teachers.
    """
    teachers = [load_model(folder) for folder in folders]
    found = Taught()
    if raw is None:
        sentences = swap_words(list(_of_treebank(teachers[0], treebank, "train", found)))
    else:
        sentences = _in_text(teachers[0], treebank, raw, found)
    docs = []
    for doc in distill(teachers, _blank(teachers[0], islice(sentences, _MOST_SENTENCES))):
        docs.append(doc)
        found.words += len(doc)
        if len(docs) % 1000 == 0:
            note(f"{len(docs):,} sentences have been labelled")
    if not docs:
        raise CorpusError(
            f"No sentence of the raw text can be used: {found.repeated:,} are in the treebank or occur again, and "
            f"{found.too_long:,} have more than {_LONGEST} words. Give other text, with a text or a paragraph on each "
            "line."
        )
    found.sentences = len(docs)
    found.cut = next(sentences, None) is not None or (raw is not None and raw.cut)
    found.expected = expected_uas(docs)
    if treebank.file("dev") is not None:
        dev = islice(_of_treebank(teachers[0], treebank, "dev", Taught()), _DEV_SENTENCES)
        labelled = list(distill(teachers, _blank(teachers[0], dev)))
        found.expected_dev = expected_uas(labelled) if labelled else None  # of long sentences alone
    data = DocBin(docs=docs, store_user_data=True).to_bytes()
    file.write_bytes(data)
    found.megabytes = round(len(data) / 1e6, 1)
    if raw is not None:
        _report(found, note)
    return found


def _report(found: Taught, note: Callable[[str], Any]) -> None:
    beside = "" if found.expected_dev is None else f", and {found.expected_dev:.1%} in the development set"
    left_out = f"{found.repeated:,} that are in the treebank or occur again, {found.too_long:,} that are too long"
    note(
        f"Raw text: {found.sentences:,} sentences, {found.words:,} words ({found.megabytes} MB). Left out: {left_out}"
        f"{', and all further text' if found.cut else ''}. Before calibration, the teachers expect "
        f"{found.expected:.1%} right heads in it{beside}."
    )


def _blank(nlp: Language, sentences: Iterable[AnnotatedSentence]) -> Iterator[Doc]:
    return (blank_doc(nlp.vocab, [each]) for each in sentences)


def swap_words(sentences: Sequence[GoldSentence]) -> Iterator[AnnotatedSentence]:
    """Yield copies of sentences in which half of the words are replaced by others with the same UPOS and FEATS.

    There are some 800 sentences, or as many as are given. Words of multiword tokens and words without a part of speech
    stay as they are. The same sentences give the same copies.
    """
    rng = random.Random(0)
    tags = [_tags_to_swap(each) for each in sentences]
    alike = defaultdict(list)
    for sentence, own in zip(sentences, tags, strict=True):
        for word, tag in zip(sentence.words, own, strict=True):
            alike[tag].append(word)
    for _ in range(round(_SWAPPED / max(1, len(sentences))) or 1):
        for sentence, own in zip(sentences, tags, strict=True):
            swapped = [rng.choice(alike[tag]) if tag and rng.random() < 0.5 else "" for tag in own]
            words = [other or word for other, word in zip(swapped, sentence.words, strict=True)]
            yield replace(sentence, words=words)


def _tags_to_swap(sentence: GoldSentence) -> list[tuple[str, str] | None]:
    """Return the part of speech and the features of each word, None for words that are not to be swapped."""
    if sentence.conllu is None:
        return [None] * len(sentence.words)
    tags = zip(sentence.conllu.column(UPOS), sentence.conllu.column(FEATS), strict=True)
    found: list[tuple[str, str] | None] = [None if upos == "_" else (upos, feats) for upos, feats in tags]
    for token in sentence.multiword:
        found[token.start : token.end] = [None] * (token.end - token.start)
    return found


def _of_treebank(nlp: Language, treebank: Treebank, part: str, found: Taught) -> Iterator[GoldSentence]:
    """Yield the sentences of a part of the treebank, and count those that are left out."""
    path = treebank.file(part)
    assert path is not None
    for sentence in read_corpus(path, nlp.vocab):
        if len(sentence.words) <= _LONGEST:
            yield sentence
        else:
            found.too_long += 1


def _in_text(nlp: Language, treebank: Treebank, raw: RawText, found: Taught) -> Iterator[AnnotatedSentence]:
    """Yield the sentences that a pipeline finds in raw text, and count those that are left out."""
    files = [file for part in PARTS if (file := treebank.file(part)) is not None]
    own = _OwnText(text_of(sentence) for sentence in chain.from_iterable(map(read_conllu, files)))
    before: set[str] = set()
    for lines in minibatch(raw.lines(), _LINES):
        for sentence in list(sentences_in_text(nlp, "\n\n".join(lines), "")):  # it disables components meanwhile
            text = _letters(characters_of(sentence))
            if text in before or text in own:
                found.repeated += 1
            elif len(sentence.words) > _LONGEST:
                found.too_long += 1
            else:
                before.add(text)
                yield sentence


class _OwnText:
    """The text of a treebank, which raw text may contain in other pieces: a teacher divides it as it has learnt.

    A text is in it if it is a sentence, contains one of at least 20 letters, or is itself 20 letters or more of it.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        sentences = [_letters(text) for text in texts]
        self._sentences = set(sentences)
        self._all = "".join(sentences)
        self._by_start = defaultdict(list)
        for sentence in self._sentences:
            if len(sentence) >= _LETTERS:
                self._by_start[sentence[:_LETTERS]].append(sentence)

    def __contains__(self, text: str) -> bool:
        """Whether a text, as `_letters` returns it, is in that of the treebank."""
        if text in self._sentences:
            return True
        if len(text) < _LETTERS:
            return False
        starts = ((i, text[i : i + _LETTERS]) for i in range(len(text) - _LETTERS + 1))
        return text in self._all or any(
            text.startswith(sentence, i) for i, start in starts for sentence in self._by_start.get(start, ())
        )


def _letters(text: str) -> str:
    """Return the letters and digits of a text, in lower case, or else all of its characters but white space."""
    text = unicodedata.normalize("NFKD", text.lower())
    return "".join(filter(str.isalnum, text)) or "".join(text.split())
