"""Reads CoNLL-U sentence by sentence, and writes it back with changes: the work of `repair` and `vote`."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import srsly
from tqdm import tqdm

from ..conllu import Sentence, vote_sentence
from ..conllu.repair import (
    enhanced_root_disagrees,
    is_well_formed,
    lines_and_root_label,
    pos_of_sentence,
    repair_sentence,
)
from ..conllu.sentence import pieces_of
from ..conllu.vote import in_step
from ..errors import ConlluError, SentenceTooLongError
from ..escapes import printable
from ..labels import UD_ROOT, is_root_label
from ..repair import looks_zero_based
from ..rules import Rules
from ..scored import ScoredSentence
from ..tables import text_table
from ..text_files import gzipped, is_gzip
from .files import Opened, if_given, opened_to_read, outputs

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["Repair", "opened_conllu", "progress_bar", "rewritten", "shown_name", "violations_table", "vote_files"]

_BATCH = 128  # sentences that a parser scores together
_SHOWN = 10  # changes that are printed without --check
_ROWS = ("Sentences", "Words", "Malformed sentences", "Heads that change", "Labels that change")
_OTHER_ROOT = "Sentences with another root in the enhanced layer"
_UNREADABLE = "Sentences that can't be read"

Pair = tuple[Path, Path | None]  # a file to read, and the file to write
Piece = TypeVar("Piece", Sentence, list[Sentence])


def shown_name(path: Path) -> str:
    """Return the name of an input in messages."""
    return "<stdin>" if str(path) == "-" else printable(path)


def progress_bar(files: Sequence[Path]) -> tqdm[Any]:
    """Return a progress bar over bytes of input, on a terminal. Standard input and compressed files have no total."""
    total = None
    if not any(str(file) == "-" or file.name.endswith(".gz") for file in files):
        total = sum(file.stat().st_size for file in files)
    disable = None if sys.stderr is not None else True  # None: unless standard error is a terminal
    return tqdm(total=total, unit="B", unit_scale=True, disable=disable, delay=1, leave=False)


def rewritten(pieces: Iterable[Piece | bytes], out: BinaryIO | None, progress: tqdm[Any]) -> Iterator[Piece]:
    """Iterate over sentences that the caller changes in place, and write them back with the bytes between them.

    pieces (Iterable): The result of `read_pieces` or `in_step`. Of several sentences that belong together, the first is
        written.
    out (Optional[BinaryIO]): Receives each sentence when the caller asks for the next. If None, nothing is written.
    """
    for piece in pieces:
        if isinstance(piece, bytes):
            progress.update(len(piece))
            if out is not None:
                out.write(piece)
            continue
        first = piece[0] if isinstance(piece, list) else piece
        progress.update(sum(map(len, first.lines)))
        yield piece
        if out is not None:
            out.write(first.to_bytes())


@contextmanager
def opened_conllu(opened: Opened, target: Path, source: Path) -> Iterator[BinaryIO]:
    """Open a file for CoNLL-U. If it is to be compressed with gzip, what is written to it is compressed.

    It is compressed if `source` is, where both have the same name; otherwise if its own name ends in `.gz`. Standard
    output never is.
    """
    with opened(target) as file:
        same_name = str(target) != "-" and target.name == source.name
        if not (is_gzip(source) if same_name else target.name.endswith(".gz")):
            yield file
            return
        with gzipped(file) as text:
            yield cast(BinaryIO, text)


def violations_table(before: Counter[str], after: Counter[str]) -> str:
    """Return the violations of each rule before and after, the most frequent first, and their sum."""
    names = sorted(before | after, key=lambda name: -before[name])
    rows = [(name, f"{before[name]:,}", f"{after[name]:,}") for name in names]
    rows.append(("all", f"{before.total():,}", f"{after.total():,}"))
    return text_table(rows, ("Violations of rules", "before", "after"))


@dataclass
class Repair:
    """The repair of files: its options, and what it has found so far."""

    check: bool  # whether to print every change, and to write no CoNLL-U
    skip_invalid: bool  # whether sentences that can't be read are left as they are
    demoted_label: str | None
    rules: Rules | None
    say: Callable[[str], None]
    prior: Language | None = None  # the pipeline whose scores choose between trees
    keep: float = math.inf
    report: BinaryIO | None = None  # receives each change as a line of JSON
    scores: dict[int, ScoredSentence] = field(default_factory=dict)  # of the prior, by the line of the sentence
    counts: Counter[str] = field(default_factory=Counter)  # by the names of the rows in the table
    reasons: Counter[str] = field(default_factory=Counter)  # words that change, for each reason
    broken: Counter[str] = field(default_factory=Counter)  # violations of each rule in single-rooted trees

    def of_files(self, pairs: Sequence[Pair], *, report: Path | None, folders: bool) -> None:
        """Repair pairs of files, to read and to write. All are written at the end, or none."""
        made = [target.parent for _, target in pairs if target is not None] if folders else []
        bar = progress_bar([source for source, _ in pairs])
        with outputs(*made) as opened, bar as progress, if_given(opened, report) as self.report:
            for source, target in pairs:
                if target is not None:
                    with opened_conllu(opened, target, source) as out:
                        self._of_file(source, out, progress)
                    continue
                try:
                    self._of_file(source, None, progress)
                except ConlluError as error:  # the file as a whole can't be read; the next one is checked nevertheless
                    self._unreadable(error)

    def _of_file(self, source: Path, out: BinaryIO | None, progress: tqdm[Any]) -> None:
        """Repair the sentences of a file, one after the other.

        RAISES (ConlluError): For the first sentence that is not CoNLL-U, unless such sentences are skipped, and if
            heads seem to count from 0 all over the file.
        """
        sentences = malformed = zero_based = 0
        on_fault = self._unreadable if self.check or self.skip_invalid else None
        name = shown_name(source)
        with opened_to_read(source) as file, lines_and_root_label(file, name) as (lines, root_label):
            if self.rules is not None:
                root_label = UD_ROOT
            pieces = self._scored(pieces_of(lines, name, on_fault), root_label)
            for sentence in rewritten(pieces, out, progress):
                before = sentence.heads.copy()
                sentences += 1
                if self._of_sentence(sentence, root_label):
                    malformed += 1
                    zero_based += looks_zero_based(before)
        if malformed * 2 > sentences and zero_based * 4 > malformed:  # of 0-based files: nearly all, and two thirds
            message = (
                f"{name}: the heads of {zero_based:,} of {malformed:,} malformed sentences make trees if they count "
                "from 0, with the root as its own head. In CoNLL-U they count from 1, and ROOT is 0. Convert them "
                "first."
            )
            if not self.check:
                raise ConlluError(message)
            self.say(message)

    def _scored(self, pieces: Iterator[Sentence | bytes], root_label: str) -> Iterator[Sentence | bytes]:
        """Yield the pieces of a file. With a prior, `scores` then has those of sentences that may need repair."""
        if self.prior is None:
            yield from pieces
            return
        while batch := list(islice(pieces, _BATCH)):
            wanted = [
                piece
                for piece in batch
                if isinstance(piece, Sentence) and (self.rules is not None or not is_well_formed(piece, root_label))
            ]
            self.scores = self._scores_of(wanted)
            yield from batch

    def _scores_of(self, sentences: list[Sentence]) -> dict[int, ScoredSentence]:
        """Return the scores that the prior gives to sentences, by their lines. One that is too long gets none."""
        from ..tools.gold import score_sentences, unparsed

        assert self.prior is not None
        golds = unparsed(self.prior.vocab, sentences)
        try:
            scored = list(score_sentences(self.prior, golds, all_labels=self.rules is not None))
        except SentenceTooLongError as error:
            if len(sentences) > 1:
                return {line: own for each in sentences for line, own in self._scores_of([each]).items()}
            where = f"{sentences[0].source}:{sentences[0].line}"
            self.say(f"{where}: the sentence is repaired without the scores of --prior: {error}")
            return {}
        return {int(each.name): each for each in scored}

    def _of_sentence(self, sentence: Sentence, root_label: str) -> bool:
        """Repair a sentence in place, and count and report its changes. Return whether there are any."""
        self.counts["Sentences"] += 1
        self.counts["Words"] += len(sentence)
        try:
            changes = repair_sentence(
                sentence,
                root_label=root_label,
                demoted_label=self.demoted_label,
                rules=self.rules,
                prior=self.scores.get(sentence.line),
                keep=self.keep,
            )
        except ConlluError as error:
            if not (self.check or self.skip_invalid):
                raise
            self._unreadable(error)
            return False
        self.broken.update(changes.broken)
        self.counts["Malformed sentences"] += bool(changes)
        for change in changes:
            self.reasons[change.why] += 1
            self.counts["Heads that change"] += change.head != change.old_head
            self.counts["Labels that change"] += change.label != change.old_label
            if self.report is not None:
                self.report.write(f"{srsly.json_dumps(change._asdict())}\n".encode())
            if self.check or self.reasons.total() <= _SHOWN:
                self.say(str(change))
        if enhanced_root_disagrees(sentence):
            self.counts[_OTHER_ROOT] += 1
            root = sentence.heads.index(0) + 1
            self.say(
                f"{sentence.source}:{sentence.line_of(root)}: word {root} is the root of the basic layer, but not of "
                "the enhanced one (DEPS), which stays as it is"
            )
        return bool(changes)

    def _unreadable(self, error: ConlluError) -> None:
        self.counts[_UNREADABLE] += 1
        self.say(str(error) if self.check else f"{error}\nWhat can't be read is left as it is.")

    @property
    def found_faults(self) -> bool:
        """Whether there was a malformed sentence, or one that can't be read."""
        return bool(self.counts["Malformed sentences"] or self.counts[_UNREADABLE])

    def summarize(self) -> None:
        """Print the counts."""
        counts, more = self.counts, self.reasons.total() - _SHOWN
        if more > 0 and not self.check:
            self.say(f"... and {more:,} more changes; --report FILE lists all.")
        rows = [(name, f"{counts[name]:,}") for name in _ROWS]
        if counts["Sentences"]:
            share = counts["Malformed sentences"] / counts["Sentences"]
            rows[2] = (rows[2][0], f"{rows[2][1]} ({share:.2%})")
        rows += [(f"  {reason}", f"{count:,}") for reason, count in self.reasons.most_common()]
        rows += [(name, f"{counts[name]:,}") for name in (_OTHER_ROOT, _UNREADABLE) if counts[name]]
        self.say(text_table(rows))
        if self.rules is not None:
            self.say(violations_table(self.broken, Counter()))

    def to_json(self) -> dict[str, Any]:
        """Return the counts: those of the table, of words that change for each reason, and of violations of rules."""
        found = {name.lower().replace(" ", "_"): self.counts[name] for name in (*_ROWS, _OTHER_ROOT)}
        found["unreadable_sentences"] = self.counts[_UNREADABLE]
        violations = {} if self.rules is None else {"violations": dict(self.broken)}
        return found | {"reasons": dict(self.reasons)} | violations


