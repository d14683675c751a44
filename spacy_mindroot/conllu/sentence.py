"""CoNLL-U as it lies in a file: a strict, streaming reader that keeps every byte, and what writes single cells.

A reader of our own, since files go out as they came in but for the cells that change, and since every fault has to be named by
its line: libraries parse into objects from which neither can be told any more. Knows nothing of spaCy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from ..errors import ConlluError
from ..trees import MISSING

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)

_BOM = b"\xef\xbb\xbf"
_NUMBERS = [b"%d" % number for number in range(1000)]  # as they are to be written; grows with the longest sentence
_VALUES = {cell: number for number, cell in enumerate(_NUMBERS)} | {b"_": MISSING}
_RANGE = re.compile(rb"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY_NODE = re.compile(rb"(0|[1-9][0-9]*)\.([1-9][0-9]*)")
_INTEGER = re.compile(rb"-?[0-9]{1,18}")

FaultHandler = Callable[[ConlluError], None]


class Sentence:
    """A sentence of a CoNLL-U file. Its lines are as they are in the file; the cells of its words can be replaced.

    source (str): What the file is called in messages.
    line (int): The number of its first line, from 1.
    lines (list[bytes]): All its lines: comments, words, multiword tokens, empty nodes, and the empty line at its end.
    rows (list[list[bytes]]): The ten cells of each word. The last one holds the end of the line, too.
    heads (list[int]): HEAD of each word, 0 = ROOT, MISSING where it is "_". Its range has not been looked at.
    """

    __slots__ = ("_places", "heads", "line", "lines", "rows", "source")

    def __init__(self, source: str, line: int, lines: list[bytes]) -> None:
        """Parses the lines.

        RAISES (ConlluError): If they are not a sentence in CoNLL-U. It names the line of each fault.
        """
        self.source = source
        self.line = line
        self.lines = lines
        self.rows: list[list[bytes]] = []
        self.heads: list[int] = []
        self._places: list[int] = []
        while len(_NUMBERS) <= len(lines):
            _VALUES[b"%d" % len(_NUMBERS)] = len(_NUMBERS)
            _NUMBERS.append(b"%d" % len(_NUMBERS))
        rows, heads, places = self.rows, self.heads, self._places
        checks = _Checks()
        number = 1
        for place, text in enumerate(lines):
            cells = text.split(b"\t")
            if len(cells) == 10 and cells[0] == _NUMBERS[number]:
                head = _VALUES.get(cells[6])
                if head is None:
                    head = checks.head(cells[6], line + place)
                rows.append(cells)
                heads.append(head)
                places.append(place)
                number += 1
            else:
                checks.other_line(text, cells, number, line + place)
        checks.end(number - 1, line + len(lines) - 1)
        if checks.faults:
            raise ConlluError("\n".join(f"{source}:{at}: line {at} {what}" for at, what in checks.faults))

    def __len__(self) -> int:
        """The number of words."""
        return len(self.rows)

    def to_bytes(self) -> bytes:
        return b"".join(self.lines)

    def column(self, number: int) -> list[str]:
        """The cells of all words in a column, as text.

        number (int): ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS or MISC.
        RAISES (ConlluError): If a cell is not UTF-8.
        """
        cells = [row[number] for row in self.rows]
        try:
            texts = [cell.decode("utf8") for cell in cells]
        except UnicodeDecodeError:
            self.text()  # says which line it is
            raise
        return [text.rstrip("\r\n") for text in texts] if number == MISC else texts

    @property
    def words(self) -> list[str]:
        return self.column(FORM)

    @property
    def labels(self) -> list[str]:
        """DEPREL of each word, "_" included."""
        return self.column(DEPREL)

    @property
    def comments(self) -> list[str]:
        """The comments, without line ends."""
        return [line.decode("utf8", "replace").rstrip("\r\n") for line in self.lines if line.startswith(b"#")]

    @property
    def sent_id(self) -> str | None:
        """Value of the comment of that name."""
        for comment in self.comments:
            name, equals, value = comment[1:].partition("=")
            if equals and name.strip() == "sent_id":
                return value.strip()
        return None

    def multiword_tokens(self) -> list[tuple[int, int, list[str]]]:
        """First word, last word (from 1) and cells of each multiword token."""
        tokens = []
        for cells in self._other_rows():
            match = _RANGE.fullmatch(cells[0].encode())
            if match:
                tokens.append((int(match[1]), int(match[2]), cells))
        return tokens

    def empty_nodes(self) -> list[list[str]]:
        """The cells of each empty node."""
        return [cells for cells in self._other_rows() if "." in cells[0]]

    def line_of(self, word: int) -> int:
        """The number of a word's line in the file. Words count from 1."""
        return self.line + self._places[word - 1]

    def fault(self, word: int, what: str) -> ConlluError:
        """An error about a word (from 1): says where, and then `what`."""
        at = self.line_of(word)
        return ConlluError(f"{self.source}:{at}: line {at} {what}")

    def text(self) -> str:
        """All lines as one string.

        RAISES (ConlluError): If a line is not UTF-8.
        """
        try:
            return self.to_bytes().decode("utf8")
        except UnicodeDecodeError as error:
            at = self.line + error.object.count(b"\n", 0, error.start)
            raise ConlluError(f"{self.source}:{at}: line {at} is not UTF-8 ({error.reason}).") from error

    def check_heads(self) -> None:
        """Raises ConlluError unless every head is one of the sentence's words, ROOT or missing."""
        n = len(self.rows)
        for word, head in enumerate(self.heads, 1):
            if not MISSING <= head <= n:
                raise self.fault(word, f"has HEAD {_shown(self.rows[word - 1][HEAD])}, but the sentence has {n} words.")

    def replace(self, word: int, column: int, cell: str) -> None:
        """Writes a cell of a word (from 1): not its ID, and not MISC, which holds the end of the line."""
        row = self.rows[word - 1]
        row[column] = cell.encode("utf8")
        self.lines[self._places[word - 1]] = b"\t".join(row)
        if column == HEAD:
            self.heads[word - 1] = MISSING if cell == "_" else int(cell)

    def _other_rows(self) -> Iterator[list[str]]:
        """The cells of multiword tokens and empty nodes."""
        of_words = set(self._places)
        for place, line in enumerate(self.lines):
            if b"\t" in line and place not in of_words and not line.startswith(b"#"):
                yield line.decode("utf8", "replace").rstrip("\r\n").split("\t")


