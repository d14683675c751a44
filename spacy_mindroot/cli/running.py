"""Runs every command: an error becomes a message, and a signal lets the command clean up before it ends."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import Parameter, getdoc, signature
from pathlib import Path
from types import FrameType
from typing import Any

import typer

from ..errors import MindRootError
from ..escapes import printable
from .printing import as_asked

__all__ = ["command", "errors_as_messages", "raised_signals", "warn", "written"]

_GRACE = 10.0  # seconds to clean up

_ITEM = re.compile(r"^(\w+): (.+(?:\n    .+)*)\n?", re.MULTILINE)

_written: list[str] = []  # by the command that runs: what is in its place


def command(*writes: str, tables: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for commands: `raised_signals`, `errors_as_messages`, and the options that all of them have.

    An item `parameter: text` at the end of a command's docstring is the help of that argument or option. All commands
    have --quiet. An argument `out` can also be given as --output.

    writes (str): Parameters that name what is written at the end or not at all. Where one is given, the message of an
        error says that nothing was written.
    tables (bool): Whether the command prints tables, and has --json, to which it writes with `printing.found`.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        from . import options  # which imports this file

        parameters = dict(signature(function).parameters)

        def describe(item: re.Match[str]) -> str:
            parameters[item[1]].default.help = " ".join(item[2].split()).removesuffix(".")
            return ""

        function.__doc__ = _ITEM.sub(describe, getdoc(function) or "").strip()
        added = options.common(parameters, tables=tables)
        parameters |= {
            name: Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in added.items()
        }

        @wraps(function)
        def run(**given: Any) -> None:
            quiet, json = given.pop("quiet", False), given.pop("json", None)
            if "output" in added:
                given["out"] = options.one_output(given.get("out"), given.pop("output", None), is_needed=is_needed)
            nothing_written = any(given[name] is not None for name in writes)
            places = [given[name] for name in ("out", "report") if name in given]
            with raised_signals(), as_asked(quiet, json, places), errors_as_messages(nothing_written=nothing_written):
                function(**given)

        is_needed = "output" in added and parameters["out"].default.default is ...
        if is_needed:
            parameters["out"].default.default = None
        run.__annotations__ = {**function.__annotations__, **{name: kind for name, (kind, _) in added.items()}}
        run.__signature__ = signature(function).replace(parameters=list(parameters.values()))  # type: ignore[attr-defined]
        return run

    return decorate


@contextmanager
def raised_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt at SIGINT, and SystemExit(128 + its number) at SIGTERM and SIGHUP.

    That holds for the first of them. The others are ignored from then on, while the command cleans up. If that has not
    come to an end after some seconds, because a file system hangs, say, the process ends all the same.

    Signals that have a handler of their own keep it, as do those of threads other than the main one.
    """
    before: dict[int, Any] = {}
    timers: list[threading.Timer] = []

    def stop(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        timers.append(threading.Timer(_GRACE, os._exit, [128 + number]))
        timers[0].daemon = True
        timers[0].start()
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def errors_as_messages(*, nothing_written: bool = False) -> Iterator[None]:
    """Turn the errors of this package and of the file system into a message on standard error and exit status 1.

    nothing_written (bool): The message also says that nothing was written, if that is true. The notes of
        `files.outputs` take its place.

    A reader that goes away (`... | head`) is left to typer, which ends the command silently.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # characters that a terminal lacks
    _written.clear()
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()  # here, an error still becomes a message
    except BrokenPipeError:
        raise
    except (MindRootError, OSError, MemoryError) as error:
        notes = getattr(error, "__notes__", [])
        if not notes and _written:
            what = f"{_written[0]} was" if len(_written) == 1 else f"{len(_written):,} files were"
            notes = [f"{what} written before that."]
        typer.secho(f"Error: {str(error) or 'not enough memory.'}", fg="red", err=True)
        for note in notes or (["Nothing was written."] if nothing_written else []):
            typer.echo(note, err=True)
        _abandon_stdout()
        raise typer.Exit(1) from error


def _abandon_stdout() -> None:
    """Empty the buffer of standard output. If it can't be written, discard it: Python would try again on exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def written(*places: str | Path) -> None:
    """Note what is in its place now, for the message of an error that comes later."""
    _written.extend(map(printable, places))


def warn(message: str) -> None:
    """Print a warning to standard error."""
    typer.secho(f"Warning: {message}", fg="yellow", err=True)
