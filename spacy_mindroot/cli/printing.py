"""Prints what a command says, under the options --quiet and --json that `running.command` gives it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

__all__ = ["as_asked", "asked", "done", "found", "say"]


@dataclass
class _Asked:
    """Options of the command that runs."""

    quiet: bool = False
    json: Path | None = None
    to_stderr: bool = False  # since an output takes standard output


asked = _Asked()


@contextmanager
def as_asked(quiet: bool, json: Path | None, outputs: list[object]) -> Iterator[None]:
    """Print as these options say while a command runs. With `quiet`, there are no progress bars."""
    asked.quiet, asked.json = quiet, json
    asked.to_stderr = "-" in map(str, [json, *outputs])
    hidden = quiet and sys.stderr is not None
    if hidden:
        sys.stderr.isatty = lambda: False  # type: ignore[method-assign]  # which tqdm asks
    try:
        yield
    finally:
        asked.__init__()  # type: ignore[misc]
        if hidden:
            del sys.stderr.isatty


def say(text: str, *, err: bool = False) -> None:
    """Print what the user may want to know: on standard error if `err`, or if an output takes standard output."""
    if not asked.quiet:
        typer.echo(text, err=err or asked.to_stderr)


def done(text: str) -> None:
    """Print what has been made."""
    if not asked.quiet:
        typer.secho(f"✔ {text}", fg="green", err=asked.to_stderr)


def found(figures: Mapping[str, Any]) -> None:
    """Write to --json, if it is given, what the tables show. Numbers that are not finite become null."""
    from .files import opened_to_write

    if asked.json is not None:
        plain = json.loads(json.dumps(figures, default=_plain), parse_constant=lambda name: None)
        with opened_to_write(asked.json) as file:
            file.write(f"{json.dumps(plain, indent=1, ensure_ascii=False)}\n".encode())


def _plain(value: Any) -> Any:
    """Return a number of NumPy's as Python's own, and anything else that JSON lacks as text."""
    return value.item() if hasattr(value, "item") else str(value)