class _Checks:
    """Looks at the lines that are no plain words, and collects faults: line and what is wrong."""

    def __init__(self) -> None:
        self.faults: list[tuple[int, str]] = []
        self._begun = False  # no comments from here on
        self._range_end = 0
        self._range_line = 0
        self._empty_node = (0, 0)

    def head(self, cell: bytes, line: int) -> int:
        if _INTEGER.fullmatch(cell):
            head = int(cell)
            return head if head >= 0 else head - 1  # -1 is out of range, not missing
        self.faults.append((line, f"has HEAD {_shown(cell)}, which is not a number."))
        return MISSING

    def other_line(self, text: bytes, cells: list[bytes], number: int, line: int) -> None:
        """Any line but that of the word that is next, `number`."""
        if text in (b"\n", b"\r\n"):
            return
        begun, self._begun = self._begun or number > 1, self._begun or not text.startswith(b"#")
        if text.startswith(b"#"):
            if begun:
                self.faults.append((line, "is a comment inside a sentence. Comments come before the first word."))
            return
        if not text.strip():
            self.faults.append((line, "is white space. An empty line, with nothing in it, ends a sentence."))
            return
        if len(cells) != 10:
            columns = f"has {len(cells)} column{'s' if len(cells) > 1 else ''}, expected 10 (separated by tabs)"
            hint = "; columns may be separated by spaces here" if len(text.split()) == 10 else ""
            if not hint and not cells[0].strip().replace(b"-", b"").replace(b".", b"").isdigit():
                hint = "; it has no ID, so a line break in a cell of the line before may be the reason"
            self.faults.append((line, f"{columns}{hint}."))
            return
        if match := _RANGE.fullmatch(cells[0]):
            first, last = int(match[1]), int(match[2])
            if first != number or last < first or first <= self._range_end:
                self.faults.append((line, f"has ID {_shown(cells[0])}, but the next word is {number}."))
            else:
                self._range_end, self._range_line = last, line
        elif match := _EMPTY_NODE.fullmatch(cells[0]):
            node = (int(match[1]), int(match[2]))
            follows = (number - 1, self._empty_node[1] + 1 if self._empty_node[0] == number - 1 else 1)
            if node != follows:
                expected = f"{follows[0]}.{follows[1]}"
                self.faults.append((line, f"has ID {_shown(cells[0])}; an empty node here is {expected}."))
            self._empty_node = node
        else:
            self.faults.append((line, f"has ID {_shown(cells[0])}, but the next word is {number}."))

    def end(self, words: int, line: int) -> None:
        if self._range_end > words and not self.faults:
            what = f"is a multiword token up to word {self._range_end}, but the sentence has {words} words."
            self.faults.append((self._range_line, what))
        if not words and self._begun and not self.faults:
            self.faults.append((line, "ends a sentence without words."))


