"""`spacy mindroot vote`: the parses of several CoNLL-U files in, the best tree by their votes out."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import typer
from tqdm import tqdm
from wasabi import table

from ..conllu import read_pieces, vote_sentence
from ..conllu.vote import in_step
from ..errors import MindRootError, VoteError
from .files import check_label, opened_to_read, opened_to_write, tolerant_streams

_PROGRESS = 1 << 20  # bytes between two updates of the bar


def run(files: list[Path], out: Path, weights: str | None, label: str | None) -> None:
    """The command, with its errors as messages. See `spacy mindroot vote --help`."""
    tolerant_streams()
    try:
        if len(files) < 2:
            raise VoteError("a vote takes at least two files.")
        if sum(str(file) == "-" for file in files) > 1:
            raise VoteError("only one of the files can be standard input.")
        check_label(label)
        with opened_to_write(out) as output:
            counts = vote_files(files, output, _to_weights(weights, len(files)), label)
    except BrokenPipeError:  # `... - | head`
        raise
    except (MindRootError, OSError) as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        typer.echo("Nothing was written.", err=True)
        raise typer.Exit(1) from error
    rows = [(name, f"{counts[name]:,}") for name in _ROWS]
    typer.echo(str(table(rows, aligns=("l", "r"), max_col=60)), err=str(out) == "-")


_ROWS = (
    "Sentences",
    "Words",
    "Sentences on which all agree",
    "Words with another head or label than in the first file",
)


def vote_files(
    files: list[Path], out: BinaryIO, weights: list[float] | None, demoted_label: str | None = None
) -> Counter[str]:
    """Writes the first file with the heads and labels that win. Returns what there is to count.

    RAISES (ConlluError): If the files are not parses of the same words; names file and line.
    """
    counts: Counter[str] = Counter()
    names = ["<stdin>" if str(file) == "-" else str(file) for file in files]
    size = None if str(files[0]) == "-" else files[0].stat().st_size
    with ExitStack() as stack:
        streams = [
            read_pieces(stack.enter_context(opened_to_read(file)), name)
            for file, name in zip(files, names, strict=True)
        ]
        progress = stack.enter_context(tqdm(total=size, unit="B", unit_scale=True, disable=None, delay=1, leave=False))
        done = 0
        for piece in in_step(streams, names):
            if isinstance(piece, bytes):
                out.write(piece)
                continue
            first = piece[0]
            done += sum(map(len, first.lines))
            counts["Sentences"] += 1
            counts["Words"] += len(first)
            counts["Sentences on which all agree"] += all(
                other.heads == first.heads and other.labels == first.labels for other in piece[1:]
            )
            counts[_ROWS[3]] += vote_sentence(piece, weights, demoted_label=demoted_label)
            out.write(first.to_bytes())
            if done > _PROGRESS:
                progress.update(done)
                done = 0
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
