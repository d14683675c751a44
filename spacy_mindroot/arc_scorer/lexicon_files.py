"""Reads lexicons: the readings of each word form, as lists of words, spelling dictionaries and analysers have them.

The first line that is like one of these says which format a file has. UniMorph's features tell it from columns:

- columns, separated by tabs: form, lemma, part of speech and perhaps features;
- UniMorph: lemma, form, features (`N;PL;ACC`) and perhaps the parts of the word, separated by tabs;
- the output of `hunspell -m`: `dogs  st:dog po:noun is:PLUR`;
- the output of `lt-proc`: `^dogs/dog<n><pl>$`;
- that of `lt-expand` and `hfst-fst2strings`: `dogs:dog<n><pl>`;
- that of `hfst-lookup`, separated by tabs: `dogs`, `dog<n><pl>` or `dog+N+Pl`, and a weight.

Comments before the first line name the source of the lexicon and its licence, which a pipeline has to name:
`# source: hunspell-hu` and `# licence: GPL-2.0`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import ConlluError, CorpusError
from ..escapes import printable
from ..text_files import text_lines

__all__ = ["LexiconFile", "Reading"]

_COMMENT = re.compile(r"#\s*(source|licen[cs]e|url)\s*:\s*(.*\S)\s*", re.IGNORECASE)
_UNIT = re.compile(r"\^((?:\\.|[^\\/^$])*)/((?:\\.|[^\\^$])*)\$")
_EXPANDED = re.compile(r"((?:\\.|[^\\:\t])+):(?:[<>]:)?([^:\t]*<[^<>\t]+>[^:\t]*)")
_FEATURES = re.compile(r"[^;\s=]+(?:;[^;\s=]+)+")  # of UniMorph
_WEIGHT = re.compile(r"-?\d+(?:[.,]\d+)?|inf|\+\?")  # of an analysis; the last two mark a word that is unknown
_LATER_LEMMA = re.compile(r"\+[^<+]*")
_SAMPLE = 100_000  # lines by which a format is told
_MOST_CHARACTERS = 10_000  # in a line


class Reading(NamedTuple):
    """A way to read a word form."""

    form: str
    lemma: str
    tag: str  # part of speech and features, as the lexicon has them


class LexiconFile:
    """A lexicon in a file, perhaps compressed with gzip.

    path (Path): The file.
    RAISES (CorpusError): If it can't be read, or is not a lexicon.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.about: dict[str, str] = {}  # source, licence and url, as far as they are known
        self.format = ""
        lines = list(zip(range(_SAMPLE), self._lines(), strict=False))
        for _, (_, line) in lines:
            if line and not _is_comment(line):
                break
            if (comment := _COMMENT.fullmatch(line)) is not None:
                self.about[comment[1].lower().replace("license", "licence")] = comment[2]
        self.format = next((name for _, (_, line) in lines if (name := _format_of(line))), "")
        rows = [line.split("\t") for _, (_, line) in lines if "\t" in line]
        for name, is_like in (("UniMorph", _is_unimorph), ("hfst-lookup", _is_lookup)):
            if self.format == "columns" and 2 * sum(map(is_like, rows)) >= len(rows):
                self.format = name
        if not self.format:
            found = f"its first line is {lines[0][1][1][:60]!r}" if lines else "it is empty"
            raise CorpusError(
                f"{printable(self.path)} is not a lexicon: {found}. Expected lines with form, lemma, part of speech "
                "and features, separated by tabs; UniMorph's lemma, form and features; or the output of hunspell -m, "
                "lt-proc, lt-expand, hfst-fst2strings or hfst-lookup."
            )

    def __iter__(self) -> Iterator[Reading]:
        read = _READERS[self.format]
        head = True
        for number, line in self._lines():
            head = head and (not line or _is_comment(line))
            if head or not line:
                continue
            try:
                yield from read(line)
            except ValueError as error:
                raise CorpusError(f"{printable(self.path)}, line {number}: {error}") from None

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line."""
        number, name = 0, printable(self.path)
        if self.path.exists() and not self.path.is_file():
            raise CorpusError(
                f"The lexicon {name} is not a regular file, but is read more than once. Write it to a file."
            )
        try:
            with open(self.path, "rb") as file:
                for number, data in enumerate(text_lines(file, name), 1):
                    line = data.decode("utf-8-sig" if number == 1 else "utf8").rstrip("\r\n")
                    if "\0" in line or len(line) > _MOST_CHARACTERS:
                        what = "a NUL character" if "\0" in line else f"{len(line):,} characters"
                        raise CorpusError(
                            f"{name}, line {number} has {what}. A lexicon is UTF-8 text with one reading of a word on "
                            "a line."
                        )
                    yield number, line
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{name}, line {number} is not UTF-8 ({error.reason}). Convert the lexicon first: iconv -f latin1 -t "
                "utf8, for example."
            ) from error
        except ConlluError as error:  # not text, or damaged
            raise CorpusError(str(error)) from error
        except OSError as error:
            raise CorpusError(f"The lexicon {name} can't be read: {error.strerror}.") from error


def _is_comment(line: str) -> bool:
    """Whether a line at the head of a file is a comment, and not the reading of a word such as `#metoo`."""
    return line.startswith("#") and "\t" not in line


def _is_unimorph(cells: list[str]) -> bool:
    return len(cells) in (3, 4) and _FEATURES.fullmatch(cells[2]) is not None


def _is_lookup(cells: list[str]) -> bool:
    return len(cells) == 3 and _WEIGHT.fullmatch(cells[2]) is not None


def _format_of(line: str) -> str:
    """Return the format that a line shows, "" if it may be any."""
    if _is_comment(line):
        return ""
    if "\t" in line:
        return "columns"
    if _UNIT.search(line):
        return "lt-proc"
    if re.search(r" (?:st|po):\S", line):
        return "hunspell"
    return "expanded" if _EXPANDED.fullmatch(line) else ""


def _of_columns(line: str) -> Iterator[Reading]:
    cells = line.split("\t")
    if not 3 <= len(cells) <= 4:
        raise ValueError(
            f"expected form, lemma, part of speech and features, separated by tabs, but found {len(cells)} column(s): "
            f"{line[:60]!r}."
        )
    form, lemma, pos, *features = (cell.strip() for cell in cells)
    yield _reading(form, lemma, " ".join([pos, *(each for each in features if each not in ("", "_"))]), line)


def _of_unimorph(line: str) -> Iterator[Reading]:
    cells = line.split("\t")
    if len(cells) not in (3, 4):  # the fourth has the parts of the word
        raise ValueError(
            f"expected UniMorph's lemma, form and features, separated by tabs, but found {len(cells)} column(s): "
            f"{line[:60]!r}."
        )
    yield _reading(cells[1].strip(), cells[0].strip(), cells[2].strip(), line)


def _of_hunspell(line: str) -> Iterator[Reading]:
    form, *fields = line.split()
    values: dict[str, list[str]] = {}
    for field in fields:
        name, colon, value = field.partition(":")
        if colon:
            values.setdefault(name, []).append(value)
    if "st" in values or "po" in values:  # other lines have words that are unknown
        # Without derivations, `ds:`, with which most words would have a class of their own.
        tag = " ".join([*values.get("po", []), *values.get("is", [])])
        yield Reading(form, values.get("st", [form])[0], tag)


def _of_lt_proc(line: str) -> Iterator[Reading]:
    for unit in _UNIT.finditer(line):
        for analysis in re.split(r"(?<!\\)/", unit[2]):
            if not analysis.startswith("*"):  # which marks a word that is unknown
                yield _of_analysis(unit[1], analysis)


def _of_expanded(line: str) -> Iterator[Reading]:
    found = _EXPANDED.fullmatch(line.strip())
    if found is not None and ":<:" not in line:  # which is generated, but not analysed
        yield _of_analysis(found[1], found[2])


def _of_lookup(line: str) -> Iterator[Reading]:
    cells = [cell.strip() for cell in line.split("\t")]
    if not _is_lookup(cells):
        raise ValueError(f"expected a form, an analysis and a weight, separated by tabs, but found {line[:60]!r}.")
    form, analysis, weight = cells
    if weight in ("inf", "+?"):
        return
    if "<" in analysis:
        yield _of_analysis(form, analysis)
    elif "+" in analysis[1:]:  # others have no tags
        lemma, plus, tags = analysis.partition("+")
        yield _reading(form, lemma, plus + tags, line)


def _of_analysis(form: str, analysis: str) -> Reading:
    """Return a reading as apertium writes it: `huis<n><pl>`, or `do<vblex>+not<adv>` for two words in one."""
    lemma, _, tags = analysis.partition("<")
    return Reading(_unescaped(form), _unescaped(lemma), _LATER_LEMMA.sub("+", f"<{tags}"))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _reading(form: str, lemma: str, tag: str, line: str) -> Reading:
    if not form or not tag:
        raise ValueError(f"there is no {'part of speech' if form else 'form'}: {line[:60]!r}.")
    return Reading(form, lemma, tag)


_READERS: dict[str, Callable[[str], Iterator[Reading]]] = {
    "columns": _of_columns,
    "UniMorph": _of_unimorph,
    "hunspell": _of_hunspell,
    "lt-proc": _of_lt_proc,
    "expanded": _of_expanded,
    "hfst-lookup": _of_lookup,
}
