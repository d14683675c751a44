"""`python -m scripts.treebanks run | table | figures`: the steps of `spacy project run treebanks`."""

from __future__ import annotations

import logging
from pathlib import Path

import typer
from spacy.util import logger
from wasabi import msg, table

from . import table as tables
from .paper import TABLE, read_paper
from .prepare import REPOSITORIES, Treebank, fetch, prepare
from .run import ROOT, Run, run_all

app = typer.Typer(help="The paper's experiment with parsers of our own.", no_args_is_help=True)
OUT = typer.Option(ROOT / "treebanks", metavar="FOLDER", help="Folder for all results, with one folder per treebank")


@app.command()
def run(
    only: str = typer.Option(
        "",
        metavar="NAME,...",
        help="Treebanks, such as Kurmanji-MG,Marathi-UFAL (default: all of the paper)",
    ),
    folder: str = typer.Option(
        "", metavar="FOLDER", help="Local folder of UD treebanks (UD_*) (default: fetch them with git)"
    ),
    repositories: str = typer.Option(
        REPOSITORIES, metavar="URL", help="URL or folder of the git repositories to fetch from"
    ),
    config: Path = typer.Option(
        ROOT / "configs" / "whole-doc-accurate.cfg", metavar="FILE", help="Config of the parser"
    ),
    seeds: int = typer.Option(1, min=1, metavar="N", help="Parsers per treebank"),
    small_seeds: int = typer.Option(
        3, min=1, metavar="N", help="Parsers per treebank with fewer than 200 training sentences"
    ),
    steps: int = typer.Option(2000, min=1, metavar="N", help="Training steps"),
    small_steps: int = typer.Option(
        1500, min=1, metavar="N", help="Training steps for treebanks without a development set"
    ),
    jobs: int = typer.Option(2, min=1, metavar="N", help="Parsers to train at the same time, one thread each"),
    out: Path = OUT,
) -> None:
    """Fetch and convert treebanks, then train and audit parsers. Continues where it stopped; lists failures last."""
    logger.setLevel(logging.INFO)  # the reader logs the oddities of a treebank
    names = [f"UD_{name.strip().removeprefix('UD_')}" for name in only.split(",") if name.strip()]
    unknown = [name for name in names if name not in read_paper()]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: not in the paper's table, {TABLE}", param_hint="--only")
    names = names or list(read_paper())
    failed: dict[str, str] = {}
    if folder:
        if not Path(folder).is_dir():
            raise typer.BadParameter(f"there is no folder {folder}", param_hint="--folder")
        absent = [name for name in names if not (Path(folder) / name).is_dir()]
        if only:
            failed |= {name: f"is not in {folder}" for name in absent}
        elif absent:
            msg.info(f"{len(absent)} of the paper's treebanks are not in {folder}: they are left out.")
        names = [name for name in names if name not in absent]
        if not names and not failed:
            raise typer.BadParameter(f"there is none of the paper's treebanks in {folder}", param_hint="--folder")
    ready: dict[str, Treebank] = {}
    for name in names:
        try:
            source = Path(folder) / name if folder else fetch(name, out / "sources", repositories)
            ready[name] = prepare(source.resolve(), (out / name / "corpus").resolve())
        except Exception as error:
            failed[name] = str(error)
    runs = [
        Run(
            name=name,
            treebank=treebank,
            seed=seed,
            steps=steps if treebank.dev else small_steps,
            config=config.resolve(),
            out=(out / name / f"seed-{seed}").resolve(),
        )
        for name, treebank in sorted(ready.items(), key=lambda item: -item[1].train)  # largest first
        for seed in range(1, 1 + (small_seeds if treebank.train < 200 else seeds))
    ]
    failed |= run_all(runs, jobs)
    for name, why in failed.items():
        msg.fail(name, why)
    if failed:
        raise typer.Exit(1)
    msg.good(f"{len(runs)} parsers for {len(ready)} treebanks are trained and audited.")


@app.command("table")
def table_command(out: Path = OUT) -> None:
    """Print the paper's table with our results next to the paper's, and write table.md."""
    found = _collect(out)
    typer.echo(table(tables.table_rows(found), header=tables.HEADER, divider=True, aligns=("l", *"r" * 10), max_col=60))
    typer.echo(
        table(tables.group_rows(found), header=tables.GROUP_HEADER, divider=True, aligns=("l", *"r" * 4), max_col=60)
    )
    typer.echo(tables.NOTE)
    (out / "table.md").write_text(tables.to_markdown(found), encoding="utf8")
    msg.good(f"Wrote {out / 'table.md'}")


@app.command()
def figures(out: Path = OUT) -> None:
    """Draw the paper's figures 2 and 3 with the paper's points and ours."""
    try:
        from .figures import draw
    except ImportError as error:
        raise typer.BadParameter(f"drawing needs matplotlib ({error}): pip install -e '.[plots]'") from error
    for path in draw(_collect(out), out):
        msg.good(f"Drew {path}")


def _collect(out: Path) -> list[tables.Found]:
    try:
        found = tables.collect(out)
    except RuntimeError as error:
        raise typer.BadParameter(str(error), param_hint="--out") from error
    if not found:
        raise typer.BadParameter(f"nothing has been audited in {out} yet", param_hint="--out")
    return found


if __name__ == "__main__":
    app()
