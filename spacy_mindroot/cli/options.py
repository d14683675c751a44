"""Arguments and options that several commands have, each with what differs between them as its arguments.

Those without a help get it from the docstring of the command: see `running.command`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import EllipsisType
from typing import Any

import typer
from typer.models import ArgumentInfo

from ..errors import CorpusError, LabelsError
from ..escapes import printable
from ..labels import is_root_label
from .running import errors_as_messages

__all__ = [
    "CONLLU",
    "Loss",
    "Optimize",
    "Tokenizer",
    "code",
    "common",
    "confidence",
    "conllu_source",
    "corpus",
    "coverage",
    "demoted_label",
    "ending",
    "kbest",
    "language",
    "lexicons",
    "loss",
    "minutes",
    "model",
    "new_pipeline",
    "one_output",
    "optimize",
    "out_file",
    "report",
    "rules",
    "seed",
    "surface_tokens",
    "tokenizer",
    "training_config",
]

CONLLU = (".conllu", ".conllup", ".cupt", ".conll", ".conllx")  # endings of names
_ENDINGS = {
    *CONLLU, ".cfg", ".csv", ".gz", ".htm", ".html", ".jpeg", ".jpg", ".json", ".jsonl", ".md", ".ndjson", ".npz",
    ".parquet", ".pdf", ".png", ".spacy", ".svg", ".tex", ".xlsx", ".zip",
}  # fmt: skip


def ending(*allowed: str, only: bool = False) -> Callable[[Path | None], Path | None]:
    """Return a callback that refuses an output whose name says that it is of another format.

    allowed (str): The endings of names of the format; none for a folder.
    only (bool): Whether names with unknown endings, or without one, are refused as well.
    """

    def check(path: Path | None) -> Path | None:
        if path is None or str(path) == "-" or os.path.isdir(path):  # Path.is_dir fails for names that are too long
            return path
        suffix = path.suffix.lower()
        if suffix not in allowed and (only or suffix in _ENDINGS):
            remedy = (
                f"Let it end in {' or '.join(allowed)}." if allowed else "It will be a folder. Choose another name."
            )
            raise typer.BadParameter(f"{printable(path)} would not be what its name says. {remedy}")
        return path

    return check


def common(parameters: Mapping[str, Any], *, tables: bool) -> dict[str, tuple[Any, Any]]:
    """Return the types and options that every command has, by the names of their parameters.

    parameters (Mapping[str, Any]): Those that it has itself. An argument `out` can also be given as --output.
    tables (bool): Whether it prints tables.
    """
    found: dict[str, tuple[Any, Any]] = {}
    if "out" in parameters and isinstance(out := parameters["out"].default, ArgumentInfo):
        flags = ("--output", "--out", "-o")
        what: dict[str, Any] = {"dir_okay": out.dir_okay, "file_okay": out.file_okay, "allow_dash": out.allow_dash}
        option = typer.Option(
            None, *flags, metavar="OUT", callback=out.callback, help="Another way to give OUT (default: none)", **what
        )
        found["output"] = Path | None, option
    if tables:
        text = "File to write what the tables show to, or - for standard output (default: none)"
        check = ending(".json")
        found["json"] = (
            Path | None,
            typer.Option(None, "--json", metavar="FILE", help=text, dir_okay=False, allow_dash=True, callback=check),
        )
    found["quiet"] = bool, typer.Option(False, "--quiet", "-q", help="Print errors and warnings only (default: off)")
    return found


def one_output(argument: Path | None, option: Path | None, *, is_needed: bool) -> Path | None:
    """Return where to write, which is given as the argument OUT or as the option --output."""
    if argument is not None and option is not None:
        raise typer.BadParameter(f"OUT is given already: {printable(argument)}.", param_hint="--output")
    if is_needed and argument is None and option is None:
        raise typer.BadParameter("give it as an argument, or with --output.", param_hint="OUT")
    return option if argument is None else argument


def model() -> Any:
    """Return the argument MODEL, a pipeline by its folder or package."""
    return typer.Argument(..., metavar="MODEL")


def new_pipeline() -> Any:
    """Return the required option --output, a new folder for a pipeline."""
    return typer.Option(
        ...,
        "--output",
        "--out",
        "-o",
        metavar="FOLDER",
        help="New folder for the pipeline",
        file_okay=False,
        callback=ending(),
    )


def code(*flags: str) -> Any:
    """Return the option --code, a Python file that is imported before the command runs."""
    text = "Python file to import first: components and other registered functions of the pipeline (default: none)"
    return typer.Option(
        None, "--code", *flags, metavar="FILE", help=text, exists=True, dir_okay=False, callback=_imported
    )


def _imported(path: Path | None) -> Path | None:
    if path is not None:
        from spacy.util import import_file

        with errors_as_messages():
            try:
                import_file("python_code", path)
            except Exception as error:  # of any kind
                kind = type(error).__name__
                raise CorpusError(f"--code {printable(path)} can't be imported ({kind}): {error}") from error
    return path


def corpus(sentences: str, more: str = "", *, default: EllipsisType | None = ...) -> Any:
    """Return the argument CORPUS, a file that `tools.gold.read_corpus` can read."""
    text = f"{sentences}: a .spacy file, or a CoNLL-U file or folder{more and '. '}{more}"
    return typer.Argument(default, metavar="CORPUS", help=text, exists=True)


def conllu_source() -> Any:
    """Return the argument IN of commands that read CoNLL-U only."""
    text = "CoNLL-U file, a folder of them, or - for standard input"
    return typer.Argument(..., metavar="IN", help=text, allow_dash=True)


def out_file(*endings: str, only: bool = False, default: EllipsisType | None = None) -> Any:
    """Return the option --out for a file or standard output. It is required if the default is an ellipsis.

    endings, only: See `ending`. By default, those of CoNLL-U.
    """
    check = ending(*(endings or CONLLU), only=only)
    return typer.Option(
        default, "--out", "--output", "-o", metavar="FILE", dir_okay=False, allow_dash=True, callback=check
    )


def report(what: str, *, allow_dash: bool = True) -> Any:
    """Return the option --report, a file of JSON lines."""
    text, check = f"File to write {what} to, as JSON lines (default: none)", ending(".jsonl", ".ndjson", ".json")
    return typer.Option(
        None, "--report", "-r", metavar="FILE", help=text, dir_okay=False, allow_dash=allow_dash, callback=check
    )


def surface_tokens(verb: str, source: str = "CoNLL-U") -> Any:
    """Return the pair of options that chooses between multiword tokens and their words."""
    source_of_default = "as the corpus reader in the pipeline's config; words if it names none"
    text = f"{verb} the multiword tokens of {source}, or the words in them (default: {source_of_default})"
    return typer.Option(None, "--surface-tokens/--words", help=text)


def rules(effect: str, more: str = "") -> Any:
    """Return the option --rules, which `rules.to_rules` reads."""
    text = f"{effect}: ud, for the syntax of Universal Dependencies, or a JSON file of rules (default: none)"
    return typer.Option(None, "--rules", metavar="RULES", help=f"{text}{more and '. '}{more}")


def demoted_label(words: str) -> Any:
    """Return the option --demoted-label."""
    text = f"Label for {words} (default: parataxis, or dep without UPOS)"
    return typer.Option(None, "--demoted-label", "-l", metavar="LABEL", help=text, callback=_no_root_label)


def _no_root_label(label: str | None) -> str | None:
    if label is not None and (label != "_".join(label.split()) or label in ("", "_") or is_root_label(label)):
        with errors_as_messages():
            raise LabelsError(f"--demoted-label is {label!r}. Give a label without white space that is not the root's.")
    return label


def kbest(place: str = "") -> Any:
    """Return the option --kbest."""
    text = f"Number of best trees to write for each sentence{place and ', '}{place}"
    return typer.Option(1, "--kbest", "-k", metavar="K", min=1, help=text)


def confidence(what: str) -> Any:
    """Return the option --confidence."""
    return typer.Option(False, "--confidence", "-c", help=f"Write {what}. The scores must be logarithms (default: off)")


def coverage(effect: str) -> Any:
    """Return the option --coverage."""
    text = f"{effect} that contains the right tree in this share of sentences, from 0.5 to 0.99. Needs a calibration"
    return typer.Option(None, "--coverage", metavar="P", min=0.5, max=0.99, help=f"{text} (default: as in MODEL)")


def language(default: str | None = "xx") -> Any:
    """Return the option --lang, a language code of spaCy."""
    return typer.Option(default, "--lang", "-l", metavar="CODE", callback=_known_language)


def _known_language(lang: str | None) -> str | None:
    from spacy.util import get_lang_class

    try:
        if lang is not None:
            get_lang_class(lang if lang.isidentifier() else "")  # "": unknown
    except ImportError as error:
        raise typer.BadParameter(f"spaCy has no language {lang!r}; use xx for any.") from error
    return lang


Optimize = StrEnum("Optimize", "ACCURACY EFFICIENCY")
Tokenizer = StrEnum("Tokenizer", "LEARNT SPACY")


def optimize(default: Optimize = Optimize.ACCURACY) -> Any:
    """Return the option --optimize."""
    return typer.Option(default, "--optimize", metavar="accuracy|efficiency")


class Loss(StrEnum):
    """The choices of --loss."""

    HEAD = "head"
    TREE = "tree"
    BOTH = "both"


def loss() -> Any:
    """Return the option --loss, the setting `loss` of `arc_scorer`."""
    return typer.Option(
        Loss.TREE,
        "--loss",
        metavar="head|tree|both",
        help="What the parser learns: trees with one root, the head of each word by itself, or both. Without tree, "
        "`audit` shows what the root constraint changes for a parser that has not learnt it",
    )


def lexicons() -> Any:
    """Return the option --lexicon, files that `arc_scorer.lexicon_files` reads."""
    text = (
        "Lexicon; the parts of speech, features and lemmas that it has for a word are inputs of the encoder. A table "
        "of form, lemma, part of speech and features, UniMorph's, or the output of hunspell -m, lt-proc, lt-expand, "
        "hfst-fst2strings or hfst-lookup. It becomes part of the pipeline. May be given several times (default: none)"
    )
    return typer.Option(
        [], "--lexicon", metavar="FILE", help=text, exists=True, dir_okay=False, callback=_names_for_configs
    )


def _names_for_configs(paths: list[Path]) -> list[Path]:
    for path in paths:
        if "${" in str(path) or printable(path) != str(path):
            raise typer.BadParameter(f"{printable(path)} can't be named in a config. Choose another name for the file.")
    return paths


def minutes(pipelines: str) -> Any:
    """Return the option --minutes, a budget of time for some pipelines."""
    text = (
        f"Time for {pipelines}, in minutes on one core of a server; the number of steps, patience and evaluations then "
        "suit it. The same number gives the same schedule on any machine (default: by the number of sentences)"
    )
    return typer.Option(None, "--minutes", metavar="N", min=0.01, max=100_000, help=text)


def seed(of: str) -> Any:
    """Return the option --seed."""
    return typer.Option(0, "--seed", metavar="N", min=0, help=f"Random seed of {of}")


def tokenizer() -> Any:
    """Return the option --tokenizer."""
    return typer.Option(Tokenizer.LEARNT, "--tokenizer", metavar="learnt|spacy")


def training_config() -> Any:
    """Return the option --config, a file with a training config."""
    return typer.Option(None, "--config", "-c", metavar="FILE", exists=True, dir_okay=False)
