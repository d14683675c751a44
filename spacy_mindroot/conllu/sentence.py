"""CoNLL-U as it is in a file: a strict, streaming reader that keeps every byte, and functions that write cells.

The reader is our own because files go out as they came in, apart from the cells that change, and because every fault is
reported with its line. Libraries parse into objects that no longer know either. This module does not need spaCy.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from ..errors import ConlluError
from ..text_files import MOST_BYTES, text_lines
from ..trees import MISSING
from .checks import NUMBERS, RANGE, VALUES, Checks, shown
from .columns import CONLLU, DEPREL, FORM, HEAD, ID, MISC, Columns, read_header

__all__ = [
    "BOM",
    "FaultHandler",
    "Ranges",
    "Sentence",
    "clean_form",
    "closed",
    "columns_named",
    "followed_by_space",
    "format_rows",
    "format_sentence",
    "pieces_of",
    "read_conllu",
    "read_pieces",
    "surface_forms",
    "to_sentence",
]

BOM = b"\xef\xbb\xbf"
FaultHandler = Callable[[ConlluError], None]
Ranges = list[tuple[int, int, list[str]]]  # see `Sentence.multiword_tokens`


class Sentence:
    """A sentence of a CoNLL-U file. Its lines are those of the file; the cells of its words can be replaced.

    source (str): The name of the file in messages.
    line (int): The number of its first line, from 1.
    lines (list[bytes]): All its lines: comments, words, multiword tokens, empty nodes, and the empty line at its end.
    columns (Columns): The columns of the file.
    rows (list[list[bytes]]): CoNLL-U's ten cells of each word. In plain CoNLL-U, the last includes the line end.
    heads (list[int]): HEAD of each word: 0 = ROOT, MISSING where it is "_". They may be out of range.
    """

    __slots__ = ("_places", "columns", "heads", "line", "lines", "rows", "source")

    def __init__(self, source: str, line: int, lines: list[bytes], columns: Columns = CONLLU) -> None:
        """Parse the lines.

        RAISES (ConlluError): If they are not a sentence in CoNLL-U. The message names the line of each fault.
        """
        self.source = source
        self.line = line
        self.lines = lines
        self.columns = columns
        self.rows: list[list[bytes]] = []
        self.heads: list[int] = []
        self._places: list[int] = []
        while len(NUMBERS) <= len(lines):
            VALUES[b"%d" % len(NUMBERS)] = len(NUMBERS)
            NUMBERS.append(b"%d" % len(NUMBERS))
        rows, heads, places = self.rows, self.heads, self._places
        checks = Checks(columns)
        number = 1
        plain = columns is CONLLU
        numbers, values = NUMBERS, VALUES  # local names are faster in the loop over all lines of a file
        for place, text in enumerate(lines):
            cells = text.split(b"\t") if plain else columns.cells(text)
            if len(cells) == 10 and cells[0] == numbers[number] and cells[1]:
                head = values.get(cells[6])
                if head is None:
                    head = checks.head(cells[6], line + place)
                rows.append(cells)
                heads.append(head)
                places.append(place)
                number += 1
            else:
                number += checks.other_line(text, cells, number, line + place)
        if not plain:
            checks.widths([(line + place, lines[place].count(b"\t") + 1) for place in places])
        checks.end(number - 1)
        if checks.faults:
            raise ConlluError("\n".join(f"{source}:{at}: line {at} {what}" for at, what in sorted(checks.faults)))

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.rows)

    def to_bytes(self) -> bytes:
        """Return all lines, with the cells that have been replaced."""
        return b"".join(self.lines)

    def closed(self) -> bytes:
        """Return all lines, with the empty line that ends a sentence even if the file does not have it."""
        return closed(self.to_bytes())

    def column(self, number: int) -> list[str]:
        """Return the cells of all words in a column, as text.

        number (int): ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS or MISC.
        RAISES (ConlluError): If a cell is not UTF-8.
        """
        cells = [row[number] for row in self.rows]
        try:
            texts = [cell.decode("utf8") for cell in cells]
        except UnicodeDecodeError:
            self.text()  # names the line
            raise
        return [text.rstrip("\r\n") for text in texts] if number == MISC else texts

    @property
    def line_end(self) -> bytes:
        """The line end of the first line."""
        return b"\r\n" if self.lines[0].endswith(b"\r\n") else b"\n"

    @property
    def words(self) -> list[str]:
        """FORM of each word."""
        return self.column(FORM)

    @property
    def labels(self) -> list[str]:
        """DEPREL of each word, "_" included."""
        return self.column(DEPREL)

    @property
    def comments(self) -> list[str]:
        """The comments, without line ends."""
        return [line.decode("utf8", "replace").rstrip("\r\n") for line in self.lines[: self.first_row]]

    @property
    def first_row(self) -> int:
        """The number of comments, which is the index of the first line that is none."""
        for at, line in enumerate(self.lines):
            if not line.startswith(b"#"):
                return at
            cells = self.columns.cells(line) if b"\t" in line else []
            if cells and cells[ID][:1].isdigit():  # in CoNLL-U Plus, a row may begin with any column
                return at
        return len(self.lines)

    @property
    def sent_id(self) -> str | None:
        """The value of the comment `sent_id`; None without one."""
        return self.comment("sent_id")

    def comment(self, name: str) -> str | None:
        """Return the value of the first comment `# name = value`; None without one."""
        for comment in self.comments:
            own, equals, value = comment[1:].partition("=")
            if equals and own.strip() == name:
                return value.strip()
        return None

    def spaces(self) -> list[bool]:
        """Return whether a space follows each word.

        After a multiword token, as its own MISC says. Inside it, there is no space where its form is made up of the
        words ("Don't" of "Do" and "n't"); words that are not part of the form are separated by spaces.
        """
        words = self.words
        spaces = [followed_by_space(misc) for misc in self.column(MISC)]
        for first, last, cells in self.multiword_tokens():
            inside = _spaces_inside(cells[FORM], words[first - 1 : last])
            spaces[first - 1 : last] = [*inside, followed_by_space(cells[MISC])]
        return spaces

    def multiword_tokens(self) -> Ranges:
        """Return the first word (from 1), the last word and the ten cells of each multiword token."""
        tokens = []
        for cells in self._other_rows():
            match = RANGE.fullmatch(cells[0].encode())
            if match:
                tokens.append((int(match[1]), int(match[2]), cells))
        return tokens

    def empty_nodes(self) -> list[list[str]]:
        """Return the cells of each empty node."""
        return [cells for cells in self._other_rows() if "." in cells[0]]

    def line_of(self, word: int) -> int:
        """Return the number of a word's line in the file. Words count from 1."""
        return self.line + self._places[word - 1]

    def fault(self, word: int, what: str) -> ConlluError:
        """Return an error about a word (from 1): where it is, and then `what`."""
        at = self.line_of(word)
        return ConlluError(f"{self.source}:{at}: line {at} {what}")

    def text(self) -> str:
        """Return all lines as one string.

        RAISES (ConlluError): If a line is not UTF-8.
        """
        try:
            return self.to_bytes().decode("utf8")
        except UnicodeDecodeError as error:
            at = self.line + error.object.count(b"\n", 0, error.start)
            raise ConlluError(f"{self.source}:{at}: line {at} is not UTF-8 ({error.reason}).") from error

    def check_heads(self) -> None:
        """Raise ConlluError unless every head is a word of the sentence, ROOT or missing."""
        n = len(self.rows)
        for word, head in enumerate(self.heads, 1):
            if not MISSING <= head <= n:
                raise self.fault(word, f"has HEAD {shown(self.rows[word - 1][HEAD])}, but the sentence has {n} words.")

    def replace(self, word: int, column: int, cell: str) -> None:
        """Replace a cell of a word (from 1) in any column but ID and MISC, which `marks` changes.

        A column that the file lacks is not written.
        """
        row = self.rows[word - 1]
        row[column] = cell.encode("utf8")
        place = self._places[word - 1]
        if self.columns is CONLLU:
            self.lines[place] = b"\t".join(row)
        else:
            self.lines[place] = self.columns.replaced(self.lines[place], column, row[column])
        if column == HEAD:
            self.heads[word - 1] = MISSING if cell == "_" else int(cell)

    def replace_arcs(self, heads: Iterable[int], labels: Iterable[str]) -> list[int]:
        """Replace HEAD and DEPREL where they differ from these, and return the words (from 1) that change.

        heads (Iterable[int]): The head of each word; MISSING for "_".
        labels (Iterable[str]): The label of each word, "_" included.
        """
        changed = []
        before = zip(list(self.heads), self.labels, strict=True)
        for word, (arc, old) in enumerate(zip(zip(heads, labels, strict=True), before, strict=True), 1):
            if arc[0] != old[0]:
                self.replace(word, HEAD, "_" if arc[0] == MISSING else str(arc[0]))
            if arc[1] != old[1]:
                self.replace(word, DEPREL, arc[1])
            if arc != old:
                changed.append(word)
        return changed

    def _other_rows(self) -> Iterator[list[str]]:
        """Return the cells of multiword tokens and empty nodes."""
        if len(self.lines) - self.first_row - (not self.lines[-1].strip()) == len(self.rows):
            return
        of_words = set(self._places)
        for place, line in enumerate(self.lines):
            if b"\t" in line and place not in of_words:
                cells = b"\t".join(self.columns.cells(line)).decode("utf8", "replace").split("\t")
                if cells[0][:1].isdigit():
                    yield cells


