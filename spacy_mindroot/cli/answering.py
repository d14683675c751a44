"""The answers of language models in a file of JSON lines, decoded and written as CoNLL-U: a part of `decode`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import srsly

from ..answers import DecodedAnswer, decode_answer, read_answer
from ..answers.reading import words_in
from ..conllu import Sentence, read_conllu
from ..conllu.columns import UPOS
from ..conllu.marks import SentenceWriter
from ..conllu.sentence import format_sentence, to_sentence
from ..errors import CorpusError
from ..escapes import printable
from ..repair import looks_zero_based
from ..tables import text_table
from ..tools.audit.decoded import marks_of
from ..trees import MISSING, is_tree
from .files import opened_to_read

__all__ = ["AnswerDecoder", "is_answers", "known_labels"]

_BLANK = b"\xef\xbb\xbf \t\r\n"
_SHOWN = 10  # faults that are printed without --check


def is_answers(path: Path) -> bool:
    """Whether a file has JSON lines: by its name, or by its first character."""
    if path.suffix in (".jsonl", ".ndjson", ".json", ".npz"):
        return path.suffix != ".npz"
    with open(path, "rb") as file:
        return file.read(64).lstrip(_BLANK)[:1] in (b"{", b"[")


def known_labels(given: str | None) -> list[str]:
    """Return the labels of --known-labels: those with commas between them, or those of a CoNLL-U file."""
    if given is None:
        return []
    if Path(given).is_file():
        return list(dict.fromkeys(label for own in read_conllu(given) for label in own.labels if label != "_"))
    return [label.strip() for label in given.split(",") if label.strip()]


def _parsed(text: bytes) -> Any:
    """Return the JSON in a text, or the text: what can be read of it is found, and the rest is named."""
    content = text.decode("utf-8-sig", "replace").strip()
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content


def _is_answer(value: Any) -> bool:
    """Whether a value in an array is the answer for a sentence, not a part of one, such as a word."""
    return isinstance(value, dict) and not {"form", "head"} & value.keys()


class _Line(NamedTuple):
    number: int
    given: Any  # a JSON value, or the text of a line that is none
    sentence: Sentence  # of a CoNLL-U file, or of words alone
    name: str


@dataclass
class AnswerDecoder:
    """Decodes the answers of a file: its options, and what it has found so far."""

    answers: Path
    labels: Sequence[str]
    kbest: int
    confidence: bool
    projective: bool
    unrepaired: bool  # whether heads are written as the model gave them
    check: bool  # whether every fault is printed
    say: Callable[[str], None]
    report: BinaryIO | None = None  # receives the faults of each sentence as a line of JSON
    counts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def decode(self, conllu: Path | None, text: Path | None, out: BinaryIO | None) -> None:
        """Decode all answers, and write CoNLL-U unless `out` is None.

        conllu, text (Optional[Path]): A file with the words of the sentences.
        RAISES (CorpusError): If a line has no words, or there are not as many lines as sentences. If heads seem to
            count from 0 all over the file.
        """
        zero_based = malformed = 0
        writer = None if out is None else SentenceWriter(out)
        for line in self._lines(conllu, text):
            words, pos = line.sentence.words, line.sentence.column(UPOS)
            answer = read_answer(line.given, words, self.labels)
            found = decode_answer(answer, words, pos=pos, projective=self.projective)
            if self.confidence and not found.is_probability:
                raise CorpusError(
                    f"{printable(self.answers)}:{line.number}: --confidence needs the log-probabilities of heads, and "
                    "this line has none."
                )
            self._count(line, found)
            if len(answer.heads) == 1 and not is_tree(answer.heads[0], single_root=True):
                malformed += 1
                zero_based += looks_zero_based(answer.heads[0])
            if self.unrepaired and len(answer.heads) == 1:
                found = found._replace(heads=answer.heads[0], labels=[label or "_" for label in answer.labels[0]])
            if writer is not None:
                self._write(line, found, writer)
        if malformed * 2 > self.counts["Sentences"] and zero_based * 4 > malformed:  # as in `repair`
            raise CorpusError(
                f"{printable(self.answers)}: the heads of {zero_based:,} of {malformed:,} malformed sentences make "
                "trees if they count from 0, with the root as its own head. They must count from 1, and ROOT is 0."
            )

    def _lines(self, conllu: Path | None, text: Path | None) -> Iterator[_Line]:
        sentences = None if conllu is None else list(read_conllu(conllu))
        texts = (
            None if text is None else [own.split() for own in text.read_text("utf-8-sig").splitlines() if own.split()]
        )
        at = 0
        for number, given in self._given():
            name = str(given.get("sent_id") or "") if isinstance(given, dict) else ""
            name = name.encode("utf8", "replace").decode()
            sentence, words = None, None
            if sentences is not None:
                sentence = sentences[at] if at < len(sentences) else None
                words = None if sentence is None else sentence.words
                if sentence is not None and name and sentence.sent_id and name != sentence.sent_id:
                    raise CorpusError(
                        f"{printable(self.answers)}:{number} is the sentence {name}, but that of "
                        f"{sentence.source}:{sentence.line} is {sentence.sent_id}. Give one line for each sentence."
                    )
            elif texts is not None:
                words = texts[at] if at < len(texts) else None
            else:
                words = words_in(given)
            if not words:
                what = "no words" if sentences is None and texts is None else "no sentence that belongs to it"
                raise CorpusError(
                    f"{printable(self.answers)}:{number}: this line has {what}, so its heads mean nothing. Give "
                    "one line for each sentence, with `words`; or the words with --conllu or --text."
                )
            at += 1
            if sentence is None:
                name = " ".join(name.split()) or f"{printable(self.answers.stem)}-{at}"
                text_of = format_sentence(words, [0] * len(words), ["_"] * len(words), sent_id=name)
                sentence = to_sentence(text_of, f"{printable(self.answers)}:{number}")
            yield _Line(number, given, sentence, sentence.sent_id or str(at))
        expected = sentences if sentences is not None else texts
        if expected is not None and at != len(expected):
            raise CorpusError(f"{printable(self.answers)} has answers for {at} sentences of {len(expected)}.")

    def _given(self) -> Iterator[tuple[int, Any]]:
        """Yield each answer with the number of its line; in a .json file that is one array of them, of the item."""
        with opened_to_read(self.answers) as file:
            lines: Iterable[bytes] = file
            if self.answers.suffix == ".json":
                text = file.read()
                whole = _parsed(text)
                if isinstance(whole, list) and all(map(_is_answer, whole)):
                    yield from enumerate(whole, 1)
                    return
                lines = text.splitlines() if isinstance(whole, str) else [text]
            for number, line in enumerate(lines, 1):
                if line.strip(_BLANK):
                    yield number, _parsed(line)

    def _count(self, line: _Line, found: DecodedAnswer) -> None:
        self.counts["Sentences"] += 1
        self.counts["Words"] += len(line.sentence)
        self.counts["Sentences at fault"] += bool(found.faults)
        self.counts["Sentences without an answer"] += found.heads is None
        for fault in found.faults:
            self.faults[fault.kind] += 1
            if self.check or self.faults.total() <= _SHOWN:
                self.say(f"{printable(self.answers)}:{line.number}: sentence {line.name}: {fault}")
        if self.report is not None and found.faults:
            faults = [fault._asdict() for fault in found.faults]
            record = {"line": line.number, "sent_id": line.name, "heads": found.heads, "faults": faults}
            self.report.write(f"{srsly.json_dumps(record)}\n".encode())

    def _write(self, line: _Line, found: DecodedAnswer, writer: SentenceWriter) -> None:
        heads, labels = found.heads, found.labels
        comments: dict[str, str] = {}
        misc: dict[int, dict[str, str]] = {}
        if found.sentence is not None and heads is not None and (self.kbest > 1 or self.confidence):
            tree, comments, misc = marks_of(
                found.sentence,
                np.array(heads, dtype=np.int32),
                kbest=self.kbest,
                confidence=self.confidence,
                projective=self.projective,
            )
            heads, labels = tree.tolist(), found.sentence.labels(tree)
        line.sentence.replace_arcs(heads or [MISSING] * len(labels), ["_".join(own.split()) or "_" for own in labels])
        writer.write(line.sentence, comments, misc)

    @property
    def found_faults(self) -> bool:
        """Whether anything was wrong."""
        return bool(self.faults)

    def summary(self) -> str:
        """Return the counts as a table."""
        rows = [(name, f"{count:,}") for name, count in self.counts.items()]
        rows += [(f"  {kind}", f"{count:,}") for kind, count in self.faults.most_common()]
        return text_table(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the counts, and how often each kind of fault was found."""
        return {**{name.lower().replace(" ", "_"): n for name, n in self.counts.items()}, "faults": dict(self.faults)}
