"""`python -m benchmarks gpu`."""

from __future__ import annotations

from pathlib import Path

import typer
from wasabi import table

from .options import DATA

__all__ = ["gpu"]


def gpu(
    steps: int = typer.Option(100, help="Training steps on each device"),
    batch: int = typer.Option(64, help="Sentences of a batch"),
    treebank: str = typer.Option("UD_Afrikaans-AfriBooms", help="UD treebank in the data folder"),
    config: Path | None = typer.Option(None, help="Config of the pipeline (default: that of `init-config`)"),
) -> None:
    """Layers, losses, training and speed on a GPU (CupyOps) against the CPU (NumpyOps).

    It needs cupy and a CUDA device, and exits with 1 if anything differs or there is no GPU.
    """
    from spacy import util
    from thinc.api import CupyOps, NumpyOps
    from thinc.compat import has_cupy_gpu

    from spacy_mindroot.tools.building.config import make_config

    from .. import gpu as device
    from ..pipelines import read

    if not has_cupy_gpu:
        typer.echo(
            "There is no GPU that cupy finds, so nothing was measured. Install cupy for your version of CUDA "
            "(https://docs.cupy.dev/en/stable/install.html) on a machine with a CUDA device."
        )
        raise typer.Exit(1)
    if config is None:
        settings = util.load_config_from_str(make_config("xx", "accuracy", ["senter"], None))
    else:
        settings = util.load_config(config)
    host, other = NumpyOps(), CupyOps()
    found = list(device.compare(host, other))
    rows = [(name, f"{error:.1e}", "" if error < device.TOLERANCE else "DIFFERS") for name, error in found]
    typer.echo(table(rows, header=("CupyOps against NumpyOps", "largest difference", ""), divider=True))
    gold = read(next((DATA / "ud" / treebank).glob("*-ud-train.conllu")))
    texts = [[token.text for token in doc] for doc in read(next((DATA / "ud" / treebank).glob("*-ud-test.conllu")))]
    rows = []
    for ops in (host, other):
        nlp, losses, training = device.train(settings, gold, ops, steps, batch)
        _, parsing, transfers = device.predict(nlp, texts, ops, batch)
        figures = (losses[0], losses[-1], training, parsing)
        rows.append((type(ops).__name__, *(f"{figure:,.0f}" for figure in figures), f"{transfers:.2f}"))
    header = ("", "first loss", f"loss {steps}", "words/s in training", "words/s parsing", "transfers per batch")
    typer.echo(table(rows, header=header, divider=True, aligns=("l", *"r" * 5)))
    if any(error >= device.TOLERANCE for _, error in found):
        raise typer.Exit(1)
