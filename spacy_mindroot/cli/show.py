"""`spacy mindroot show`: parses, and draws the trees with the probability of each head."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import typer
from spacy.language import Language

from ..audit.corpus import keep_probabilities, load_pipeline, parse_sentences
from ..conllu.files import SAMPLE, check_text
from ..drawing.render import Form, Parse, parses_of, percent, render_parses
from ..errors import CorpusError
from ..escapes import visible
from ..trees import MISSING
from .corpora import read_for
from .files import PathsError, check_paths, errors_as_messages, model_folder, opened_to_read, opened_to_write, printable
from .text_trees import tree_lines

__all__ = ["run"]

_CORPORA = (".spacy", ".conllu", ".conllup", ".cupt", ".conllu.gz", ".conllup.gz", ".cupt.gz")


def run(
    model: str,
    text: str,
    out: Path | None,
    most: int,
    close: float,
    gold: bool = False,
    surface_tokens: bool | None = None,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot show --help`."""
    with errors_as_messages(nothing_written=out is not None):
        path = Path(text) if text.endswith(_CORPORA) else None
        if path is not None and not path.is_file():
            raise PathsError(f"{printable(path)}: there is no such file.")
        if gold and path is None:
            raise PathsError("--gold draws the heads of an annotated file, but INPUT is a text. Leave it out.")
        check_paths({"MODEL": model_folder(model), "INPUT": path}, {"--out": out})
        nlp = load_pipeline(model)
        keep_probabilities(nlp)
        if path is None:
            every = iter(_of_text(nlp, _read_text() if text == "-" else text))
        else:
            every = _of_file(nlp, path, gold, surface_tokens)
        parses = list(islice(every, most))
        left_out = next(every, None) is not None
        if not parses:
            raise CorpusError("There are no words in INPUT.")
        form: Form = "svg" if out is not None and out.suffix == ".svg" else "page"
        if form == "svg" and (left_out or len(parses) > 1):
            raise PathsError(f"{printable(str(out))} can hold one sentence, but there are more. Let it end in .html.")
        if out is None:
            typer.echo("\n\n".join(_lines(parse) for parse in parses))
        else:
            title = printable(path) if path is not None else "Parses"
            with opened_to_write(out) as file:
                file.write(render_parses(parses, form=form, close=close, title=title).encode("utf8"))
            typer.echo(f"Drew {len(parses):,} sentence{'s' if len(parses) > 1 else ''} to {printable(out)}.", err=True)
        if left_out:
            typer.echo(f"There are more sentences. --most {most} leaves them out.", err=True)


def _read_text() -> str:
    """Return the text in standard input."""
    with opened_to_read(Path("-")) as file:
        data = file.read()
    check_text(data[:SAMPLE], "<stdin>")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"<stdin>: line {line} is not UTF-8. Convert it first, for example with iconv.") from error


def _of_text(nlp: Language, text: str) -> list[Parse]:
    return parses_of(nlp(" ".join(text.split())))


def _of_file(nlp: Language, path: Path, gold: bool, surface_tokens: bool | None) -> Iterator[Parse]:
    for doc, sentence in parse_sentences(nlp, read_for(nlp, path, surface_tokens)):
        (parse,) = parses_of(doc)
        heads = [None if head == MISSING else head for head in sentence.heads.tolist()]
        known = list(zip(heads, sentence.labels, strict=True)) if gold else None
        yield parse._replace(name=sentence.name, gold=known)


def _lines(parse: Parse) -> str:
    """Return a tree for the terminal, with the probability of each head."""
    labels = [f"{label} {percent(prob)}".rstrip() for label, prob in zip(parse.labels, parse.head_prob, strict=True)]
    heads = [head or 0 for head in parse.heads]
    name = f"{visible(parse.name)}: " if parse.name else ""
    return "\n".join([f"{name}{visible(' '.join(parse.words))}", *tree_lines(parse.words, heads, labels)])