def read_pieces(file: BinaryIO, source: str, on_fault: FaultHandler | None = None) -> Iterator[Sentence | bytes]:
    """Iterate over a whole CoNLL-U file: its sentences, and the bytes between them.

    The bytes between are a byte order mark, comments without a sentence, and additional empty lines. All pieces
    together (`Sentence.to_bytes`) are the file. Only one sentence is held in memory at a time. Columns are CoNLL-U's
    ten until a comment `# global.columns = ...` names others.

    file (BinaryIO): Yields lines. Its content may be compressed with gzip.
    source (str): The name of the file in messages.
    on_fault (Optional[Callable]): Called with the error for each sentence at fault, which is then yielded as bytes. If
        None, the error is raised.
    YIELDS (Sentence | bytes): The pieces.
    RAISES (ConlluError): For the first sentence at fault, and for a file that is not UTF-8 text at all.
    """
    return pieces_of(text_lines(file, source), source, on_fault)


def pieces_of(text: Iterable[bytes], source: str, on_fault: FaultHandler | None = None) -> Iterator[Sentence | bytes]:
    """Iterate over the pieces of a file of which `text_lines` has made lines. See `read_pieces`."""
    parser = _Parser(source, on_fault)
    lines: list[bytes] = []
    number = size = 0
    for line in text:
        number += 1
        size += len(line)
        if number == 1 and line.startswith(BOM):
            yield BOM
            line = line[len(BOM) :]
        if len(line) > 2 or line.strip(b"\r\n"):
            if size > MOST_BYTES:
                begin = number - len(lines)
                raise ConlluError(
                    f"{source}:{begin}: the sentence that begins in line {begin} has more than {MOST_BYTES:,} bytes, "
                    "the limit. Empty lines separate sentences."
                )
            lines.append(line)
        elif lines:
            lines.append(line)
            yield parser.parse(number + 1 - len(lines), lines)
            lines, size = [], 0
        elif line:
            yield line
            size = 0
    if lines:
        yield parser.parse(number + 1 - len(lines), lines)


