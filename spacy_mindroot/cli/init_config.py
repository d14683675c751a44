"""`spacy mindroot init-config`: a training config that spells out every setting and comments on those that matter."""

from __future__ import annotations

import shlex
from configparser import Error as ConfigParserError
from pathlib import Path

import typer
from spacy import util

from ..errors import MindRootError
from ..tools.building.config import EXTRAS, make_config
from ..tools.building.convert import convert_config
from .curated import curated_model, read_model_config
from .files import PathsError, check_paths, errors_as_messages, opened_to_write

__all__ = ["check_language", "run", "run_from", "write"]


def run(
    out: Path | None,
    lang: str,
    optimize: str,
    pipeline: str,
    transformer: str | None,
    force: bool = False,
    *,
    whole_doc: bool = False,
    sentences: int | None = None,
    vectors: str | None = None,
    curated: bool = False,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot init-config --help`."""
    extras = _components(pipeline, whole_doc)
    if optimize not in ("efficiency", "accuracy"):
        raise typer.BadParameter("choose efficiency or accuracy.", param_hint="--optimize")
    check_language(lang)
    _check_name(transformer, "--transformer")
    _check_name(vectors, "--vectors")
    if curated and not transformer:
        raise typer.BadParameter("name the pretrained model with --transformer.", param_hint="--curated")
    if transformer and (vectors or sentences):
        raise typer.BadParameter(
            "--vectors and --sentences are for the default encoder. Leave them out, or leave out --transformer.",
            param_hint="--transformer",
        )
    settings = None
    if curated and transformer:
        with errors_as_messages():
            settings = curated_model(transformer, read_model_config(transformer))
    text = make_config(
        lang,
        optimize,
        extras,
        transformer,
        whole_doc=whole_doc,
        sentences=sentences,
        vectors=vectors,
        curated=settings,
    )
    write(text, out, force)


def run_from(source: Path, out: Path | None, force: bool) -> None:
    """Convert a config of spacy-experimental's parser, and say what has changed."""
    with errors_as_messages():
        try:
            config = util.load_config(source, interpolate=False)
            converted = convert_config(config)
            text = converted.config.to_str(interpolate=False)
        except MindRootError as error:
            raise MindRootError(f"{source}: {error}") from error
        except (ValueError, ConfigParserError) as error:  # of thinc; its messages are long
            raise MindRootError(f"{source} is not a config that spaCy can read: {error}") from error
    header = f"# Made by: spacy mindroot init-config --from {shlex.quote(source.name)}\n\n"
    write(header + text, out, force)
    for title, lines in (("Changed:", converted.changes), ("To check:", converted.problems)):
        for line in [title, *(f"- {line}" for line in lines)] if lines else []:
            typer.echo(line, err=True)


def write(text: str, out: Path | None, force: bool) -> None:
    """Print the config, or write it to a file and say how to train with it."""
    with errors_as_messages():
        if out is None or str(out) == "-":
            typer.echo(text, nl=False)
            return
        if out.is_file() and not force:
            raise PathsError(f"{out} exists. Choose another file, or overwrite it with --force.")
        check_paths({}, {"OUT": out})
        with opened_to_write(out) as file:
            file.write(text.encode("utf8"))
        typer.echo(
            f"Wrote {out}. Train with: spacy train {shlex.quote(str(out))} --paths.train train.spacy --paths.dev "
            "dev.spacy --output model"
        )


def _components(pipeline: str, whole_doc: bool) -> list[str]:
    """Return the components that are named, with a senter unless a Doc is one sentence.

    RAISES (typer.BadParameter): If there is no such component.
    """
    names = [name.strip() for name in pipeline.split(",") if name.strip()]
    if names == ["all"]:
        names = [name for name in EXTRAS if not (whole_doc and name == "senter")]
    unknown = [name for name in names if name not in EXTRAS]
    if unknown:
        raise typer.BadParameter(
            f"{', '.join(unknown)}: choose from {', '.join(EXTRAS)}, or all.", param_hint="--pipeline"
        )
    if whole_doc and "senter" in names:
        raise typer.BadParameter(
            "with a senter in the pipeline, a Doc is not treated as one sentence. Leave out --whole-doc or the senter.",
            param_hint="--whole-doc",
        )
    return names if whole_doc else ["senter", *names]


def _check_name(name: str | None, option: str) -> None:
    if name is not None and (not name.isprintable() or not name.strip() or "${" in name):
        raise typer.BadParameter(f"{name!r} can't be the name or the path of a model.", param_hint=option)


def check_language(lang: str) -> None:
    """Raise BadParameter unless spaCy has a language."""
    try:
        if not lang.isidentifier():
            raise ImportError(lang)
        util.get_lang_class(lang)
    except ImportError as error:
        raise typer.BadParameter(f"spaCy has no language {lang!r}; use xx for any.", param_hint="--lang") from error
