"""The arguments and options of `spacy mindroot evaluate`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["evaluate_cli"]


def evaluate_cli(
    model: str = options.model(
        "Pipeline with any parser; or the output of a parser on the same text, as a CoNLL-U file (.conllu)"
    ),
    gold: Path = typer.Argument(..., metavar="GOLD", help="Treebank: a CoNLL-U file, or a folder of them", exists=True),
    raw: bool = typer.Option(
        False,
        "--raw",
        help="Parse the raw text: the pipeline finds tokens and sentences itself (default: gold tokens and sentences)",
    ),
    json: Path | None = typer.Option(
        None,
        "--json",
        "-j",
        metavar="FILE",
        help="File to write all figures to (default: none)",
        dir_okay=False,
        callback=options.ending(".json"),
    ),
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        metavar="FILE",
        help="CoNLL-U file to write the pipeline's output to, with the probability of each head as HeadProb in MISC, "
        "if there is one (default: none)",
        dir_okay=False,
        callback=options.ending(*options.CONLLU),
    ),
    surface_tokens: bool | None = options.surface_tokens("Without --raw: parse", "GOLD"),
    code: Path | None = options.code("-c"),
) -> None:
    """Evaluate a pipeline with the official script of UD, from gold tokens or from raw text.

    Prints the scores of the CoNLL 2018 shared task: tokens, sentences, words, UPOS, XPOS, UFeats, lemmas, UAS, LAS,
    CLAS, MLAS and BLEX. A metric whose column is empty in GOLD is left out. Then what that script lacks: exact match,
    root accuracy, the share of single-rooted trees, non-projective arcs, and how well the probabilities of heads are
    calibrated.

    The raw text is that of GOLD, in paragraphs (`# newpar`, `# newdoc`), or in one piece if it has none. A word counts
    as right only if its token is right, too; "Words" says how well the pipeline's tokens agree with GOLD's words. The
    tokenizers of spaCy do not split multiword tokens.

    Needs the extra `evaluate`.
    """
    from ..evaluate import run

    run(model, gold, raw, json, output, surface_tokens, code)
