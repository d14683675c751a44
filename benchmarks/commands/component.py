"""`python -m benchmarks component`."""

from __future__ import annotations

import typer

__all__ = ["component"]


def component(
    length: int = typer.Option(25, help="Tokens of a Doc"),
    docs: int = typer.Option(2000, help="How many of them"),
    repeats: int = typer.Option(9, help="Runs of each, in turn"),
) -> None:
    """Time of `mind_root` on a short Doc: it reads scores, decodes, and writes heads, labels and sentence starts."""
    from ..component import time_component
    from ..decoding import pin_to_one_core

    pin_to_one_core()
    for name, seconds in time_component(length, docs, repeats).items():
        typer.echo(f"{name}: {seconds * 1e6:.1f} us")