def _shown(cell: bytes) -> str:
    return repr(cell[:40].decode("utf8", "replace"))


def read_pieces(file: BinaryIO, source: str, on_fault: FaultHandler | None = None) -> Iterator[Sentence | bytes]:
    """All of a CoNLL-U file, in order: sentences, and the bytes between them (a byte order mark, comments without a sentence, empty lines).

    Put together again (`Sentence.to_bytes`), the pieces are the file. One sentence is held in memory at a time.

    file (BinaryIO): Gives lines.
    source (str): What it is called in messages.
    on_fault (Optional[Callable]): Takes the error for a sentence at fault, which then comes as bytes. Without it, the error is raised.
    YIELDS (Sentence | bytes): The pieces.
    RAISES (ConlluError): For the first sentence at fault.
    """
    lines: list[bytes] = []
    number = 0
    for line in file:
        number += 1
        if number == 1 and line.startswith(_BOM):
            yield _BOM
            line = line[len(_BOM) :]
        if len(line) > 2 or line.strip(b"\r\n"):
            lines.append(line)
        elif lines:
            lines.append(line)
            yield _parse(source, number + 1 - len(lines), lines, on_fault)
            lines = []
        elif line:
            yield line
    if lines:
        yield _parse(source, number + 1 - len(lines), lines, on_fault)


def _parse(source: str, first: int, lines: list[bytes], on_fault: FaultHandler | None) -> Sentence | bytes:
    try:
        sentence = Sentence(source, first, lines)
    except ConlluError as error:
        if on_fault is None:
            raise
        on_fault(error)
        return b"".join(lines)
    return sentence if sentence.rows else b"".join(lines)


def read_conllu(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file, one at a time.

    path (str | Path): The file.
    YIELDS (Sentence): Each has at least one word, and its heads are words of it, ROOT, or missing; they need not form a tree.
    RAISES (ConlluError): For the first sentence at fault: wrong number of columns, IDs out of order, a head beyond the sentence, and
        what else CoNLL-U forbids of lines. It names the file and the line.
    """
    with open(path, "rb") as file:
        for piece in read_pieces(file, str(path)):
            if isinstance(piece, Sentence):
                piece.check_heads()
                yield piece


def format_rows(comments: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """A sentence in CoNLL-U, with the empty line that ends it. Nothing is checked or mended.

    comments (Iterable[str]): With their "#".
    rows (Iterable[Sequence[str]]): The ten cells of each word.
    """
    return "".join([f"{line}\n" for line in (*comments, *("\t".join(row) for row in rows))]) + "\n"


def format_sentence(
    words: Sequence[str],
    heads: Iterable[int],
    labels: Iterable[str],
    *,
    sent_id: str,
    comments: Iterable[str] = (),
    misc: Iterable[str] | None = None,
) -> str:
    """A parsed sentence of which nothing else is known in CoNLL-U, with the empty line that ends it.

    words (Sequence[str]): The forms, taken to be separated by single spaces. Tabs and line breaks in them become spaces.
    heads (Iterable[int]): 0 = ROOT.
    labels (Iterable[str]): The relations; not empty. White space in them becomes an underscore.
    sent_id (str): Value of the comment of that name.
    comments (Iterable[str]): More comments, without the sign before them: "name = value".
    misc (Optional[Iterable[str]]): The cells of the last column; empty if None.

    UPOS is X, since nothing is known of it and the validator wants one; the other columns are empty.
    """
    forms = [clean_form(word) for word in words]
    return format_rows(
        [f"# sent_id = {sent_id}", f"# text = {' '.join(forms)}", *(f"# {comment}" for comment in comments)],
        [
            (str(number), form, "_", "X", "_", "_", str(head), "_".join(label.split()), "_", cell)
            for number, (form, head, label, cell) in enumerate(
                zip(forms, heads, labels, ["_"] * len(forms) if misc is None else misc, strict=True), 1
            )
        ],
    )


def clean_form(word: str) -> str:
    """A form that can't break the columns: tabs and line breaks become spaces, and nothing an underscore."""
    return " ".join(word.split()) or "_"