class _Parser:
    """Parses the blocks of lines of one file, with the columns that it has named so far."""

    def __init__(self, source: str, on_fault: FaultHandler | None) -> None:
        self.source = source
        self.on_fault = on_fault
        self.columns: Columns | None = CONLLU  # None after a header that is at fault
        self._is_first = True

    def parse(self, first: int, lines: list[bytes]) -> Sentence | bytes:
        try:
            if self._is_first or b"global.columns" in lines[0]:
                self._is_first = False
                self.columns = columns_named(lines, self.columns, self.source, first)
            if self.columns is not None:
                sentence = Sentence(self.source, first, lines, self.columns)
                if sentence.rows:
                    return sentence
        except ConlluError as error:
            if self.on_fault is None:
                raise
            if error.args[0].endswith(_HEADER_FAULT):
                self.columns = None
            self.on_fault(error)
        return b"".join(lines)


_HEADER_FAULT = "so no sentence below can be read."


def columns_named(lines: Sequence[bytes], before: Columns | None, source: str, first: int) -> Columns | None:
    """Return the columns that the comments at the beginning of a sentence name, or `before` if they name none.

    source (str), first (int): The name of the file, and the number of the first line in it.
    RAISES (ConlluError): If columns are named twice, or without ID, FORM, HEAD and DEPREL.
    """
    found = before
    for at, line in enumerate(lines, first):
        if not line.startswith(b"#"):
            break
        if b"global.columns" in line:
            named = read_header(line)
            fault = named.fault() if named is not None else ""
            if fault:
                shown = line.decode("utf8", "replace").strip()[:200]
                raise ConlluError(f"{source}:{at}: line {at} is the header {shown!r} {fault}, {_HEADER_FAULT}")
            found = named or found
    return found


