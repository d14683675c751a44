"""`python -m scripts.pipelines build | compare | table`: pipelines for UD treebanks, and the scoreboard."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import msg

from ..treebanks.prepare import REPOSITORIES, fetch
from . import scoreboard
from .contestants import AVERAGED, BUILT, CONTESTANTS, MEMBERS, RELATED
from .run import Comparison, build_all, compare_all
from .udpipe import UDPIPE

app = typer.Typer(help="Pipelines for UD treebanks, and the scoreboard.", no_args_is_help=True)

ROOT = Path(__file__).parents[2]
ONLY = typer.Option("", metavar="NAME,...", help="Treebanks, such as Kurmanji-MG,Marathi-UFAL (default: all in FOLDER)")
FOLDER = typer.Option(
    "", metavar="FOLDER", help="Local folder of treebanks, one folder each (default: fetch them with git)"
)
RUNS = typer.Option(
    ROOT / "benchmarks" / "results" / "pipelines.jsonl", metavar="FILE", help="File of runs, one per line"
)


@app.command()
def build(
    only: str = ONLY,
    folder: str = FOLDER,
    out: Path = typer.Option(
        ROOT / "pipelines", metavar="FOLDER", help="Folder for all results, one folder per treebank"
    ),
    optimize: str = typer.Option("accuracy", metavar="accuracy|efficiency", help="As for init-config"),
    steps: int = typer.Option(0, min=0, metavar="N", help="Training steps (default: as in the config)"),
    seed: int = typer.Option(0, min=0, metavar="N", help="Random seed"),
    repositories: str = typer.Option(
        REPOSITORIES, metavar="URL", help="URL or folder of the git repositories to fetch from"
    ),
) -> None:
    """Build a wheel for each treebank. Continues where it stopped; lists failures last."""
    sources, failed = _sources(only, folder, out / "sources", repositories)
    failed |= build_all(sources, out, optimize=optimize, steps=steps or None, seed=seed)
    for name, why in failed.items():
        msg.fail(name, why)
    if failed:
        raise typer.Exit(1)
    msg.good(f"Pipelines built: {len(sources)}. Wheels: {out}/*/dist/*.whl. All figures: {out}/*/pipeline.json.")


@app.command()
def compare(
    only: str = ONLY,
    folder: str = FOLDER,
    out: Path = typer.Option(
        ROOT / "pipelines", metavar="FOLDER", help="Folder for treebanks that are fetched, and for trained pipelines"
    ),
    minutes: float = typer.Option(4.0, min=0.0, metavar="N", help="CPU time to train each contestant"),
    seeds: int = typer.Option(1, min=1, metavar="N", help="Runs of each contestant"),
    contestants: str = typer.Option(
        ",".join(CONTESTANTS),
        metavar="NAME,...",
        help=f"Contestants that take part, in this order. `{AVERAGED}` is the mean of {MEMBERS} of ours, each trained "
        f"for its share of the time; `{RELATED}` is ours, --with related treebanks; `{BUILT}` is that of `spacy "
        f"mindroot build --minutes N`; `{UDPIPE}` is UDPipe 1, in its own time",
    ),
    related: str = typer.Option(
        "", "--with", metavar="NAME,...", help="Related treebanks, which the contestant `related` is trained with, too"
    ),
    runs: Path = RUNS,
    repositories: str = typer.Option(
        REPOSITORIES, metavar="URL", help="URL or folder of the git repositories to fetch from"
    ),
) -> None:
    """Train our pipeline and spaCy's on treebanks for the same CPU time. Runs that are in the file are not repeated."""
    taking_part = [name.strip() for name in contestants.split(",")]
    known = (*CONTESTANTS, AVERAGED, BUILT, RELATED, UDPIPE)
    if not set(taking_part) <= set(known):
        raise typer.BadParameter(f"must be among {', '.join(known)}", param_hint="--contestants")
    if bool(related.strip(", ")) != (RELATED in taking_part):
        raise typer.BadParameter(f"the contestant `{RELATED}` and --with need each other", param_hint="--with")
    mixed_in: tuple[Path, ...] = ()
    if related:
        found, missing = _sources(related, folder, out / "sources", repositories)
        if missing:
            raise typer.BadParameter("; ".join(f"{name} {why}" for name, why in missing.items()), param_hint="--with")
        mixed_in = tuple(found.values())
    sources, failed = _sources(only, folder, out / "sources", repositories)
    wanted = [
        Comparison(source, contestant, seed, 60 * minutes, mixed_in)
        for source in sources.values()
        for seed in range(seeds)
        for contestant in taking_part
    ]
    failed |= compare_all(wanted, runs, out / "models")
    for name, why in failed.items():
        msg.fail(name, why)
    if failed:
        raise typer.Exit(1)


@app.command()
def table(
    runs: Path = RUNS,
    page: Path = typer.Option(ROOT / "docs" / "scoreboard.md", metavar="FILE", help="Page to write"),
) -> None:
    """Make the page of the scoreboard, of all runs in the file and of published figures."""
    try:
        found = scoreboard.read_runs(runs)
    except (OSError, ValueError, KeyError) as error:
        raise typer.BadParameter(f"{runs} can't be read: {error}", param_hint="--runs") from error
    page.write_text(scoreboard.to_page(found), encoding="utf8")
    msg.good(f"Wrote {page}: {len(found)} runs")


def _sources(only: str, folder: str, sources: Path, repositories: str) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the folders of the treebanks, and the reasons why others are missing."""
    names = [name.strip() for name in only.split(",") if name.strip()]
    if not folder and not names:
        raise typer.BadParameter(
            "name the treebanks to fetch, or give a local folder of treebanks", param_hint="--only"
        )
    if folder and not Path(folder).is_dir():
        raise typer.BadParameter(f"there is no folder {folder}", param_hint="--folder")
    if folder and not names:
        names = sorted(path.name for path in Path(folder).iterdir() if any(path.glob("*train*.conllu")))
        if not names:
            raise typer.BadParameter(f"no folder in {folder} has a *train*.conllu", param_hint="--folder")
    found, failed = {}, {}
    for name in names:
        try:
            if folder:
                candidates = [Path(folder) / name, Path(folder) / f"UD_{name}"]
                found[name] = next(path for path in candidates if path.is_dir()).resolve()
            else:
                found[name] = fetch(f"UD_{name.removeprefix('UD_')}", sources, repositories).resolve()
        except StopIteration:
            failed[name] = f"is not in {folder}"
        except (OSError, RuntimeError) as error:
            failed[name] = str(error)
    return found, failed


if __name__ == "__main__":
    app()
