"""The arguments and options of `spacy mindroot decode`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["decode_cli"]


def decode_cli(
    scores: Path = typer.Argument(
        ...,
        metavar="SCORES",
        help="Score file (.npz) with the arrays `lens` and `arc`, and optionally `words`, `labels`, `label_best`, "
        "`heads` and `deprels`",
        exists=True,
        dir_okay=False,
    ),
    out: Path | None = typer.Argument(
        None,
        metavar="OUT",
        help="CoNLL-U file to write, or - for standard output. Without it, only the table is printed",
        dir_okay=False,
        callback=options.ending(*options.CONLLU),
        allow_dash=True,
    ),
    show: int = typer.Option(
        0,
        "--show",
        "-s",
        metavar="N",
        min=0,
        help="Number of changed sentences to print, each with its trees without and with the root constraint",
    ),
    kbest: int = options.kbest("as comments in the CoNLL-U"),
    confidence: bool = options.confidence(
        "the probability of each head (HeadProb in MISC) and of each tree (comments)"
    ),
    projective: bool = typer.Option(
        False,
        "--projective",
        help="Write the best trees without crossing arcs. Can't be combined with --kbest (default: off)",
    ),
) -> None:
    """Decode the best single-rooted tree of every sentence in a score file.

    Writes CoNLL-U with the best label of each arc, and prints a table: the number of sentences, the number whose best
    unconstrained tree is multi-rooted and, if the file has gold heads, UAS without and with the root constraint
    (percent of all tokens, punctuation included).

    --kbest and --confidence add comments to the CoNLL-U. Numbers have six digits. One comment per tree, best first,
    as in `# tree_1 = weight=-3.25 logprob=-0.18 heads=2,0,2 deprels=nsubj,root,obj` (logprob only with
    --confidence); the first is the tree that is written below. With --confidence also `# tree_logprob = -0.18`, the
    log-probability of that tree; `# tree_margin = 1.5`, the weight by which it beats the next best (inf if there is
    no other); and, in MISC, HeadProb and HeadEntropy (in nats).
    """
    from ..decode import run

    if projective and kbest > 1:
        raise typer.BadParameter(
            "the K best trees may have crossing arcs. Leave out --projective.", param_hint="--kbest"
        )
    run(scores, out, show, kbest, confidence, projective)