def read_conllu(path: str | Path) -> Iterator[Sentence]:
    """Iterate over the sentences of a CoNLL-U file, which may be compressed with gzip.

    path (str | Path): The file.
    YIELDS (Sentence): A sentence with at least one word. Its heads are words of it, ROOT or missing; they need not form
        a tree.
    RAISES (ConlluError): For the first sentence at fault: a wrong number of columns, IDs out of order, a head beyond
        the sentence, and whatever else CoNLL-U forbids. The message names the file and the line.
    """
    with open(path, "rb") as file:
        for piece in read_pieces(file, str(path)):
            if isinstance(piece, Sentence):
                piece.check_heads()
                yield piece


def to_sentence(text: str, source: str, columns: Columns = CONLLU) -> Sentence:
    """Return the sentence in a text, which may begin with a header.

    source (str): The name of the text in messages.
    columns (Columns): The columns, unless the text has a header.
    RAISES (ConlluError): If the text is not a sentence.
    """
    lines = list(io.BytesIO(text.encode("utf8")))
    return Sentence(source, 1, lines, columns_named(lines, columns, source, 1) or CONLLU)


def format_rows(comments: Iterable[str], rows: Sequence[Sequence[str]], ranges: Ranges | tuple[()] = ()) -> str:
    """Return a sentence in CoNLL-U, with the empty line that ends it. Nothing is checked.

    comments (Iterable[str]): With their "#".
    rows (Sequence[Sequence[str]]): The ten cells of each word.
    ranges (list): The multiword tokens, in order.
    """
    if ranges:
        rows = list(rows)
        for first, _, cells in reversed(ranges):
            rows.insert(first - 1, cells)
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
    """Return a parsed sentence in CoNLL-U if only words and arcs are known, with the empty line that ends it.

    words (Sequence[str]): The forms, taken to be separated by single spaces. Tabs and line breaks in them become
        spaces.
    heads (Iterable[int]): 0 = ROOT.
    labels (Iterable[str]): The relations; not empty. White space in them becomes an underscore.
    sent_id (str): Value of the comment of that name.
    comments (Iterable[str]): Further comments, without the "#": "name = value".
    misc (Optional[Iterable[str]]): The cells of the last column; empty if None.

    UPOS is X, because it is unknown and the validator requires one. All other columns are empty.
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


def closed(text: bytes) -> bytes:
    """Return text in CoNLL-U with an empty line at its end, so that a sentence can follow."""
    if text.endswith((b"\n\n", b"\n\r\n")):
        return text
    end = b"\r\n" if text.partition(b"\n")[0].endswith(b"\r") else b"\n"
    return text + (end if text.endswith(b"\n") else end + end)


def followed_by_space(misc: str) -> bool:
    """Whether a token is followed by a space, as its cell of MISC says."""
    return "SpaceAfter=No" not in misc.strip().split("|")


def surface_forms(words: Sequence[str], misc: Sequence[str], ranges: Ranges) -> list[tuple[str, bool]]:
    """Return each surface form, and whether a space follows it: multiword tokens, and the words outside of them.

    words (Sequence[str]): FORM of each word.
    misc (Sequence[str]): MISC of each word.
    ranges (list): The multiword tokens.
    """
    starts = {first: (last, cells[FORM], cells[MISC]) for first, last, cells in ranges}
    tokens = []
    word = 1
    while word <= len(words):
        last, form, cell = starts.get(word, (word, words[word - 1], misc[word - 1]))
        tokens.append((form, followed_by_space(cell)))
        word = last + 1
    return tokens


def _spaces_inside(form: str, words: Sequence[str]) -> list[bool]:
    """Return whether a space follows each word of a multiword token but the last."""
    spaces, rest = [], form
    for word in words:
        if not rest.startswith(word):
            break
        after = rest[len(word) :]
        rest = after.lstrip()
        spaces.append(rest != after)
    if rest or len(spaces) < len(words):  # the form is not that of its words, as in "du" for "de" and "le"
        return [True] * (len(words) - 1)
    return spaces[:-1]


def clean_form(word: str) -> str:
    """Return a form that cannot break the columns: white space becomes single spaces, and an empty form "_"."""
    return " ".join(word.split()) or "_"
