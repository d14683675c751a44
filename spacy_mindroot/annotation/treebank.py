"""The CoNLL-U file that is annotated: every byte of it, its sentences, and how one of them is replaced."""

from __future__ import annotations

import hashlib
import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..conllu.columns import CONLLU, MISC
from ..conllu.sentence import Sentence, closed, format_rows, read_pieces, surface_forms
from ..errors import ConlluError, MindRootError
from ..escapes import printable
from ..replacing import replacing
from ..text_files import is_gzip

__all__ = ["ChangedError", "Treebank", "copied", "new_sentences", "text_of"]


class ChangedError(MindRootError):
    """Another program has changed the file since it was read."""


class Treebank:
    """A CoNLL-U file in memory. A file that is missing or empty has no sentences.

    A sentence is known by a key, which it keeps when its annotation changes: its `sent_id` and words, and how many
    sentences before it have the same.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read()

    def read(self) -> None:
        """Read the file anew.

        RAISES (ConlluError): For the first sentence at fault. Then what was read before stays.
        """
        if self.path.exists() and is_gzip(self.path):
            raise ConlluError(f"{printable(self.path)} is compressed. Unpack it, and annotate the file in it.")
        status = content = None
        if self.path.exists():
            status, content = self.path.stat(), self.path.read_bytes()
        pieces = list(read_pieces(io.BytesIO(content or b""), printable(self.path)))
        for piece in pieces:
            if isinstance(piece, Sentence):
                piece.check_heads()
        self._pieces = pieces
        self._note(status, content)
        self._find()

    def _find(self) -> None:
        self._places = [at for at, piece in enumerate(self._pieces) if isinstance(piece, Sentence)]
        counts: Counter[str] = Counter()
        self.keys: list[str] = []
        for sentence in self:
            named = hashlib.sha1("\n".join([sentence.sent_id or "", *sentence.words]).encode("utf8")).hexdigest()[:16]
            counts[named] += 1
            self.keys.append(f"{named}-{counts[named]}")

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: int) -> Sentence:
        """Return a sentence as it is in the file."""
        sentence = self._pieces[self._places[number]]
        assert isinstance(sentence, Sentence)
        return sentence

    def __iter__(self) -> Iterator[Sentence]:
        return (self[number] for number in range(len(self)))

    def replace(self, number: int, sentence: Sentence) -> None:
        """Replace a sentence, from 0, and write the file unless it stays the same.

        RAISES (ChangedError): If another program has changed the file. Nothing is written.
        """
        at = self._places[number]
        pieces = [*self._pieces]
        pieces[at] = sentence
        self._write(pieces)

    def append(self, text: str) -> None:
        """Write further sentences to the end of the file. They are given in CoNLL-U, with plain columns."""
        if any(sentence.columns is not CONLLU for sentence in self):
            raise ConlluError(f"{printable(self.path)} has columns of its own. Add sentences with another tool.")
        before = b"".join(_bytes(piece) for piece in self._pieces)
        if len(self) and self[0].line_end == b"\r\n":
            text = text.replace("\n", "\r\n")
        content = (closed(before) if before.strip() else before) + text.encode("utf8")
        pieces = list(read_pieces(iter(content.splitlines(keepends=True)), printable(self.path)))  # type: ignore[arg-type]
        self._write(pieces)

    def _write(self, pieces: Sequence[Sentence | bytes]) -> None:
        content = b"".join(map(_bytes, pieces))
        if self.is_changed():
            raise ChangedError(
                f"{printable(self.path.name)} was changed by another program. Nothing was written. Read it anew? Your "
                "decisions are kept."
            )
        if hashlib.sha1(content).digest() != self._digest:
            with replacing(self.path) as file:
                file.write(content)
        self._note(self.path.stat(), content)
        self._pieces = list(pieces)
        self._find()

    def is_changed(self) -> bool:
        """Whether the content of the file is another than the one that was read or written last."""
        if not self.path.exists():
            return self._digest is not None
        status = self.path.stat()
        if (status.st_mtime_ns, status.st_size, status.st_ino) == self._stamp:
            return False
        return hashlib.sha1(self.path.read_bytes()).digest() != self._digest

    def _note(self, status: os.stat_result | None, content: bytes | None) -> None:
        self._stamp = None if status is None else (status.st_mtime_ns, status.st_size, status.st_ino)
        self._digest = None if content is None else hashlib.sha1(content).digest()


def _bytes(piece: Sentence | bytes) -> bytes:
    return piece if isinstance(piece, bytes) else piece.to_bytes()


def copied(sentence: Sentence, lines: bytes | None = None) -> Sentence:
    """Return a copy of a sentence that can be changed, or the sentence that these lines are in its place."""
    own = sentence.lines if lines is None else lines.splitlines(keepends=True)
    return Sentence(sentence.source, sentence.line, list(own), sentence.columns)


def text_of(sentence: Sentence) -> str:
    """Return the text of a sentence, made of its surface forms."""
    tokens = surface_forms(sentence.words, sentence.column(MISC), sentence.multiword_tokens())
    return "".join(form + " " * space for form, space in tokens).strip()


def new_sentences(texts: Iterable[tuple[Sequence[str], Sequence[bool]]], first: int) -> str:
    """Return sentences without annotation in CoNLL-U, named by numbers from `first`.

    texts (Iterable): The words of each, and whether a space follows each word.
    """
    found = []
    for number, (words, spaces) in enumerate(texts, first):
        rows = [
            [str(k), word, *["_"] * 7, "_" if space or k == len(words) else "SpaceAfter=No"]
            for k, (word, space) in enumerate(zip(words, spaces, strict=True), 1)
        ]
        text = "".join(word + " " * space for word, space in zip(words, spaces, strict=True)).strip()
        found.append(format_rows([f"# sent_id = s{number}", f"# text = {text}"], rows))
    return "".join(found)
