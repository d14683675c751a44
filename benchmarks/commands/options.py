"""Options and paths that several benchmarks share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["DATA", "ROOT", "Results", "Run", "Seconds", "Seeds", "Treebanks"]

ROOT = Path(__file__).parent.parent.parent
DATA = Path(os.environ.get("MINDROOT_DATA", ROOT / "../shared/data"))

Treebanks = Annotated[str, typer.Option(help="UD treebanks in the data folder, by commas")]
Seeds = Annotated[int, typer.Option(help="Runs of each parser on each treebank")]
Seconds = Annotated[float, typer.Option(help="CPU seconds of a run, evaluation on the development set included")]
Results = Annotated[
    Path, typer.Option(help="Where the runs are noted, one a line; those that are there are not run again")
]
Run = Annotated[bool, typer.Option(help="With --no-run, only the table is printed")]
