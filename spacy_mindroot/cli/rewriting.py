"""Reads CoNLL-U sentence by sentence, and writes it back with changes: the work of `repair` and `vote`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import srsly
from tqdm import tqdm
from wasabi import table

from ..conllu import Sentence, vote_sentence
from ..conllu.files import gzipped, is_gzip
from ..conllu.repair import enhanced_root_disagrees, lines_and_root_label, pos_of_sentence, repair_sentence
from ..conllu.sentence import pieces_of
from ..conllu.vote import in_step
from ..errors import ConlluError
from ..escapes import printable
from ..labels import UD_ROOT, is_root_label
from ..repair import looks_zero_based
from ..rules import Rules
from .files import Opened, opened_to_read, outputs

__all__ = [
    "Progress",
    "Repair",
    "VoteCounts",
    "opened_conllu",
    "rewritten",
    "shown_name",
    "violations_table",
    "vote_files",
]

_STEP = 1 << 20  # bytes between two updates of a progress bar
_SHOWN = 10  # changes that are printed without --check

Pair = tuple[Path, Path | None]  # a file to read, and the file to write
Piece = TypeVar("Piece", Sentence, list[Sentence])


def shown_name(path: Path) -> str:
    """Return the name of an input in messages."""
    return "<stdin>" if str(path) == "-" else printable(path)


class Progress:
    """A progress bar over bytes of input, on a terminal only.

    It shows no total for standard input and compressed files.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        total = None
        if not any(str(file) == "-" or file.name.endswith(".gz") for file in files):
            total = sum(file.stat().st_size for file in files)
        disable = None if sys.stderr is not None else True  # None: unless standard error is a terminal
        self._bar = tqdm(total=total, unit="B", unit_scale=True, disable=disable, delay=1, leave=False)
        self._done = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def add(self, size: int) -> None:
        """Count bytes of input."""
        self._done += size
        if self._done > _STEP:
            self._bar.update(self._done)
            self._done = 0


def rewritten(pieces: Iterable[Piece | bytes], out: BinaryIO | None, progress: Progress) -> Iterator[Piece]:
    """Iterate over sentences that the caller changes in place, and write them back with the bytes between them.

    pieces (Iterable): The result of `read_pieces` or `in_step`. Of several sentences that belong together, the first is
        written.
    out (Optional[BinaryIO]): Receives each sentence when the caller asks for the next. If None, nothing is written.
    """
    for piece in pieces:
        if isinstance(piece, bytes):
            progress.add(len(piece))
            if out is not None:
                out.write(piece)
            continue
        first = piece[0] if isinstance(piece, list) else piece
        progress.add(sum(map(len, first.lines)))
        yield piece
        if out is not None:
            out.write(first.to_bytes())


