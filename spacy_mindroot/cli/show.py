"""`spacy mindroot show`: parses, and draws the trees with the probability of each head."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import CorpusError
from ..escapes import printable
from ..trees import MISSING
from . import options
from .files import opened_to_write
from .paths import PathsError, check_paths, model_folder
from .printing import say
from .running import command, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spacy.language import Language

    from ..tools.drawing.render import Form, Parse

__all__ = ["show_cli"]


class Theme(StrEnum):
    """The values of --theme."""

    auto = "auto"
    light = "light"
    dark = "dark"


@command("out")
def show_cli(
    model: str = options.model(),
    text: str = typer.Argument(..., metavar="INPUT"),
    out: Path | None = options.out_file(".html", ".htm", ".svg", ".pdf", ".png", ".tex", only=True),
    most: int = typer.Option(100, "--most", "-m", metavar="N", min=1),
    close: float = typer.Option(0.15, "--close", metavar="P", min=0.0),
    gold: bool = typer.Option(False, "--gold"),
    kbest: int = typer.Option(1, "--kbest", "-k", metavar="K", min=1),
    coverage: float | None = options.coverage("Say how many trees the set has"),
    vertical: bool | None = typer.Option(None, "--vertical/--horizontal"),
    theme: Theme = typer.Option(Theme.auto, "--theme", metavar="auto|light|dark"),
    surface_tokens: bool | None = options.surface_tokens("Parse"),
    code: Path | None = options.code("-c"),
) -> None:
    """Parse text or a corpus, and draw the trees with the probability of each head.

    The surer an arc, the thicker and bluer its line; a probability under 95 % is written on it. Below the words, a
    dashed arc leads from the next most probable head where that is close. All probabilities appear while the pointer
    is on an arc or a word. The page needs no script and no network.

    PDF and PNG need the extra `pictures`.

    model: Pipeline with any parser. Probabilities need a mind_root.
    text: Text to parse, - for standard input, or a file: a text, or a .spacy or CoNLL-U file (or a folder of
        these), whose tokens are kept.
    out: File to write, or - for standard output: an HTML page (.html), the picture of a single sentence (.svg, .pdf or
        .png), or LaTeX for the package tikz-dependency (.tex) (default: print trees in the terminal).
    most: Largest number of sentences to draw.
    close: Draw the next best head of a word if its probability is at least this. More than 1 for none.
    gold: Draw the heads in the file where the parser has others (default: off).
    kbest: Number of best trees that a page shows of each sentence, one at a time.
    vertical: One word per line (default: if the sentence is too long for a page).
    theme: Colours: light, dark, or auto, with which a page is as the system, and a picture is light.
    """
    from ..pipeline.scoring import piped
    from ..tools.drawing.conversion import convert
    from ..tools.drawing.render import parses_of, render_parses
    from ..tools.drawing.text import parse_lines
    from ..tools.gold import keep_probabilities, load_pipeline
    from .corpora import corpus_or_text, read_text

    path, is_corpus = corpus_or_text(text)
    if gold and not is_corpus:
        raise PathsError("--gold draws the heads of an annotated file, but INPUT is a text. Leave it out.")
    check_paths({"MODEL": model_folder(model), "INPUT": path, "--code": code}, {"--out": out})
    if not is_corpus and (path is not None or text == "-"):
        text = read_text(path or Path("-"))
    if not is_corpus and text != printable(text):
        raise PathsError(f"INPUT is not UTF-8: {printable(text)[:60]!r}")
    nlp = load_pipeline(model)
    with suppress(CorpusError):  # other parsers have no probabilities
        keep_probabilities(nlp, kbest=kbest, coverage=coverage)
    if path is not None and is_corpus:
        every = _parses_of_corpus(nlp, path, gold, surface_tokens)
    else:
        every = (parse for doc, _ in piped(nlp, [(" ".join(text.split()), None)]) for parse in parses_of(doc))
    parses = list(islice(every, most))
    left_out = next(every, None) is not None
    if not parses:
        raise CorpusError("There are no words in INPUT.")
    if not any(head is not None for parse in parses for head in parse.heads):
        components = ", ".join(nlp.pipe_names) or "none"
        raise CorpusError(f"The pipeline has the components {components}, and none of them sets heads.")
    kind = "" if out is None else out.suffix.lower()
    form: Form = "tikz" if kind == ".tex" else "svg" if kind in (".svg", ".pdf", ".png") else "page"
    if form == "svg" and (left_out or len(parses) > 1):
        raise PathsError(f"{printable(out)} can hold one sentence, but there are more. Let it end in .html.")
    if out is None:
        typer.echo("\n\n".join(parse_lines(parse) for parse in parses))
    else:
        title = printable(path) if path is not None else "Parses"
        picture = render_parses(parses, form=form, close=close, title=title, vertical=vertical, theme=theme.value)
        with opened_to_write(out) as file:
            file.write(convert(picture, kind) if kind in (".pdf", ".png") else picture.encode("utf8"))
        say(f"Drew {len(parses):,} sentence{'s' if len(parses) > 1 else ''} to {printable(out)}.", err=True)
    if left_out:
        warn(f"there are more sentences. --most {most} leaves them out.")


def _parses_of_corpus(nlp: Language, path: Path, gold: bool, surface_tokens: bool | None) -> Iterator[Parse]:
    from ..tools.drawing.render import parses_of
    from ..tools.gold import parse_sentences
    from .corpora import read_for

    for doc, sentence in parse_sentences(nlp, read_for(nlp, path, surface_tokens)):
        (parse,) = parses_of(doc)
        heads = [None if head == MISSING else head for head in sentence.heads.tolist()]
        known = list(zip(heads, sentence.labels, strict=True)) if gold else None
        yield parse._replace(name=sentence.name, gold=known)
