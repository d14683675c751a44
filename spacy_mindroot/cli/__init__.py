"""The commands `spacy mindroot ...`, one per file: its arguments, options and help, and below them what it does.

Every spaCy command imports this module when it starts. A file is imported when its command is asked for. For the sake
of the help, which asks for all, it imports at its top only what is loaded anyway (typer, tqdm, srsly, and what
`import spacy_mindroot` needs), and the rest of the package when the command runs.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer
from spacy.cli._util import app
from typer.core import TyperGroup

__all__ = ["COMMANDS", "function_of", "mindroot"]


COMMANDS = (  # in the order of the help
    "decode", "audit", "score", "evaluate", "build", "init-config", "add", "average", "calibrate", "repair",
    "parse", "vote", "show", "rank", "suspect", "rules", "annotate", "serve",
)  # fmt: skip


def function_of(name: str) -> Callable[..., None]:
    """Return the function of a command. Its file is imported when it is looked up."""
    file = name.replace("-", "_")
    function: Callable[..., None] = getattr(import_module(f".{file}", __name__), f"{file}_cli")
    return function


class _Group(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        alone = typer.Typer(rich_markup_mode=None, add_completion=False)
        alone.command(cmd_name)(function_of(cmd_name))
        return typer.main.get_command(alone)


mindroot = typer.Typer(
    name="mindroot",
    cls=_Group,
    help="Dependency trees with exactly one root.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(mindroot)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from .running import errors_as_messages

        with errors_as_messages():
            typer.echo(f"spacy-mindroot {version('spacy-mindroot')}")
        raise typer.Exit


@mindroot.callback()
def main(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit", is_eager=True, callback=_print_version
    ),
) -> None:
    """Dependency trees with exactly one root."""
