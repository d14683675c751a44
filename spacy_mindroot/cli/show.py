"""`spacy mindroot show`: parses, and draws the trees with the probability of each head."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import typer
from spacy.language import Language

from ..conllu.files import is_conllu, is_conllu_text
from ..corpora.sources import format_of
from ..errors import CorpusError
from ..escapes import visible
from ..tools.drawing.render import Form, Parse, parses_of, percent, render_parses
from ..tools.gold import keep_probabilities, load_pipeline, parse_sentences, piped
from ..trees import MISSING
from .corpora import read_for
from .files import PathsError, check_paths, errors_as_messages, model_folder, opened_to_write, printable, read_text
from .text_trees import tree_lines

__all__ = ["run"]


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
        form: Form = "svg" if out is not None and out.suffix.lower() == ".svg" else "page"
        path = Path(text) if os.path.lexists(text) or _names_file(text) else None
        corpus = path if path is not None and _is_corpus(path) else None
        if gold and corpus is None:
            raise PathsError("--gold draws the heads of an annotated file, but INPUT is a text. Leave it out.")
        check_paths({"MODEL": model_folder(model), "INPUT": path}, {"--out": out})
        text = _text(text, path) if corpus is None else ""
        nlp = load_pipeline(model)
        with suppress(CorpusError):  # other parsers have no probabilities
            keep_probabilities(nlp)
        every = iter(_of_text(nlp, text)) if corpus is None else _of_file(nlp, corpus, gold, surface_tokens)
        parses = list(islice(every, most))
        left_out = next(every, None) is not None
        if not parses:
            raise CorpusError("There are no words in INPUT.")
        if not any(head is not None for parse in parses for head in parse.heads):
            components = ", ".join(nlp.pipe_names) or "none"
            raise CorpusError(f"The pipeline has the components {components}, and none of them sets heads.")
        if form == "svg" and (left_out or len(parses) > 1):
            raise PathsError(f"{printable(out)} can hold one sentence, but there are more. Let it end in .html.")
        if out is None:
            typer.echo("\n\n".join(_lines(parse) for parse in parses))
        else:
            title = printable(path) if path is not None else "Parses"
            with opened_to_write(out) as file:
                file.write(render_parses(parses, form=form, close=close, title=title).encode("utf8"))
            typer.echo(f"Drew {len(parses):,} sentence{'s' if len(parses) > 1 else ''} to {printable(out)}.", err=True)
        if left_out:
            typer.echo(f"There are more sentences. --most {most} leaves them out.", err=True)


def _names_file(text: str) -> bool:
    """Whether a text that is not the name of a file looks like one that is missing."""
    return len(text.split()) == 1 and (format_of(text) is not None or text.endswith((".conll", ".conllx")))


def _is_corpus(path: Path) -> bool:
    """Whether a file has sentences with their tokens. Otherwise, it is a text."""
    if not path.exists():
        raise PathsError(f"{printable(path)}: there is no such file.")
    named = format_of(path.name)
    if named is not None and named.format in ("jsonl", "parquet"):
        raise PathsError(f"{printable(path)} is {named.format}. Draw a text, CoNLL-U or a .spacy file.")
    return path.is_dir() or path.suffix == ".spacy" or (path.is_file() and is_conllu(path))


def _text(text: str, path: Path | None) -> str:
    if path is not None or text == "-":
        text = read_text(path or Path("-"))
        if path is None and is_conllu_text(line.encode() for line in text.splitlines()):
            raise PathsError("Standard input is CoNLL-U. Give the name of the file.")
    if text != printable(text):
        raise PathsError(f"INPUT is not UTF-8: {printable(text)[:60]!r}")
    return text


def _of_text(nlp: Language, text: str) -> list[Parse]:
    return [parse for doc, _ in piped(nlp, [(" ".join(text.split()), None)]) for parse in parses_of(doc)]


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
