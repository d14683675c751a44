"""`spacy mindroot repair`: turns the trees of CoNLL-U files into single-rooted trees, and reports every change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import srsly
import typer
from wasabi import table

from ..conllu import Sentence, conllu_files, read_pieces
from ..conllu.repair import ArcChange, enhanced_root_disagrees, pos_of_sentence, repair_sentence
from ..errors import ConlluError
from ..repair import looks_zero_based
from ..rules import Rules, to_rules
from .files import PathsError, check_label, errors_as_messages, opened_to_read, outputs, printable
from .folders import refuse_links_out
from .rewriting import Progress, made_folders, opened_conllu, refuse_lost_files, rewritten, shown_name, violations_table

__all__ = ["Counts", "run"]

_SHOWN = 10  # changes that are printed without --check

Pair = tuple[Path, Path | None]  # a file to read, and the file to write


@dataclass
class Counts:
    """The numbers of things found in all files.

    sentences, words (int): Those that could be read.
    malformed (int): Sentences that change.
    heads, labels (int): Words whose head or label changes.
    reasons (Counter): Words that change, for each reason.
    enhanced (int): Sentences whose enhanced layer has another root.
    unreadable (int): Sentences that are not CoNLL-U, or have no heads.
    broken_before, broken_after (Counter): Violations of each rule, if there are rules. Those before are counted in
        single-rooted trees.
    """

    sentences: int = 0
    words: int = 0
    malformed: int = 0
    heads: int = 0
    labels: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    enhanced: int = 0
    unreadable: int = 0
    broken_before: Counter[str] = field(default_factory=Counter)
    broken_after: Counter[str] = field(default_factory=Counter)

    def rules_table(self) -> str:
        """Return the violations of each rule, before and after."""
        return violations_table(self.broken_before, self.broken_after)

    def table(self) -> str:
        """Return the counts, one per line."""
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
        return str(table(rows, aligns=("l", "r"), max_col=60))


@dataclass
class _Job:
    """One call of the command: its options, and what it has found so far."""

    check: bool
    skip_invalid: bool
    demoted_label: str | None
    to_stderr: bool  # messages, because CoNLL-U goes to standard output
    rules: Rules | None = None
    report: BinaryIO | None = None
    counts: Counts = field(default_factory=Counts)
    shown: int = 0

    def say(self, message: str) -> None:
        typer.echo(message, err=self.to_stderr)

    def unreadable(self, error: ConlluError) -> None:
        """Report a sentence that can't be read."""
        self.counts.unreadable += 1
        self.say(str(error) if self.check else f"{error}\nWhat can't be read is left as it is.")

    def repair(self, sentence: Sentence) -> bool:
        """Repair a sentence in place, and count and report its changes. Return whether there are any."""
        self.counts.sentences += 1
        self.counts.words += len(sentence)
        try:
            changes = repair_sentence(sentence, demoted_label=self.demoted_label, rules=self.rules)
        except ConlluError as error:
            if not (self.check or self.skip_invalid):
                raise
            self.unreadable(error)
            return False
        if self.rules is not None:
            self.counts.broken_after.update(_violations(sentence, self.rules, []))
            self.counts.broken_before.update(_violations(sentence, self.rules, changes))
        self.counts.malformed += bool(changes)
        for change in changes:
            self._record(change)
        if enhanced_root_disagrees(sentence):
            self.counts.enhanced += 1
            self.say(_shown_enhanced(sentence))
        return bool(changes)

    def _record(self, change: ArcChange) -> None:
        self.counts.reasons[change.why] += 1
        self.counts.heads += change.head != change.old_head
        self.counts.labels += change.label != change.old_label
        if self.report is not None:
            self.report.write(f"{srsly.json_dumps(change._asdict())}\n".encode())
        self.shown += 1
        if self.check or self.shown <= _SHOWN:
            self.say(str(change))

    def summarize(self) -> None:
        """Print the counts."""
        if self.shown > _SHOWN and not self.check:
            self.say(f"... and {self.shown - _SHOWN:,} more changes; --report FILE lists all.")
        self.say(self.counts.table())
        if self.rules is not None:
            self.say(self.counts.rules_table())


