"""`python -m benchmarks validator`."""

from __future__ import annotations

import typer
from wasabi import table

from .options import DATA

__all__ = ["validator"]


def validator(
    only: str = typer.Option("", help="Only treebanks whose name has one of these in it, by commas"),
) -> None:
    """Errors of the UD validator (`udvalidate`), level 3: of gold trees, single-rooted trees, and trees under rules."""
    from ..rules import CLASSES, validated

    for path in sorted((DATA / "scores").glob("*.npz")):
        if only and not any(part in path.stem for part in only.split(",")):
            continue
        rows = [(way, *(found[kind] for kind in CLASSES), found.total()) for way, found in validated(path, DATA / "ud")]
        header = (path.stem, *CLASSES, "all")
        typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 6), max_col=18))
