"""`spacy mindroot repair`: CoNLL-U in, CoNLL-U with well-formed trees out, and a report of every change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import srsly
import typer
from tqdm import tqdm
from wasabi import table

from ..conllu import Sentence, conllu_files, read_pieces
from ..conllu.repair import ArcChange, enhanced_root_disagrees, repair_sentence
from ..errors import ConlluError, MindRootError
from ..repair import looks_zero_based
from .files import check_label, opened_to_read, outputs, tolerant_streams

_SHOWN = 10  # changes, if they are not all asked for
_PROGRESS = 1 << 20  # bytes between two updates of the bar


class Totals:
    """What has been found in all files.

    counts (Counter): "sentences", "words", "malformed" (sentences), "heads" and "labels" (that change), "enhanced" (sentences whose
        enhanced layer has another root), and "faults" (sentences that are not CoNLL-U, or have no heads).
    reasons (Counter): How many words change for each reason.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()

    def table(self) -> str:
        counts = self.counts
        share = f" ({counts['malformed'] / counts['sentences']:.2%})" if counts["sentences"] else ""
        rows = [
            ("Sentences", f"{counts['sentences']:,}"),
            ("Words", f"{counts['words']:,}"),
            ("Malformed sentences", f"{counts['malformed']:,}{share}"),
            ("Heads that change", f"{counts['heads']:,}"),
            ("Labels that change", f"{counts['labels']:,}"),
            *((f"  {reason}", f"{count:,}") for reason, count in self.reasons.most_common()),
        ]
        if counts["enhanced"]:
            rows.append(("Sentences with another root in the enhanced layer", f"{counts['enhanced']:,}"))
        if counts["faults"]:
            rows.append(("Sentences that can't be read", f"{counts['faults']:,}"))
        return str(table(rows, aligns=("l", "r"), max_col=60))


def run(source: Path, out: Path | None, check: bool, report: Path | None, label: str | None) -> None:
    """The command, with its errors as messages. See `spacy mindroot repair --help`."""
    tolerant_streams()
    totals = Totals()
    shown = 0

    def say(message: str) -> None:
        """To standard output, unless CoNLL-U goes there."""
        typer.echo(message, err=str(out) == "-")

    def on_change(change: ArcChange) -> None:
        nonlocal shown
        if lines is not None:
            lines.write(f"{srsly.json_dumps(change._asdict())}\n".encode())
        shown += 1
        if check or shown <= _SHOWN:
            say(str(change))

    try:
        if check == (out is not None):
            raise ConlluError("give a file or folder to write to, or --check to write none.")
        check_label(label)
        pairs = _pairs(source, out)
        size = None if str(source) == "-" else sum(file.stat().st_size for file, _ in pairs)
        with outputs() as opened, ExitStack() as stack:
            progress = stack.enter_context(
                tqdm(total=size, unit="B", unit_scale=True, disable=None, delay=1, leave=False)
            )
            lines = None if report is None else stack.enter_context(opened(report))
            for file, target in pairs:
                if target is None:
                    repair_file(file, None, totals, label, on_change, progress.update, say)
                    continue
                if target.parent != Path() and source.is_dir():
                    target.parent.mkdir(parents=True, exist_ok=True)
                with opened(target) as output:
                    repair_file(file, output, totals, label, on_change, progress.update, say)
    except BrokenPipeError:  # `... - | head`
        raise
    except (MindRootError, OSError) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        if not check:
            typer.echo("Nothing was written.", err=True)
        raise typer.Exit(1) from error
    if shown > _SHOWN and not check:
        say(f"... and {shown - _SHOWN:,} more changes; --report FILE lists all.")
    say(totals.table())
    if check and (totals.counts["malformed"] or totals.counts["faults"]):
        raise typer.Exit(1)


def repair_file(
    source: Path,
    out: BinaryIO | None,
    totals: Totals,
    demoted_label: str | None,
    on_change: Callable[[ArcChange], None],
    on_progress: Callable[[int], object],
    on_message: Callable[[str], None],
) -> None:
    """Repairs the sentences of a file, one after the other.

    source (Path): The file, or "-".
    out (Optional[BinaryIO]): Gets the repaired file. Without it the file is only checked, and a sentence that is not CoNLL-U does not end it.
    totals (Totals): Is added to.
    demoted_label (Optional[str]): See `repair.repair_labels`.
    on_change, on_progress, on_message (Callable): Take each change, numbers of bytes, and other messages.
    RAISES (ConlluError): For the first sentence that is not CoNLL-U, and if heads seem to count from 0 all over the file.
    """
    name = "<stdin>" if str(source) == "-" else str(source)
    counts, reasons = totals.counts, totals.reasons
    sentences = malformed = zero_based = done = 0

    def on_fault(error: ConlluError) -> None:
        counts["faults"] += 1
        on_message(str(error))

    with opened_to_read(source) as file:
        for piece in read_pieces(file, name, None if out is not None else on_fault):
            if isinstance(piece, bytes):
                if out is not None:
                    out.write(piece)
                done += len(piece)
                continue
            before = piece.heads.copy()
            done += sum(map(len, piece.lines))
            sentences += 1
            counts["words"] += len(piece)
            try:
                changes = repair_sentence(piece, demoted_label=demoted_label)
            except ConlluError as error:
                if out is not None:
                    raise
                on_fault(error)
                continue
            if changes:
                malformed += 1
                zero_based += looks_zero_based(before)
                for change in changes:
                    reasons[change.why] += 1
                    counts["heads"] += change.head != change.old_head
                    counts["labels"] += change.label != change.old_label
                    on_change(change)
            if enhanced_root_disagrees(piece):
                counts["enhanced"] += 1
                on_message(_enhanced(piece))
            if out is not None:
                out.write(piece.to_bytes())
            if done > _PROGRESS:
                on_progress(done)
                done = 0
    on_progress(done)
    counts["sentences"] += sentences
    counts["malformed"] += malformed
    if malformed * 2 > sentences and zero_based * 4 > malformed:  # of such files, nearly all and about two thirds
        message = (
            f"{name}: the heads of {zero_based:,} of {malformed:,} malformed sentences make trees if they count from 0, with the root as its "
            "own head. In CoNLL-U they count from 1, and ROOT is 0: convert them first."
        )
        if out is not None:
            raise ConlluError(message)
        on_message(message)


def _pairs(source: Path, out: Path | None) -> list[tuple[Path, Path | None]]:
    """The files to read, each with the one to write."""
    if str(source) == "-":
        if out is not None and out.is_dir():
            raise ConlluError(f"{out} is a folder. Give a file for what comes from standard input.")
        return [(source, out)]
    files = conllu_files(source)
    if out is None:
        return [(file, None) for file in files]
    if not source.is_dir():
        return [(source, out / source.name if out.is_dir() else out)]
    if str(out) == "-" or (out.exists() and not out.is_dir()):
        raise ConlluError(f"{source} is a folder, so what is written goes to a folder, too, and not to {out}.")
    return [(file, out / file.relative_to(source)) for file in files]


def _enhanced(sentence: Sentence) -> str:
    root = sentence.heads.index(0) + 1
    where = f"{sentence.source}:{sentence.line_of(root)}"
    return (
        f"{where}: word {root} is the root of the basic layer, but not of the enhanced one (DEPS), which stays as it is"
    )