def run(
    source: Path,
    out: Path | None,
    check: bool,
    report: Path | None,
    demoted_label: str | None,
    skip_invalid: bool = False,
    rules: str | None = None,
) -> None:
    """Run the command. See `spacy mindroot repair --help`."""
    job = _Job(check, skip_invalid, demoted_label, to_stderr=str(out) == "-")
    with errors_as_messages(nothing_written=not check):
        job.rules = None if rules is None else to_rules(rules, what="--rules").hard
        if check == (out is not None):
            raise PathsError("give a file or folder to write to, or --check to write none.")
        check_label(demoted_label)
        pairs = _pairs(source, out)
        in_place = out is not None and os.path.abspath(source) == os.path.abspath(out)
        refuse_lost_files(pairs, report, in_place=in_place)
        if out is not None and source.is_dir():
            refuse_links_out(out, [target for _, target in pairs if target is not None])
        _repair_files(job, pairs, report, folders=source.is_dir())
    with errors_as_messages():  # from here on, files have been written
        job.summarize()
    if check and (job.counts.malformed or job.counts.unreadable):
        raise typer.Exit(1)


def _repair_files(job: _Job, pairs: Sequence[Pair], report: Path | None, *, folders: bool) -> None:
    targets = [target for _, target in pairs if target is not None]
    with ExitStack() as stack:
        stack.enter_context(made_folders([target.parent for target in targets] if folders else []))
        opened = stack.enter_context(outputs())
        progress = stack.enter_context(Progress([source for source, _ in pairs]))
        job.report = None if report is None else stack.enter_context(opened(report))
        for source, target in pairs:
            if target is not None:
                with opened_conllu(opened, target, source) as out:
                    _repair_file(job, source, out, progress)
                continue
            try:
                _repair_file(job, source, None, progress)
            except ConlluError as error:  # the file as a whole can't be read; the next one is checked nevertheless
                job.unreadable(error)


def _repair_file(job: _Job, source: Path, out: BinaryIO | None, progress: Progress) -> None:
    """Repair the sentences of a file, one after the other.

    RAISES (ConlluError): For the first sentence that is not CoNLL-U, unless such sentences are skipped, and if heads
        seem to count from 0 all over the file.
    """
    sentences = malformed = zero_based = 0
    on_fault = job.unreadable if job.check or job.skip_invalid else None
    with opened_to_read(source) as file:
        for sentence in rewritten(read_pieces(file, shown_name(source), on_fault), out, progress):
            before = sentence.heads.copy()
            sentences += 1
            if job.repair(sentence):
                malformed += 1
                zero_based += looks_zero_based(before)
    if malformed * 2 > sentences and zero_based * 4 > malformed:  # of 0-based files: nearly all, and about two thirds
        message = (
            f"{shown_name(source)}: the heads of {zero_based:,} of {malformed:,} malformed sentences make trees "
            "if they count from 0, with the root as its own head. In CoNLL-U they count from 1, and ROOT is 0. Convert "
            "them first."
        )
        if not job.check:
            raise ConlluError(message)
        job.say(message)


def _pairs(source: Path, out: Path | None) -> list[Pair]:
    """Return the files to read, each with the file to write."""
    if str(source) == "-":
        if out is not None and out.is_dir():
            raise PathsError(f"{printable(out)} is a folder. Give a file for what comes from standard input.")
        return [(source, out)]
    files = conllu_files(source)
    if out is None:
        return [(file, None) for file in files]
    if not source.is_dir():
        return [(source, out / source.name if out.is_dir() else out)]
    if str(out) == "-" or (out.exists() and not out.is_dir()):
        raise PathsError(f"{printable(source)} is a folder, so OUT must be a folder, too; found {printable(out)}.")
    if Path(os.path.realpath(source)) in Path(os.path.realpath(out)).parents:
        raise PathsError(
            f"OUT, {printable(out)}, is inside IN, {printable(source)}: the next run would read what this one "
            "writes. Choose a folder outside IN."
        )
    return [(file, out / file.relative_to(source)) for file in files]


def _shown_enhanced(sentence: Sentence) -> str:
    root = sentence.heads.index(0) + 1
    where = f"{sentence.source}:{sentence.line_of(root)}"
    return (
        f"{where}: word {root} is the root of the basic layer, but not of the enhanced one (DEPS), which stays as it is"
    )


def _violations(sentence: Sentence, rules: Rules, changes: Sequence[ArcChange]) -> list[str]:
    """Return the names of the rules that a tree breaks, once for each violation, with these changes undone.

    Changes that made the tree single-rooted are not undone.
    """
    heads, labels = sentence.heads.copy(), sentence.labels.copy()
    for change in changes:
        if change.why in rules.names or change.why == "rules":
            heads[change.word - 1], labels[change.word - 1] = int(change.old_head), change.old_label
    return [violation.rule for violation in rules.violations(heads, labels, pos_of_sentence(sentence))]
