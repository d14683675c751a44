"""The arguments and options of `spacy mindroot show`."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

__all__ = ["show_cli"]


def show_cli(
    model: str = options.model("Pipeline with any parser. Probabilities need a mind_root"),
    text: str = typer.Argument(
        ...,
        metavar="INPUT",
        help="Text to parse, - for standard input, or a file: a text, or a .spacy or CoNLL-U file (or a folder of "
        "these), whose tokens are kept",
    ),
    out: Path | None = options.out_file(
        "File to write, or - for standard output: an HTML page (.html), or the picture of a single sentence (.svg) "
        "(default: print trees in the terminal)",
        ".html",
        ".htm",
        ".svg",
        only=True,
    ),
    most: int = typer.Option(100, "--most", "-m", metavar="N", min=1, help="Largest number of sentences to draw"),
    close: float = typer.Option(
        0.15,
        "--close",
        metavar="P",
        min=0.0,
        help="Draw the next best head of a word if its probability is at least this. More than 1 for none",
    ),
    gold: bool = typer.Option(
        False, "--gold", help="Draw the heads in the file where the parser has others (default: off)"
    ),
    surface_tokens: bool | None = options.surface_tokens("Parse"),
    code: Path | None = options.code("-c"),
) -> None:
    """Parse text or a corpus, and draw the trees with the probability of each head.

    The surer an arc, the thicker and bluer its line; a probability under 95 % is written on it. Below the words, a
    dashed arc leads from the next most probable head where that is close. All probabilities appear while the pointer
    is on an arc or a word. The page needs no script and no network, and follows the light or dark theme.
    """
    from ..show import run

    run(model, text, out, most, close, gold, surface_tokens)