@contextmanager
def opened_conllu(opened: Opened, target: Path, source: Path) -> Iterator[BinaryIO]:
    """Open a file for CoNLL-U. If it is to be compressed with gzip, what is written to it is compressed.

    It is compressed if `source` is, where both have the same name; otherwise if its own name ends in `.gz`. Standard
    output never is.

    opened (Callable): From `outputs`.
    target, source (Path): The file to write, and the file that it is made from.
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
    return str(table(rows, header=("Violations of rules", "before", "after"), aligns=("l", "r", "r"), max_col=60))


@dataclass
class Repair:
    """The repair of files: its options, and what it has found so far.

    check (bool): Whether to print every change, and to write no CoNLL-U.
    skip_invalid (bool): Whether sentences that can't be read are left as they are.
    demoted_label (Optional[str]), rules (Optional[Rules]): See `conllu.repair_sentence`.
    say (Callable): Receives messages.
    report (Optional[BinaryIO]): Receives each change as a line of JSON.
    sentences, words (int): Those that could be read.
    malformed (int): Sentences that change.
    heads, labels (int): Words whose head or label changes.
    reasons (Counter): Words that change, for each reason.
    enhanced (int): Sentences whose enhanced layer has another root.
    unreadable (int): Sentences that are not CoNLL-U, or have no heads.
    broken (Counter): Violations of each rule in single-rooted trees, if there are rules. None are left afterwards.
    """

    check: bool
    skip_invalid: bool
    demoted_label: str | None
    rules: Rules | None
    say: Callable[[str], None]
    report: BinaryIO | None = None
    sentences: int = 0
    words: int = 0
    malformed: int = 0
    heads: int = 0
    labels: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    enhanced: int = 0
    unreadable: int = 0
    broken: Counter[str] = field(default_factory=Counter)

    def of_files(self, pairs: Sequence[Pair], *, report: Path | None, folders: bool) -> None:
        """Repair files. All are written at the end, or none.

        pairs (Sequence): The files to read, each with the file to write, or None.
        report (Optional[Path]): File for the changes.
        folders (bool): Whether to make folders that are missing.
        """
        made = [target.parent for _, target in pairs if target is not None] if folders else []
        with outputs(*made) as opened, Progress([source for source, _ in pairs]) as progress, ExitStack() as stack:
            self.report = None if report is None else stack.enter_context(opened(report))
            for source, target in pairs:
                if target is not None:
                    with opened_conllu(opened, target, source) as out:
                        self._of_file(source, out, progress)
                    continue
                try:
                    self._of_file(source, None, progress)
                except ConlluError as error:  # the file as a whole can't be read; the next one is checked nevertheless
                    self._unreadable(error)

    def _of_file(self, source: Path, out: BinaryIO | None, progress: Progress) -> None:
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
            for sentence in rewritten(pieces_of(lines, name, on_fault), out, progress):
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

    def _of_sentence(self, sentence: Sentence, root_label: str) -> bool:
        """Repair a sentence in place, and count and report its changes. Return whether there are any."""
        self.sentences += 1
        self.words += len(sentence)
        try:
            changes = repair_sentence(
                sentence, root_label=root_label, demoted_label=self.demoted_label, rules=self.rules
            )
        except ConlluError as error:
            if not (self.check or self.skip_invalid):
                raise
            self._unreadable(error)
            return False
        self.broken.update(changes.broken)
        self.malformed += bool(changes)
        for change in changes:
            self.reasons[change.why] += 1
            self.heads += change.head != change.old_head
            self.labels += change.label != change.old_label
            if self.report is not None:
                self.report.write(f"{srsly.json_dumps(change._asdict())}\n".encode())
            if self.check or self.reasons.total() <= _SHOWN:
                self.say(str(change))
        if enhanced_root_disagrees(sentence):
            self.enhanced += 1
            root = sentence.heads.index(0) + 1
            self.say(
                f"{sentence.source}:{sentence.line_of(root)}: word {root} is the root of the basic layer, but not of "
                "the enhanced one (DEPS), which stays as it is"
            )
        return bool(changes)

    def _unreadable(self, error: ConlluError) -> None:
        self.unreadable += 1
        self.say(str(error) if self.check else f"{error}\nWhat can't be read is left as it is.")

    def summarize(self) -> None:
        """Print the counts."""
        if self.reasons.total() > _SHOWN and not self.check:
            self.say(f"... and {self.reasons.total() - _SHOWN:,} more changes; --report FILE lists all.")
        share = f" ({self.malformed / self.sentences:.2%})" if self.sentences else ""
        rows = [
            ("Sentences", f"{self.sentences:,}"),
            ("Words", f"{self.words:,}"),
            ("Malformed sentences", f"{self.malformed:,}{share}"),
            ("Heads that change", f"{self.heads:,}"),
            ("Labels that change", f"{self.labels:,}"),
            *((f"  {reason}", f"{count:,}") for reason, count in self.reasons.most_common()),
        ]
        if self.enhanced:
            rows.append(("Sentences with another root in the enhanced layer", f"{self.enhanced:,}"))
        if self.unreadable:
            rows.append(("Sentences that can't be read", f"{self.unreadable:,}"))
        self.say(table(rows, aligns=("l", "r"), max_col=60))
        if self.rules is not None:
            self.say(violations_table(self.broken, Counter()))


@dataclass
class VoteCounts:
    """The numbers of sentences and words, and how many of them are the same in all files.

    broken_before, broken_after (Counter): Violations of each rule, if there are rules. Those before are counted in the
        trees that would win without rules.
    """

    sentences: int = 0
    words: int = 0
    unanimous: int = 0
    changed: int = 0
    broken_before: Counter[str] = field(default_factory=Counter)
    broken_after: Counter[str] = field(default_factory=Counter)

    def table(self) -> str:
        """Return the counts, one per line."""
        rows = [
            ("Sentences", f"{self.sentences:,}"),
            ("Words", f"{self.words:,}"),
            ("Sentences on which all agree", f"{self.unanimous:,}"),
            ("Words with another head or label than in the first file", f"{self.changed:,}"),
        ]
        return str(table(rows, aligns=("l", "r"), max_col=60))


def vote_files(
    files: Sequence[Path],
    out: BinaryIO,
    weights: list[float] | None,
    demoted_label: str | None,
    rules: Rules | None,
) -> VoteCounts:
    """Write the first file with the winning heads and labels, of those that meet the rules.

    RAISES (ConlluError): If the files are not parses of the same words. The message names file and line.
    """
    counts = VoteCounts()
    names = [shown_name(file) for file in files]
    with ExitStack() as stack:
        read = [
            stack.enter_context(lines_and_root_label(stack.enter_context(opened_to_read(file)), name))
            for file, name in zip(files, names, strict=True)
        ]
        streams = [pieces_of(lines, name) for (lines, _), name in zip(read, names, strict=True)]
        is_ud = rules is not None or any(is_root_label(label) for _, label in read)
        root_label = UD_ROOT if is_ud else read[0][1]
        progress = stack.enter_context(Progress(files[:1]))
        for sentences in rewritten(in_step(streams, names), out, progress):
            first, *others = sentences
            counts.sentences += 1
            counts.words += len(first)
            counts.unanimous += all(other.heads == first.heads and other.labels == first.labels for other in others)
            counts.changed += vote_sentence(
                sentences,
                weights,
                root_label=root_label,
                demoted_label=demoted_label,
                rules=rules,
                broken=counts.broken_before,
            )
            if rules is not None:
                found = rules.violations(first.heads, first.labels, pos_of_sentence(first))
                counts.broken_after.update(violation.rule for violation in found)
    return counts
