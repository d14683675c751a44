"""`python -m benchmarks sets`."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import table

from .options import DATA

__all__ = ["sets"]


def sets(
    folder: Path = typer.Option(DATA / "scores", help="Folder of score files with gold heads"),
    seeds: int = typer.Option(2, help="How often the sentences are halved"),
    draws: int = typer.Option(40, help="How often a few sentences are drawn"),
) -> None:
    """Sets of heads and of trees: coverage and sizes on the other half of a file, and from few sentences.

    Then from sentences of another kind: shorter or longer, or from the other half of the file in its order; and with
    the best of several parsers, where the folder `seeds` has further ones of a treebank.
    """
    from ..sets import Scored, few, halves, kinds

    found = {path.stem: Scored(path) for path in sorted(folder.glob("*.npz"))}
    rows = []
    for name, scored in found.items():
        figures = [*halves(scored, seeds, 0.9)[:4], *halves(scored, seeds, 0.5)[1:]]
        rows.append((name, f"{scored.lengths.mean():.0f}", *(f"{value:.1f}" for value in figures)))
    header = ("on the other half", "tokens", "heads, 90 %", "trees, 90 %", "log10 size", "one tree %")
    header += ("trees, 50 %", "log10 size", "one tree %", "right %")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 9)))
    groups = {name: [scored] for name, scored in found.items()}
    for name, scored in found.items():
        others = [Scored(path) for path in sorted((folder / "seeds").glob(f"{name}.*.npz"))]
        if others:
            groups[f"{name}, best of {1 + len(others)}"] = [scored, *others]
    rows = []
    for sentences in (25, 50, 100):
        for name, parsers in groups.items():
            own = few(parsers, sentences, draws)
            if own is not None:
                rows.append(
                    (
                        *(sentences, name, f"{own.plain:.1f} +- {own.deviation:.1f}", f"{own.by_chance:.1f}"),
                        *(f"{own.plain_low:.0f}", f"{own.heads:.1f}", f"{own.heads_low:.0f}"),
                        f"{own.trees:.1f} +- {own.trees_deviation:.1f}",
                    )
                )
    header = ("sentences", "treebank", "plain quantile", "by chance", "< 88 %", "head sets", "< 88 %", "sets of trees")
    typer.echo(table(rows, header=header, divider=True, aligns=("r", "l", *"r" * 6)))
    rows = []
    for name, scored in found.items():
        for kind, split in kinds(scored):
            rows.append((name, kind, *(f"{100 * value:.1f}" for value in (split.plain, split.heads, split.trees))))
    header = ("treebank", "from which to which half", "plain quantile", "head sets", "sets of trees")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", "l", *"rrr")))
