"""`spacy mindroot build`: from a treebank to a wheel."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer

from ..escapes import printable
from ..tables import text_table
from . import options
from .paths import Paths, PathsError, check_paths
from .printing import asked, done, found, say
from .running import command, warn

__all__ = ["build_cli"]

_SHOWN = ("Sentences", "Words", "UPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS")


@command(tables=True)
def build_cli(
    treebank: Path = typer.Argument(..., metavar="TREEBANK", exists=True),
    out: Path = typer.Argument(..., metavar="OUT", file_okay=False, callback=options.ending()),
    lang: str | None = options.language(None),
    name: str = typer.Option("", "--name", "-n", metavar="NAME"),
    package_version: str = typer.Option("0.1.0", "--version", "-v", metavar="VERSION"),
    description: str = typer.Option("", "--description", metavar="SENTENCE"),
    author: str = typer.Option("", "--author", metavar="NAME"),
    email: str = typer.Option("", "--email", metavar="ADDRESS"),
    url: str = typer.Option("", "--url", metavar="URL"),
    licence: str = typer.Option("", "--license", metavar="NAME"),
    optimize: options.Optimize = options.optimize(),
    tokenizer: options.Tokenizer = options.tokenizer(),
    loss: options.Loss = options.loss(),
    lexicons: list[Path] = options.lexicons(),
    config: Path | None = options.training_config(),
    minutes: float | None = options.minutes("all pipelines that are trained, those for calibration included"),
    steps: int | None = typer.Option(None, "--steps", "-s", metavar="N", min=1),
    seed: int = options.seed("the training"),
    seeds: int | None = typer.Option(None, "--seeds", metavar="N", min=1),
    distill: bool = typer.Option(False, "--distill"),
    raw_text: list[Path] = typer.Option([], "--raw-text", metavar="FILE", exists=True, dir_okay=False),
    related: list[Path] = typer.Option([], "--with", metavar="TREEBANK", exists=True),
    speed: bool = typer.Option(False, "--speed"),
    code: Path | None = options.code(),
) -> None:
    """Build an installable pipeline from a treebank: train, evaluate, and package it as a wheel.

    The pipeline finds sentences, tags, parts of speech and features, lemmas and trees, as far as TREEBANK has them. It
    is evaluated on the test set with gold tokens and from raw text, as `evaluate` does.

    OUT gets the config, the trained pipeline, what it made of the test set (CoNLL-U), pipeline.json with all figures,
    README.md (the model card) and dist/*.whl. Steps that are done are not repeated: run the same command again after
    an interruption. Other data, settings or versions begin again. Files that a build has not made, or that have been
    changed since, are never replaced.

    Needs the extra `build`.

    treebank: Folder of CoNLL-U files, with `train`, `dev` and `test` in their names, as in UD; or one file. Without
        such names, the sentences are divided: 80, 10 and 10 %.
    out: New folder for everything that is made, or that of an earlier build.
    lang: Language of the pipeline; xx for any (default: as in the names of UD's files, such as
        en_gum-ud-train.conllu; otherwise xx).
    name: Name of the package, without its language (default: the name of TREEBANK).
    package_version: Version of the package.
    description: One sentence (default: what it does).
    author: Author, for the package (default: none).
    email: Address, for the package (default: none).
    url: Where the data comes from (default: none).
    licence: Licence of the package (default: those of the treebank and of related ones, as in the README of a UD
        treebank, and of the lexicon).
    optimize: What to optimize for, as for init-config.
    tokenizer: Tokenizer, learnt from TREEBANK or spaCy's for the language.
    config: Config to train with, made by init-config and changed. It has the language, the size, the tokenizer and so
        on, whose options are refused beside it (default: that of init-config, with all components that TREEBANK has
        annotation for).
    steps: Training steps (default: as in the config).
    seeds: Pipelines to train, with the seeds SEED, SEED + 1 and so on. The result has the mean of their scores,
        which is better and takes N times as long: worth it for treebanks of some hundred sentences and less
        (default: 1; 3 with --distill).
    distill: Let these pipelines teach another one, which is the result. With --raw-text, it was as accurate as their
        mean or more; it is as fast and small as one. With --optimize efficiency, the teachers are accurate, and it is
        small (default: off).
    raw_text: Text in the language of the treebank, one text or paragraph per line, for the teachers to label; UTF-8,
        plain or compressed with gzip. Needs --distill. May be given several times (default: the training set,
        half of whose words are replaced by others of the same part of speech and features).
    related: Treebank of a related language, a folder or a file, whose training set is mixed in. For treebanks of
        some hundred sentences and less. May be given several times (default: none).
    speed: Measure the speed, for the model card. Without it, the same build gives the same wheel (default: off).
    """
    from ..tools.building.build import build
    from ..tools.building.card import Description
    from ..tools.building.config import files_of, read_config

    if raw_text and not distill:
        raise typer.BadParameter("needs --distill, which trains a pipeline on raw text.", param_hint="--raw-text")
    seeds = (3 if distill else 1) if seeds is None else seeds
    of_config = {"--lang": lang, "--loss": loss != "tree", "--lexicon": lexicons, "--minutes": minutes}
    of_config |= {"--optimize": optimize != "accuracy", "--tokenizer": tokenizer != "learnt"}
    for option, given in of_config.items():
        if config is not None and given:
            raise typer.BadParameter("set it in the file of --config.", param_hint=option)
    if minutes and steps:
        raise typer.BadParameter("leave out --steps, or this.", param_hint="--minutes")
    if printable(out) != str(out):  # spaCy writes it to its configs
        raise PathsError(f"OUT is {printable(out)}, which is not UTF-8. Choose another name for the folder.")
    reads: dict[str, Paths] = {"TREEBANK": treebank, "--with": related, "--raw-text": raw_text}
    reads |= {"--lexicon": lexicons, "--config": config, "--code": code}
    if config is not None:
        reads["a file of --config"] = files_of(read_config(config))
    check_paths(reads, {"OUT": out}, made="OUT")
    check_paths({"OUT": out}, {})
    try:
        figures = build(
            treebank,
            out,
            Description(name, package_version, description, author, email, url, licence),
            lang=lang or "",
            optimize=optimize,
            tokenizer=tokenizer,
            loss=loss,
            lexicons=lexicons,
            minutes=minutes,
            config=config,
            steps=steps,
            seeds=range(seed, seed + seeds),
            related=related,
            distill=distill,
            raw=raw_text,
            code=code,
            speed=speed,
            note=say,
            warn=warn,
            show=not asked.quiet,
        )
    except (KeyboardInterrupt, SystemExit):  # of a signal
        typer.echo("\nInterrupted. Run the same command again: finished steps are not repeated.", err=True)
        raise
    _print(figures, out)
    found(figures)


def _print(found: dict[str, Any], out: Path) -> None:
    names = [name for name in ("gold tokens", "raw text") if "official" in found.get(name, {})]
    if names:
        metrics = [name for name in _SHOWN if all(name in found[mode]["official"] for mode in names)]
        rows = [(name, *(f"{100 * found[mode]['official'][name]['f1']:.2f}" for mode in names)) for name in metrics]
        header = (f"{found['evaluated_on']} set, F1", *names)
        say(text_table(rows, header))
    wheel = out / "dist" / found["package"]["wheel"]
    done(f"{wheel} ({found['package']['megabytes']} MB). Install it with: pip install {shlex.quote(str(wheel))}")
    say(f"README.md in {out} is the model card, and pipeline.json has all figures.")
