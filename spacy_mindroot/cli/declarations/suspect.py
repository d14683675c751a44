"""The arguments and options of `spacy mindroot suspect`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["suspect_cli"]


def suspect_cli(
    gold: Path = typer.Argument(..., metavar="GOLD", help="Annotated CoNLL-U file, or a folder of them", exists=True),
    out: Path | None = options.out_file(
        "CoNLL-U file to write, or - for standard output (default: print a table only)"
    ),
    report: Path | None = options.report("all suspects"),
    what: str = typer.Option(
        "both",
        "--what",
        "-w",
        metavar="heads|labels|both",
        help="What to suspect: heads whatever their labels, labels whose heads are not suspect, or both",
    ),
    most: int | None = typer.Option(
        None, "--most", metavar="N", min=1, help="Number of suspects to write (default: all)"
    ),
    folds: int = typer.Option(
        5, "--folds", "-k", metavar="K", min=2, help="Number of folds; a parser is trained for each, on the others"
    ),
    steps: int = typer.Option(600, "--steps", metavar="N", min=1, help="Training steps of each parser"),
    parsers: int = typer.Option(
        1,
        "--parsers",
        metavar="N",
        min=1,
        help="Number of parsers for each fold, whose scores are averaged; training takes N times as long",
    ),
    seed: int = options.seed("the folds and parsers"),
    config: Path | None = options.training_config(
        "Training config with an arc_scorer (default: the one that `spacy mindroot init-config` makes)"
    ),
    optimize: str = options.optimize(
        "What the default config is optimized for. The one for accuracy takes about twice as long", default="efficiency"
    ),
    lang: str = options.language("Language of the default config; xx for any"),
    code: Path | None = options.code(),
) -> None:
    """List annotated arcs of a treebank that parsers trained on its other parts consider unlikely.

    The treebank is divided into folds, by documents (comments `# newdoc`) or blocks of neighbouring sentences. Each
    fold is scored by a parser that was trained on the others. For each word, the probability of its head is compared
    with that of the best other head, given the annotation of the other words of the sentence; or, if the head is the
    best, the probability of its label with that of the best other label. Suspects come in the order of the ratio, and
    ties in that of the corpus. All arcs for which another is more probable are listed.

    Writes the sentences with suspects as CoNLL-U, in this order, with comments (`# rank = 1`, `# suspects = 2`) and, in
    MISC of the suspects, Rank; HeadProb, GivenProb and DeprelProb, the probability of the head over all trees, that of
    the head given the other arcs, and that of the label given the head; OtherHead and OtherDeprel; and OtherHeadProb,
    OtherGivenProb and OtherDeprelProb. The annotation itself does not change.
    """
    from ..suspect import run

    run(gold, out, report, what, most, folds, steps, seed, config, optimize, lang, parsers, code)
