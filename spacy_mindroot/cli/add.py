"""`spacy mindroot add`: puts the parser of a pipeline into another one."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options
from .files import new_folder
from .paths import check_new_folder
from .printing import done, say
from .running import command

__all__ = ["add_cli"]


@command("output")
def add_cli(
    model: str = options.model(),
    into: str = typer.Argument(..., metavar="INTO"),
    output: Path = options.new_pipeline(),
    senter: bool = typer.Option(True, "--senter/--no-senter"),
    tokenizer: bool = typer.Option(False, "--take-tokenizer"),
    code: Path | None = options.code("-c"),
) -> None:
    """Put the parser of a pipeline into another one, in place of spaCy's parser, for example.

    The parser gets its own copy of the encoder that it listened to. From the same tokens, with the same sentences, it
    parses exactly as in MODEL. All other components are those of INTO, and stay as they are.

    model: Trained pipeline with an arc_scorer and a mind_root.
    into: Trained pipeline whose parser is replaced, if it has one.
    senter: Take the senter or sentencizer of MODEL in place of INTO's, or keep INTO's.
    tokenizer: Take the tokenizer of MODEL, for all components (default: keep INTO's).
    """
    from ..tools.building.add import add_parser
    from ..tools.gold import load_pipeline

    check_new_folder(output, "--output")
    nlp = load_pipeline(into)
    added = add_parser(load_pipeline(model), nlp, senter=senter, tokenizer=tokenizer)
    with new_folder(output) as folder:
        nlp.to_disk(folder)
    done(f"{output} has the components {', '.join(nlp.pipe_names)}.")
    replaced = f" They replace {', '.join(added.removed)}." if added.removed else ""
    say(f"From {model}: {', '.join(added.added)}.{replaced}")
    for difference in added.differences:
        say(f"Trees may differ from those of {model}: {difference}")
