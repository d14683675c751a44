"""`spacy mindroot vote`: combines the parses of several CoNLL-U files into one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import typer
from wasabi import table

from ..conllu import vote_sentence
from ..conllu.repair import lines_and_root_label, pos_of_sentence
from ..conllu.sentence import pieces_of
from ..conllu.vote import in_step
from ..errors import VoteError
from ..labels import UD_ROOT, is_root_label
from ..rules import Rules, to_rules
from .files import check_label, check_paths, errors_as_messages, opened_to_read, outputs, rules_file
from .rewriting import Progress, opened_conllu, rewritten, shown_name, violations_table

__all__ = ["Counts", "run", "vote_files"]


@dataclass
class Counts:
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


def run(files: list[Path], out: Path, weights: str | None, demoted_label: str | None, rules: str | None = None) -> None:
    """Run the command. See `spacy mindroot vote --help`."""
    with errors_as_messages(nothing_written=True):
        if len(files) < 2:
            raise VoteError("a vote takes at least two files.")
        if sum(str(file) == "-" for file in files) > 1:
            raise VoteError("only one of the files can be standard input.")
        check_label(demoted_label)
        check_paths({"FILE": files, "--rules": rules_file(rules)}, {"--out": out})
        numbers = _to_weights(weights, len(files))
        known = None if rules is None else to_rules(rules, what="--rules").hard
        with outputs() as opened, opened_conllu(opened, out, files[0]) as output:
            counts = vote_files(files, output, numbers, demoted_label, known)
        typer.echo(counts.table(), err=str(out) == "-")
        if known is not None:
            typer.echo(violations_table(counts.broken_before, counts.broken_after), err=str(out) == "-")


def vote_files(
    files: Sequence[Path],
    out: BinaryIO,
    weights: list[float] | None,
    demoted_label: str | None = None,
    rules: Rules | None = None,
) -> Counts:
    """Write the first file with the winning heads and labels, of those that meet the rules.

    RAISES (ConlluError): If the files are not parses of the same words. The message names file and line.
    """
    counts = Counts()
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


def _to_weights(weights: str | None, files: int) -> list[float] | None:
    if weights is None:
        return None
    try:
        numbers = [float(weight) for weight in weights.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != files:
        raise VoteError(
            f"--weights takes {files} numbers with commas between them, one for each file; found {weights!r}."
        )
    return numbers
