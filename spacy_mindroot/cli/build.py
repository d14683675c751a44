"""`spacy mindroot build`: from a treebank to a wheel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from wasabi import msg, table

from ..tools.building.build import build
from ..tools.building.card import Description
from .corpora import warn
from .files import PathsError, check_paths, errors_as_messages, printable
from .init_config import check_language
from .signals import raised_signals

__all__ = ["run"]

_SHOWN = ("Sentences", "Words", "UPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS")


def run(
    source: Path,
    out: Path,
    about: Description,
    lang: str,
    optimize: str,
    config: Path | None,
    steps: int | None,
    seed: int,
    related: Sequence[Path] = (),
    seeds: int = 1,
    code: Path | None = None,
) -> None:
    """Run the command and turn errors into messages. See `spacy mindroot build --help`."""
    if optimize not in ("efficiency", "accuracy"):
        raise typer.BadParameter("choose efficiency or accuracy.", param_hint="--optimize")
    if lang:
        check_language(lang)
    # Without the signals, a training would go on after the command that has started it has ended.
    with raised_signals(("SIGTERM", "SIGHUP"), lambda number: SystemExit(128 + number)), errors_as_messages():
        if printable(out) != str(out):  # spaCy writes it to its configs
            raise PathsError(f"OUT is {printable(out)}, which is not UTF-8. Choose another name for the folder.")
        check_paths({"TREEBANK": source, "--with": related, "--config": config}, {"OUT": out}, made="OUT")
        found = build(
            source,
            out,
            about,
            lang=lang,
            optimize=optimize,
            config=config,
            steps=steps,
            seeds=range(seed, seed + seeds),
            related=related,
            code=code,
            note=msg.text,
            warn=warn,
        )
        _print(found, out)


def _print(found: dict[str, Any], out: Path) -> None:
    names = [name for name in ("gold tokens", "raw text") if "official" in found.get(name, {})]
    if names:
        metrics = [name for name in _SHOWN if all(name in found[mode]["official"] for mode in names)]
        rows = [(name, *(f"{100 * found[mode]['official'][name]['f1']:.2f}" for mode in names)) for name in metrics]
        header = (f"{found['evaluated_on']} set, F1", *names)
        typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * len(names)), max_col=60))
    wheel = out / "dist" / found["package"]["wheel"]
    msg.good(f"{wheel} ({found['package']['megabytes']} MB). Install it with: pip install {wheel}")
    typer.echo(f"README.md in {out} is the model card, and pipeline.json has all figures.")