def vote_files(
    files: Sequence[Path], out: BinaryIO, weights: list[float] | None, demoted_label: str | None, rules: Rules | None
) -> tuple[str, dict[str, Any]]:
    """Write the first file with the winning heads and labels, of those that meet the rules.

    Return counts as tables, and as JSON.

    RAISES (ConlluError): If the files are not parses of the same words. The message names file and line.
    """
    counted = words = unanimous = changed = 0
    # Violations of each rule. Those before are counted in the trees that would win without rules.
    broken_before: Counter[str] = Counter()
    broken_after: Counter[str] = Counter()
    names = [shown_name(file) for file in files]
    with ExitStack() as stack:
        read = [
            stack.enter_context(lines_and_root_label(stack.enter_context(opened_to_read(file)), name))
            for file, name in zip(files, names, strict=True)
        ]
        streams = [pieces_of(lines, name) for (lines, _), name in zip(read, names, strict=True)]
        is_ud = rules is not None or any(is_root_label(label) for _, label in read)
        root_label = UD_ROOT if is_ud else read[0][1]
        progress = stack.enter_context(progress_bar(files[:1]))
        for sentences in rewritten(in_step(streams, names), out, progress):
            first, *others = sentences
            counted += 1
            words += len(first)
            unanimous += all(other.heads == first.heads and other.labels == first.labels for other in others)
            changed += vote_sentence(
                sentences,
                weights,
                root_label=root_label,
                demoted_label=demoted_label,
                rules=rules,
                broken=broken_before,
            )
            if rules is not None:
                found = rules.violations(first.heads, first.labels, pos_of_sentence(first))
                broken_after.update(violation.rule for violation in found)
    rows = [
        ("Sentences", counted),
        ("Words", words),
        ("Sentences on which all agree", unanimous),
        ("Words with another head or label than in the first file", changed),
    ]
    text = text_table([(name, f"{count:,}") for name, count in rows])
    figures: dict[str, Any] = {"sentences": counted, "words": words, "unanimous_sentences": unanimous}
    figures["changed_words"] = changed
    if rules is not None:
        text += f"\n{violations_table(broken_before, broken_after)}"
        figures["violations"] = {"before": dict(broken_before), "after": dict(broken_after)}
    return text, figures
